//! `roles`: what one process does. Several processes on one PostgreSQL may share the work.

use std::collections::BTreeSet;
use std::fmt;

use crate::config::problems::{Findings, Problem};

/// A part of the proxy's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessRole {
    /// The public listener, for browsers, stores and the gateway's callbacks.
    Http,
    /// Polls of the gateway: without one no payment is found.
    Poller,
    /// Deliveries to the stores.
    Dispatcher,
    /// Expired orders, and attempts without an invoice.
    Cleanup,
}

impl ProcessRole {
    const ALL: [Self; 4] = [Self::Http, Self::Poller, Self::Dispatcher, Self::Cleanup];

    /// `http`, `poller`, `dispatcher` or `cleanup`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Poller => "poller",
            Self::Dispatcher => "dispatcher",
            Self::Cleanup => "cleanup",
        }
    }
}

/// The roles of this process, one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles(BTreeSet<ProcessRole>);

impl Roles {
    /// Returns `true` if this process has a role.
    pub fn has(&self, role: ProcessRole) -> bool {
        self.0.contains(&role)
    }

    /// The words of the roles.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|role| role.word())
    }

    fn all() -> Self {
        Self(ProcessRole::ALL.into())
    }

    fn missing(&self) -> Vec<&'static str> {
        let all = ProcessRole::ALL.into_iter();
        let missing = all.filter(|role| !self.has(*role));
        missing.map(ProcessRole::word).collect()
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(", "))
    }
}

/// Checks the list. `is_shared` if several processes can use the database.
pub(crate) fn roles(
    findings: &mut Findings,
    warnings: &mut Vec<Problem>,
    list: Option<&[String]>,
    is_shared: bool,
) -> Roles {
    let Some(list) = list else {
        return Roles::all();
    };
    let mut roles = BTreeSet::new();
    for word in list {
        match ProcessRole::ALL
            .into_iter()
            .find(|role| role.word() == word)
        {
            Some(role) => {
                roles.insert(role);
            }
            None => findings.add(
                "roles",
                format!("{word:?} is no role: write some of http, poller, dispatcher, cleanup"),
            ),
        }
    }
    if list.is_empty() {
        findings.add(
            "roles",
            "is empty: write some of http, poller, dispatcher, cleanup, or leave it out for all of them",
        );
    }
    let roles = Roles(roles);
    let missing = roles.missing().join(", ");
    if missing.is_empty() || roles.0.is_empty() {
        return roles;
    }
    if is_shared {
        warnings.push(Problem {
            key: "roles".to_owned(),
            message: format!(
                "this process does not have {missing}: another one on the same database has to"
            ),
        });
    } else {
        findings.add(
            "roles",
            format!(
                "lacks {missing}: one process serves a file of SQLite, and no other one can do that work. Leave roles out"
            ),
        );
    }
    roles
}
