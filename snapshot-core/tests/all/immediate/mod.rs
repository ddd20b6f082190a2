//! The check of immediate snapshots against the literal definition.
//!
//! [`oracle`] tries all sequences of blocks; the four conditions, the monitor and the
//! judges of certificates must agree with it on all small executions and on random
//! larger ones.
//!
//! `SNAPSHOT_EFFORT=night` extends the enumeration from seconds to minutes.

mod certificates;
mod enumeration;
mod exhaustive;
mod oracle;
mod profiles;
mod random;
mod twins;
