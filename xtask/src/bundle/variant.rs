//! The three ways in which the widget is built.

use std::path::PathBuf;

use crate::workspace::Workspace;

/// How the widget is built, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// What is shipped, as small as it gets: in two modules, by compiler flags that are not stable. In `dist/`.
    Release,
    /// The same by stable flags alone. In `target/dist-stable`.
    Stable,
    /// What Trunk builds without a switch: one module, which prints its panics, and nothing made smaller. In
    /// `target/dist-demo`.
    Demo,
}

impl Variant {
    /// Where the bundle goes.
    pub(crate) fn dist(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Release => workspace.dist(),
            Self::Stable => workspace.target.join("dist-stable"),
            Self::Demo => workspace.target.join("dist-demo"),
        }
    }

    /// Whether it is compiled for size by flags that are not stable.
    pub(super) fn has_size_flags(self) -> bool {
        self == Self::Release
    }

    /// Whether its modules are split and made smaller.
    pub(crate) fn is_small(self) -> bool {
        self != Self::Demo
    }

    /// A part of the names of its files below `target`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Stable => "stable",
            Self::Demo => "demo",
        }
    }
}
