//! The person who sees the pages: an operator on the admin listener, or a member of a store's staff on the public one.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use florin_orders::StoreId;
use florin_storage::{Actor, StoreScope};
use serde::Deserialize;

use crate::admin::error::{OperatorError, PageError};
use crate::auth::is_same;
use crate::config::{Config, Role, Store};
use crate::state::AppState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the root of the admin listener, for operators.
    Operator,
    /// Below `/staff` of the public listener, for a store's staff.
    Staff,
}

impl Place {
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::Operator => "",
            Self::Staff => "/staff",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    pub(crate) place: Place,
    /// The name of the only store; `None` for all stores.
    pub(crate) shop: Option<String>,
    pub(crate) actor: Actor,
    pub(crate) role: Role,
    /// What each form must send back.
    pub(crate) csrf: String,
}

/// A form that only shows where it comes from.
#[derive(Deserialize)]
pub(crate) struct CsrfForm {
    pub(crate) csrf: String,
}

pub(crate) trait SignedIn: FromRequestParts<Arc<AppState>> + Send {
    fn viewer(self) -> Viewer;
}

impl Viewer {
    pub(crate) fn base(&self) -> &'static str {
        self.place.base()
    }

    pub(crate) fn scope(&self) -> &StoreScope {
        &self.actor.scope
    }

    /// Returns `true` for the orders of all stores: each names its store.
    pub(crate) fn sees_all(&self) -> bool {
        *self.scope() == StoreScope::All
    }

    pub(crate) fn stores<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c Store> {
        let scope = self.scope().clone();
        let stores = config.stores.iter();
        stores.filter(move |store| scope.contains(&store.id))
    }

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
