//! What the proxy's loops do in production: a step when something is due. Here it is the database that is asked when
//! that is, so that a quiet week passes in a moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proxy::Core;
use sqlx::Row as _;

use crate::process::Life;
use crate::timeline::Millis;

/// Steps of one kind under way at once.
const MOST_STEPS: i64 = 3;
/// The keeper's pause.
const TIDY_EVERY: Millis = 90_000;
/// Nothing is left alone for longer.
const LONGEST_SLEEP: Millis = 3_600_000;

/// When the next look is due, and the next telling.
const NEXT: &str = "SELECT
    (SELECT min(max(next_poll_at, lease_until)) FROM attempts WHERE next_poll_at IS NOT NULL),
    (SELECT min(next_at) FROM outbox AS mine WHERE state = 'pending'
        AND store_id NOT IN (SELECT store_id FROM gone_endpoints)
        AND position = (SELECT min(position) FROM outbox WHERE order_id = mine.order_id AND state = 'pending'))";

/// Steps until the process ends.
pub(crate) async fn run(life: Life, core: Core) {
    let world = life.world.clone();
    let [looks, tellings] = [Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0))];
    let (mut tidied_at, mut fruitless, mut before) = (Millis::MIN / 2, 0, None);
    loop {
        let pace = world.chance.between(300, 3000) << fruitless;
        life.sleep(pace).await;
        let now = world.timeline.now();
        if now - tidied_at >= TIDY_EVERY {
            tidied_at = now;
            core.clean_up().await;
        }
        let next = world.books.rows(NEXT);
        let is_watching = world.is_watching.load(Ordering::Relaxed);
        let next_look: Option<i64> = next[0].get(0);
        let next_look = next_look.filter(|_| is_watching);
        let next_telling: Option<i64> = next[0].get(1);
        let is_due = |at: Option<i64>| at.is_some_and(|at| at <= world.wall());
        if is_due(next_look) && looks.load(Ordering::Relaxed) < MOST_STEPS {
            let core = core.clone();
            step(&looks, async move { core.poll().await });
        }
        if is_due(next_telling) && tellings.load(Ordering::Relaxed) < MOST_STEPS {
            let core = core.clone();
            step(&tellings, async move { core.dispatch().await });
        }
        if is_due(next_look) || is_due(next_telling) {
            // What stays due whatever is done about it is tried ever more rarely.
            let is_fruitless = before == Some((next_look, next_telling));
            fruitless = if is_fruitless {
                (fruitless + 1).min(10)
            } else {
                0
            };
            before = Some((next_look, next_telling));
            continue;
        }
        fruitless = 0;
        let next = [next_look, next_telling].into_iter().flatten().min();
        let pause = next.map_or(LONGEST_SLEEP, |at| at - world.wall());
        tokio::select! {
            biased;
            () = world.stirred.notified() => {}
            () = life.sleep(pause.clamp(1, LONGEST_SLEEP)) => {}
        }
    }
}

fn step(under_way: &Arc<AtomicI64>, work: impl Future<Output = ()> + Send + 'static) {
    under_way.fetch_add(1, Ordering::Relaxed);
    let under_way = under_way.clone();
    tokio::spawn(async move {
        work.await;
        under_way.fetch_sub(1, Ordering::Relaxed);
    });
}
