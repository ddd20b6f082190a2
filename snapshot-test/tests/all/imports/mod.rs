//! Imports of foreign logs: random logs come back as what happened.

mod edn;
mod hostile;
mod intervals;
mod log;
mod recording;
