//! The person who sees the pages: an operator on the admin listener, or a member of a store's staff on the public one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use florin_orders::StoreId;
use florin_storage::{Actor, StoreScope};

use crate::admin::error::OperatorError;
use crate::admin::pages::error::PageError;
use crate::auth::operator_session::is_same;
use crate::config::{Config, Role, Store};
use crate::state::AppState;

/// Where the pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the root of the admin listener, for operators.
    Operator,
    /// Below `/staff` of the public listener, for a store's staff.
    Staff,
}

impl Place {
    /// What each address of the pages begins with.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::Operator => "",
            Self::Staff => "/staff",
        }
    }
}

/// A signed-in person.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    /// Where the pages are.
    pub(crate) place: Place,
    /// The name of the only store; `None` for all stores.
    pub(crate) shop: Option<String>,
    /// Who it is, and whose orders the pages show.
    pub(crate) actor: Actor,
    /// What the person may do.
    pub(crate) role: Role,
    /// What each form must send back.
    pub(crate) csrf: String,
}

/// How a person is signed in. The router names it for each page.
pub(crate) trait SignedIn: FromRequestParts<Arc<AppState>> + Send {
    /// The person.
    fn viewer(self) -> Viewer;
}

impl Viewer {
    /// What each address of the pages begins with.
    pub(crate) fn base(&self) -> &'static str {
        self.place.base()
    }

    /// Whose orders the pages show.
    pub(crate) fn scope(&self) -> &StoreScope {
        &self.actor.scope
    }

    /// Returns `true` for the orders of all stores: each names its store.
    pub(crate) fn sees_all(&self) -> bool {
        *self.scope() == StoreScope::All
    }

    /// The stores that the person may see.
    pub(crate) fn stores<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c Store> {
        let scope = self.scope().clone();
        let stores = config.stores.iter();
        stores.filter(move |store| scope.contains(&store.id))
    }

    /// A store that the person may see.
    pub(crate) fn store<'c>(
        &self,
        config: &'c Config,
        id: &str,
    ) -> Result<&'c Store, OperatorError> {
        let id = StoreId::parse(id).map_err(|_| OperatorError::NotFound("store"))?;
        let found = self.stores(config).find(|store| store.id == id);
        found.ok_or(OperatorError::NotFound("store"))
    }

    /// Checks that a form was sent by a page of this session, and that the person may change something.
    pub(crate) fn check_form(&self, csrf: &str) -> Result<(), PageError> {
        if !is_same(&self.csrf, csrf) {
            return Err(PageError::Forged);
        }
        if self.role == Role::Read {
            let read_only = match self.place {
                Place::Operator => OperatorError::ReadOnly(self.actor.name.clone()),
                Place::Staff => OperatorError::ReadOnlyStaff,
            };
            return Err(read_only.into());
        }
        Ok(())
    }
}
