//! Which call goes first when not all can.

/// What a call is worth, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// A customer waits for it to go on: prices, POST /invoice, POST /checkout. A fifth of the budget is kept for these,
    /// and another one is kept from them: whoever opens orders, however many, stops no look.
    Create,
    /// A look at an invoice that a callback asked for. Anybody can send callbacks who has learnt their path, so these get
    /// at most half of the budget.
    Callback,
    /// About an order that somebody watches.
    Watched,
    /// About an order that nobody watches. A fifth of the budget is theirs whatever the watched ones need: who paid and
    /// closed the page is found too.
    Unwatched,
}
