use tokio::sync::mpsc;

use super::*;
use crate::faults::Plan;

/// A sandbox whose sender takes three callbacks and sends none.
fn sandbox() -> (Sandbox, mpsc::Receiver<Announcement>) {
    let (announce, announcements) = mpsc::channel(3);
    let sandbox = Sandbox::new(Settings::default(), String::new(), announce).unwrap();
    (sandbox, announcements)
}

fn callback(number: usize) -> Announcement {
    Announcement::new(format!("inv_{number}"), Final::Completed, None)
}

fn dropped(sandbox: &Sandbox) -> usize {
    let is_dropped = |event: &Event| matches!(event, Event::CallbackDropped { .. });
    let entries = sandbox.act(|state, _| state.journal.after(0));
    let entries = entries.iter().filter(|entry| is_dropped(&entry.event));
    entries.count()
}

#[test]
fn callbacks_that_the_sender_has_no_room_for_are_dropped_and_written_down() {
    let (sandbox, mut announcements) = sandbox();
    sandbox.act(|state, _| state.outgoing.extend((0..5).map(callback)));
    assert_eq!(announcements.len(), 3);
    assert_eq!(dropped(&sandbox), 2);
    assert_eq!(announcements.try_recv().unwrap(), callback(0));
}

#[test]
fn no_more_callbacks_are_held_than_there_is_room_for() {
    let (sandbox, mut announcements) = sandbox();
    sandbox.act(|state, now| {
        let reordered: Plan = serde_json::from_value(serde_json::json!({
            "endpoint": "callback", "kind": "reordered", "times": MAX_HELD + 1,
        }))
        .unwrap();
        state.faults.plan(reordered).unwrap();
        for number in 0..MAX_HELD {
            state.send(callback(number), now);
        }
        assert_eq!((state.held.len(), state.outgoing.len()), (MAX_HELD, 0));
        state.send(callback(MAX_HELD), now);
        assert_eq!((state.held.len(), state.outgoing.len()), (0, 1));
    });
    let first = announcements.try_recv().unwrap();
    assert_eq!(first.invoice_id, format!("inv_{MAX_HELD}"));
    assert_eq!(first.followers.len(), MAX_HELD);
    assert_eq!(first.followers[0], callback(0));
}

#[test]
fn those_behind_a_dropped_callback_are_dropped_with_it() {
    let (sandbox, _announcements) = sandbox();
    sandbox.act(|state, now| {
        let followers = vec![callback(1), callback(2)];
        let first = Announcement {
            followers,
            ..callback(0)
        };
        state.drop_callback(first, now);
    });
    assert_eq!(dropped(&sandbox), 3);
}
