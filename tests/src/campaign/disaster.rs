//! The disasters that a campaign brings beside the kills.

/// A disaster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disaster {
    /// A write fails: no space on the disk.
    DiskFull,
    /// A write fails: an error of the disk.
    WriteError,
    /// A synchronisation fails: an error of the disk.
    SyncError,
    /// A read fails: an error of the disk.
    ReadError,
    /// Files may not grow.
    FilesLimited,
    /// The database is moved away and put back.
    FileMoved,
    /// A backup takes its place until it is put back.
    FileReplaced,
    /// Its first bytes are overwritten and repaired.
    FileSpoiled,
    /// This machine's clock is an hour ahead, then right.
    ClockAhead,
    /// This machine's clock is an hour behind, then right.
    ClockBehind,
    /// The gateway's clock is an hour ahead, then right.
    GatewayClockSetBack,
    /// The gateway asks for a pause of a century.
    ExcessiveRetryAfter,
    /// Another process wants the database, and is killed.
    SecondProcess,
    /// Another process wants the database, and gets it when the first is killed.
    OverlappingRestart,
    /// A backup takes the place of the database after a kill.
    Restore,
}

pub(super) const ALL: [Disaster; 15] = [
    Disaster::DiskFull,
    Disaster::WriteError,
    Disaster::SyncError,
    Disaster::ReadError,
    Disaster::FilesLimited,
    Disaster::FileMoved,
    Disaster::FileReplaced,
    Disaster::FileSpoiled,
    Disaster::ClockAhead,
    Disaster::ClockBehind,
    Disaster::GatewayClockSetBack,
    Disaster::ExcessiveRetryAfter,
    Disaster::SecondProcess,
    Disaster::OverlappingRestart,
    Disaster::Restore,
];

impl Disaster {
    /// The name of its counter.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::DiskFull => "kills at a full disk",
            Self::WriteError => "kills at an error of the disk",
            Self::SyncError => "kills at a failed synchronisation",
            Self::ReadError => "kills at a failed read",
            Self::FilesLimited => "kills at a limit on files",
            Self::FileMoved => "kills when the database was moved away",
            Self::FileReplaced => "kills when the database was replaced",
            Self::FileSpoiled => "kills when the database was spoiled",
            Self::ClockAhead => "kills when this machine's clock was ahead",
            Self::ClockBehind => "kills when this machine's clock was behind",
            Self::GatewayClockSetBack => "kills when the gateway's clock was set back",
            Self::ExcessiveRetryAfter => "kills at an excessive Retry-After",
            Self::SecondProcess => "kills beside a second process",
            Self::OverlappingRestart => "kills before an overlapping restart",
            Self::Restore => "kills after a backup was restored",
        }
    }

    /// Parts of the reason that readiness gives while nothing can be stored: what is wrong, and the remedy.
    pub(super) fn reason(self) -> Option<[&'static str; 2]> {
        match self {
            Self::DiskFull => Some(["full", "Make room on the disk"]),
            Self::WriteError | Self::SyncError | Self::ReadError | Self::FilesLimited => {
                Some(["disk I/O error", "Check the disk"])
            }
            Self::FileMoved => Some(["was deleted or moved", "Move the same file back"]),
            Self::FileReplaced => Some([
                "was replaced by another file",
                "Move the original file back",
            ]),
            Self::FileSpoiled => Some(["is damaged", "restore a backup"]),
            _ => None,
        }
    }
}

/// The names of all counters of disasters.
pub const DISASTERS: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut number = 0;
    while number < ALL.len() {
        names[number] = ALL[number].name();
        number += 1;
    }
    names
};
