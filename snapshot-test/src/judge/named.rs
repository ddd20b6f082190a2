//! The names of processes and segments in a judgement, which its texts use.

use snapshot_core::Names;

use super::{Finding, Judgement};
use crate::input::OpenError;

impl Judgement {
    /// Returns the judgement with these names, also of its parts, proofs and errors.
    #[must_use]
    pub fn named(mut self, names: Names) -> Self {
        match &mut self.finding {
            Finding::Violation(violation) => {
                if let Some(proof) = &mut violation.proof {
                    proof.explanation.names = names.clone();
                }
                if let Some(error) = &mut violation.malformed {
                    error.name(&names);
                }
            }
            Finding::Objects(found) => {
                for part in std::mem::take(&mut found.parts) {
                    let judgement = part.judgement.named(names.clone());
                    found.parts.push(super::objects::Part { judgement, ..part });
                }
                found.malformed.iter_mut().for_each(|error| name(error, &names));
            }
            Finding::Malformed(error) => name(error, &names),
            Finding::Linearizable { .. }
            | Finding::Unknown { .. }
            | Finding::Unsearched { .. }
            | Finding::Immediate(_)
            | Finding::Recorded(_)
            | Finding::Disputed(_) => {}
        }
        Self { names, ..self }
    }
}

fn name(error: &mut OpenError, names: &Names) {
    if let OpenError::Input(error) = error {
        error.name(names);
    }
}
