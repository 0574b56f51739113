//! Where it goes wrong.

use serde::{Deserialize, Serialize};

use crate::service::Endpoint;

/// Where it goes wrong: at every endpoint, at one, or when a callback is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Target {
    Word(Word),
    Endpoint(Endpoint),
}

/// Targets that are no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Any,
    Callback,
}

impl Target {
    pub(super) fn hits(self, endpoint: Option<Endpoint>) -> bool {
        match self {
            Self::Word(Word::Any) => true,
            Self::Word(Word::Callback) => false,
            Self::Endpoint(target) => endpoint == Some(target),
        }
    }
}
