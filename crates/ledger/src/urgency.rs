//! Why an attempt is looked at, for when not every look can be made at once.

/// What a planned look is for, the least urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It is time again; nobody waits for it.
    Planned,
    /// Somebody watches the order.
    Watched,
    /// A callback hinted that there is something to see.
    Hinted,
}

impl Urgency {
    /// Every urgency with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Planned, "planned"),
        (Self::Watched, "watched"),
        (Self::Hinted, "hinted"),
    ];
}
