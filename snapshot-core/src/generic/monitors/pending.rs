//! Removals without response, of stacks and priority queues: which value did each take, if any?
//!
//! 1. A value that nothing is known to have removed is certainly inside until the first removal
//!    without response begins, and afterwards it may be gone: as if an operation that began then
//!    had removed it and did not respond. A violation of that is one of the history.
//! 2. If no such removal took effect, the history is as it stands. A linearization of that is one
//!    of the history.
//! 3. Else a violation of (2) names a value that nothing removed, one at least, or it were one of (1).
//!    In a linearization of the history one of the values that it names is removed by a removal without
//!    response, or the violation were there, too; so all choices are tried. That takes
//!    exponential time only in the number of these removals, of which most recordings have few; with a
//!    bound on the trials.

use super::part::NEVER;
use super::values::{Life, Values};
use super::{Beyond, Found, NAMED};

/// The most trials, in values judged.
const FUEL: usize = 4_000_000;

/// Decides a collection by a judge of values that are not removed unless an operation is known to.
pub(super) fn judge<V>(
    values: &Values<'_, V>,
    lives: &[Life],
    judge: &dyn Fn(&[Life]) -> Found,
) -> Found {
    let Some(&first) = values.takers.first() else { return judge(lives) };
    let begun = values.part.invoked[first as usize];
    let gone: Vec<Life> = lives
        .iter()
        .map(|life| if life.removal == NEVER { life.taken(NEVER, begun) } else { *life })
        .collect();
    if let Found::Violation(proof) = judge(&gone) {
        return Found::Violation(proof);
    }
    let mut search = Search {
        values,
        lives: lives.to_vec(),
        is_used: vec![false; values.takers.len()],
        judge,
        fuel: FUEL,
    };
    match search.run() {
        Some(order) => Found::Order(order),
        None => Found::Beyond(Beyond::Unanswered(
            values.part.named(values.takers.iter().copied().take(NAMED)),
        )),
    }
}

struct Search<'a, 'p, V> {
    values: &'a Values<'p, V>,
    lives: Vec<Life>,
    /// Per removal without response, whether it takes a value.
    is_used: Vec<bool>,
    judge: &'a dyn Fn(&[Life]) -> Found,
    fuel: usize,
}

impl<V> Search<'_, '_, V> {
    fn run(&mut self) -> Option<Vec<u32>> {
        self.fuel = self.fuel.checked_sub(self.lives.len() + 1)?;
        let proof = match (self.judge)(&self.lives) {
            Found::Order(order) => return Some(order),
            Found::Violation(proof) => proof,
            Found::Beyond(_) => return None,
        };
        let named = proof.operations();
        let part = self.values.part;
        let staying: Vec<usize> = (0..self.lives.len())
            .filter(|life| {
                let life = &self.lives[*life];
                life.removal == NEVER && named.contains(&part.ids[life.addition as usize])
            })
            .collect();
        for life in staying {
            let before = self.lives[life];
            for taker in 0..self.is_used.len() {
                if self.is_used[taker] {
                    continue;
                }
                let removal = self.values.takers[taker];
                self.is_used[taker] = true;
                self.lives[life] = before.taken(removal, part.invoked[removal as usize]);
                let found = self.run();
                self.is_used[taker] = false;
                self.lives[life] = before;
                if found.is_some() || self.fuel == 0 {
                    return found;
                }
            }
        }
        None
    }
}
