//! The monotonic clock, and the wall clock beside it.

use js_sys::Date;

use crate::browser::window;

/// The monotonic clock.
pub(crate) fn now_ms() -> u64 {
    milliseconds(window().performance().map_or(0.0, |clock| clock.now()))
}

/// How far the wall clock is ahead of the monotonic one.
pub(crate) fn drift_ms() -> u64 {
    milliseconds(Date::now()).saturating_sub(now_ms())
}

fn milliseconds(time: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes an integer by losing fractions of a millisecond; the cast saturates"
    )]
    let whole = time as u64;
    whole
}
