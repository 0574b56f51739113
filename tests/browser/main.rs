//! Journeys in real browsers: one theme a file, one claim a test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod answers;
mod broken_page;
mod changed_answers;
mod choose;
mod codes;
mod diagnostics;
mod dialog;
mod displays;
mod doors;
mod early_choice;
mod ends;
mod everywhere;
mod failing;
mod follow;
mod gallery;
mod give;
mod hearing;
mod hosted;
mod hostile;
mod hosts;
mod isolation;
mod journeys;
mod labels;
mod languages;
mod late;
mod networks;
mod next_step;
mod package;
mod pay;
mod peers;
mod reach;
mod receipt;
mod sale;
mod sandbox;
mod shift;
mod shop_page;
mod states;
mod survival;
mod theme_builder;
mod themes;
mod trust;
mod trusted_types;
