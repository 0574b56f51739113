//! Time that is moved, and what moves with it.

use serde_json::{Value, json};

use crate::callbacks::open;
use crate::world::World;

async fn bitcoin(world: &World) -> Value {
    world.merchant().prices().await["BTC"]["rates"]["amount_in_usd"].clone()
}

#[tokio::test]
async fn a_jump_lets_invoices_run_out_and_leaves_nonces_alone() {
    let world = World::start().await;
    let id = open(&world).await;
    let time = world.control("time", r#"{"jump_seconds":900}"#).await;
    assert_eq!(time["ahead_seconds"], 900);
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "FAILED"
    );
}

#[tokio::test]
async fn time_runs_faster_or_stands_still() {
    let world = World::start().await;
    world.control("time", r#"{"speed":60}"#).await;
    let id = open(&world).await;
    world.clock.advance(14);
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "CHECKING"
    );
    world.control("time", r#"{"speed":0}"#).await;
    world.clock.advance(100);
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "CHECKING"
    );
    world
        .control("time", r#"{"speed":1,"jump_seconds":60}"#)
        .await;
    assert_eq!(
        world.merchant().record(&id).await["transaction_status"],
        "FAILED"
    );
}

#[tokio::test]
async fn a_senseless_time_is_refused() {
    let world = World::start().await;
    for body in [
        r#"{"jump_seconds":-1}"#,
        r#"{"jump_seconds":99999999}"#,
        r#"{"speed":3601}"#,
    ] {
        assert_eq!(world.post("time", body).await.0, 400, "{body}");
    }
}

#[tokio::test]
async fn prices_walk_when_told_to_and_stop() {
    let world = World::start().await;
    let first = bitcoin(&world).await;
    world.clock.advance(60);
    assert_eq!(bitcoin(&world).await, first);
    let walk = world.control("walk", r#"{"every_seconds":5}"#).await;
    assert_eq!(walk, json!({"every_seconds": 5, "basis_points": 50}));
    world.clock.advance(5);
    let second = bitcoin(&world).await;
    assert_ne!(second, first);
    assert_eq!(
        world.control("walk", r#"{"every_seconds":0}"#).await,
        json!(null)
    );
    world.clock.advance(60);
    assert_eq!(bitcoin(&world).await, second);
    let (refused, _) = world
        .post("walk", r#"{"every_seconds":5,"basis_points":5001}"#)
        .await;
    assert_eq!(refused, 400);
}

#[tokio::test]
async fn limits_are_set_and_taken_away() {
    let world = World::start().await;
    let limits = async || world.merchant().prices().await["BTC"]["limits"].clone();
    world
        .control("prices", r#"{"crypto_code":"BTC","min":"0.5","max":""}"#)
        .await;
    assert_eq!(limits().await, json!({"min": "0.5", "max": ""}));
    let order = world.merchant().order("BTC", "0.0004", "25.00").await;
    let call = world.merchant().post("/invoice", &order);
    call.refused(400, "AMOUNT_OUT_OF_RANGE").await;
}
