//! Values as texts, and typed texts as values. No browser is needed: all of it is tested on any machine.

pub mod address;
pub mod amount;
pub mod links;
pub mod networks;
pub mod time;
pub mod typed_amount;
