//! The chains: GET /sandbox/chains, POST /sandbox/mine, /sandbox/auto-mine, /sandbox/reorg.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Extract;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::chain::Chain;
use crate::chains::ChainView;
use crate::state::Sandbox;

pub(super) async fn list(Extract(sandbox): Extract<Arc<Sandbox>>) -> Json<Vec<ChainView>> {
    Json(sandbox.act(|state, _| state.chains.views()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocks {
    #[serde(default = "one")]
    blocks: u32,
    /// `None` means every chain.
    chain: Option<Chain>,
}

fn one() -> u32 {
    1
}

/// Finds blocks.
pub(super) async fn mine(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let Blocks { blocks, chain } = read(&body)?;
    sandbox.act(|state, now| state.mine(chain, blocks, now));
    Ok(Json(json!({"blocks": blocks})))
}

/// Takes blocks back: what was in them waits again.
pub(super) async fn reorganize(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let Blocks { blocks, chain } = read(&body)?;
    sandbox.act(|state, now| state.reorganize(chain, blocks, now));
    Ok(Json(json!({"blocks": blocks})))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Every {
    /// 0 stops it.
    every_seconds: u32,
    chain: Option<Chain>,
}

/// Finds a block every so many seconds from now on.
pub(super) async fn mine_every(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Vec<ChainView>>, ControlError> {
    let Every {
        every_seconds,
        chain,
    } = read(&body)?;
    Ok(Json(sandbox.act(|state, now| {
        state.chains.mine_every(chain, Some(every_seconds), now);
        state.chains.views()
    })))
}
