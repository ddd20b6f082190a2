//! Bytes that are forgotten because the only condition that reads them is decided without them.
//!
//! `a or b` is true where a is, for any b: if nothing else reads b, it may be forgotten. Forgetting
//! is always sound, so this can only cost precision: if the deciding byte is written again before
//! the condition is computed.

use rustc_hash::FxHashMap;
use snapshot_language::deadline::Deadline;

use super::flow::{Bound, Flow, Rounds, loops_around};
use super::liveness::terms;
use super::model::{Act, Model};
use super::shape::{I, J, PLACES, T};
use super::term::Term;

/// A byte, and the only condition that reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Use {
    pub at: usize,
    /// Instruction that assigns the condition to a variable.
    pub instruction: usize,
    /// Positions of the loops around the instruction for which it reads this byte.
    pub bound: Vec<Bound>,
}

/// Returns the bytes that only one condition reads, per process.
pub fn uses(model: &Model, deadline: Deadline<'_>) -> [Vec<Use>; 3] {
    [I, J, T].map(|me| {
        // `None`: something else reads it.
        let mut found: FxHashMap<usize, Option<Use>> = FxHashMap::default();
        let rounds = &Rounds::none(deadline);
        for (instruction, one) in model.code.iter().enumerate() {
            let around = loops_around(model, instruction);
            each_binding(&around, &mut Vec::new(), &mut |bound| {
                if rounds.is_over() {
                    return;
                }
                let flow = Flow { model, me, bound: bound.to_vec(), rounds };
                for term in terms(&one.act) {
                    let is_condition = condition(&one.act).is_some_and(|of| std::ptr::eq(of, term));
                    for at in flow.sources(term).into_iter().flatten() {
                        let here =
                            is_condition.then(|| Use { at, instruction, bound: bound.to_vec() });
                        found.entry(at).and_modify(|known| *known = None).or_insert(here);
                    }
                }
            });
        }
        // The end of a round reads the variable of its loop, too.
        let is_loop = |at: usize| {
            let offset = at.checked_sub(model.blocks[usize::from(me)]);
            model.code.iter().any(|one| match &one.act {
                Act::Begin(this) => Some(this.variable) == offset,
                _ => false,
            })
        };
        let is_kept = |one: &Use| {
            !deadline.is_over()
                && model.slots[one.at].kept
                && !model.slots[one.at].other
                && !is_loop(one.at)
        };
        let mut uses: Vec<Use> = found.into_values().flatten().filter(is_kept).collect();
        uses.sort_by_key(|one| one.at);
        uses
    })
}

/// Returns the condition that an instruction assigns to a variable.
pub fn condition(act: &Act) -> Option<&Term> {
    match act {
        Act::Assign(target, term @ (Term::Connected(..) | Term::Equal { .. } | Term::Not(_)))
            if target.size == 1 =>
        {
            Some(term)
        }
        _ => None,
    }
}

/// Calls `act` on each assignment of positions to the variables of loops.
pub fn each_binding(variables: &[usize], bound: &mut Vec<Bound>, act: &mut dyn FnMut(&[Bound])) {
    let Some((first, rest)) = variables.split_first() else { return act(bound) };
    for place in 0..PLACES as u8 {
        bound.push((*first, place));
        each_binding(rest, bound, act);
        bound.pop();
    }
}
