//! The reductions, without a deadline.

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::Instance;
use snapshot_explorer::passes;

pub fn constant(instance: &Instance) -> Instance {
    passes::sccp::propagate_constants(instance, Deadline::NEVER).unwrap()
}

pub fn dead(instance: &Instance) -> Instance {
    passes::dead_variable_reset::reset_dead_variables(instance, Deadline::NEVER).unwrap()
}

pub fn decided(instance: &Instance) -> Instance {
    passes::predicate_specialisation::specialise(instance, Deadline::NEVER).unwrap()
}

pub fn merge(instance: &Instance) -> Instance {
    passes::bisimulation::minimise(instance, Deadline::NEVER).unwrap()
}

pub fn shrink(instance: &Instance) -> Instance {
    passes::lipton::fuse_steps(instance, Deadline::NEVER).unwrap()
}
