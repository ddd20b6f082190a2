//! The reductions, without a deadline.

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::Instance;
use snapshot_explorer::reduce;

pub fn constant(instance: &Instance) -> Instance {
    reduce::constant::constant(instance, Deadline::NEVER).unwrap()
}

pub fn dead(instance: &Instance) -> Instance {
    reduce::dead::dead(instance, Deadline::NEVER).unwrap()
}

pub fn shrink(instance: &Instance) -> Instance {
    reduce::shrink::shrink(instance, Deadline::NEVER).unwrap()
}
