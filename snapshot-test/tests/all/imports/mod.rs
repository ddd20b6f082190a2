//! Imports of foreign logs: random executions are imported as they happened.

mod edn;
mod hostile;
mod intervals;
mod log;
mod recording;
