//! A press of the customer that had no result: it is tried again until something else is done.

use leptos::prelude::*;

use super::Problem;
use super::checkout::{Checkout, Press, Print};
use crate::browser::later;

/// The pause before the first automatic try; one longer after each failure.
const AGAIN_MS: i32 = 2_000;
/// The longest pause, in such steps.
const MOST_STEPS: i32 = 5;

impl Checkout {
    /// Begins what the customer has pressed, and ends the report of any other press. Returns `false` while a request is
    /// under way.
    pub(super) fn begin_press(self, press: &Press) -> bool {
        if self.is_busy.get_untracked() {
            return false;
        }
        if self.failures_of(press) == 0 {
            self.forget_press();
        }
        true
    }

    /// Reports why a press had no result. A press that may succeed later stays with its report, which offers it again; a press
    /// that may have been carried out is tried again by itself.
    pub(super) fn report_press(self, press: Press, problem: Problem) {
        let failures = self.failures_of(&press) + 1;
        let is_undecided = problem.is_undecided();
        let unfinished = problem.is_temporary().then_some((press, failures));
        let is_reported = self
            .problem
            .with_untracked(|reported| reported.as_ref() == Some(&problem));
        if !is_reported {
            self.report(problem);
        }
        self.set_unfinished(unfinished.clone());
        if is_undecided {
            later(AGAIN_MS * failures.min(MOST_STEPS), move || {
                // The customer may have done something else since, or have left.
                if self.unfinished() == unfinished {
                    self.press_again();
                }
            });
        }
    }

    pub(crate) fn press_again(self) {
        match self.unfinished() {
            Some((Press::Send(request), _)) => self.send(request),
            Some((Press::Renew(crypto_code), _)) => self.renew(crypto_code),
            Some((Press::Donate(amount), _)) => self.donate(&amount),
            Some((Press::Print(Print(print)), _)) => print(self),
            None => {}
        }
    }

    /// Ends the report of an earlier press, which is not tried again.
    pub(crate) fn forget_press(self) {
        self.problem.set(None);
        self.set_unfinished(None);
    }

    /// Returns `true` if a press is without a result. Reads a signal.
    pub(crate) fn is_unfinished(self) -> bool {
        self.shared()
            .is_some_and(|shared| shared.unfinished.with(Option::is_some))
    }

    fn unfinished(self) -> Option<(Press, i32)> {
        self.shared()?.unfinished.get_untracked()
    }

    fn set_unfinished(self, unfinished: Option<(Press, i32)>) {
        if let Some(shared) = self.shared() {
            shared.unfinished.set(unfinished);
        }
    }

    fn failures_of(self, press: &Press) -> i32 {
        match self.unfinished() {
            Some((known, failures)) if known == *press => failures,
            _ => 0,
        }
    }
}
