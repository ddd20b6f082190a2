//! Outcomes as text, and as JSON (`docs/verification.md`).

mod case;
mod coverability;
mod every;
mod exercised;
mod human;
mod json;
mod malformed;
pub mod page;
mod projection;
mod properties;
mod quantity;

pub use case::{Case, Tally, TextPosition, placed};
pub use coverability::{human_every_object, json_every_object};
pub use every::{human_every, human_every_exercised, json_every};
pub use exercised::human_exercised;
pub use human::{human, human_conclusion, human_trial, human_unneeded, is_unneeded};
pub use json::{json, json_summary};
pub use malformed::json_malformed;
pub use projection::{projected, projection};
pub use properties::{
    PropertyCase, human_progress, human_strong, json_progress, json_strong, strong_code,
    strong_words,
};
pub use quantity::{bound_on_operations, count, memory, seconds};
