//! Views up to flips of classes of bits: the one in which each lead is 0 is kept.

pub use snapshot_hints::flips::{Bit, Class};

use crate::model::Model;
use crate::shape::BASE;

/// Flips classes so that each lead is 0.
pub fn canonical(model: &Model, state: &mut [u8]) {
    for class in &model.flips {
        let lead = match class.anchor {
            Some(anchor) => Some(anchor).filter(|at| state[*at] >= BASE),
            None => {
                let all = || class.bits.iter().filter(|bit| bit.counts(state)).map(|bit| bit.at);
                let in_centre = all().find(|at| !model.is_outside(state, *at));
                in_centre.or_else(|| all().next())
            }
        };
        if lead.is_none_or(|at| state[at] == BASE) {
            continue;
        }
        for bit in &class.bits {
            if bit.counts(state) {
                state[bit.at] = flipped(state[bit.at]);
            }
        }
    }
}

/// Returns the other truth value.
pub const fn flipped(byte: u8) -> u8 {
    2 * BASE + 1 - byte
}
