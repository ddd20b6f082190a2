//! Expands states of one level by several threads, ahead of the search.
//!
//! Threads share what is remembered, and add nothing to it. They leave a state that needs more to
//! the search, which takes all targets in the order of their states, expands these states itself,
//! and numbers new rows. Therefore:
//!
//! 1. The targets of a state that was expanded ahead are those that the search would find: what is
//!    remembered never changes, and numbers that it depends on were given before.
//! 2. Such a state would add nothing to what is remembered. So the search remembers the same results
//!    in the same order for each number of threads, and gives them the same numbers.
//! 3. A step that is put first needs to lead to no state that was expanded before. Those are in the
//!    table when threads begin.
//!
//! So the number of threads has no influence on a verdict, a count or a path.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::clients::World;
use super::expand::{Expander, Remembered, Rules, Targets, Transition};
use crate::product::{Batch, Lent, Table};

/// Most states that are expanded ahead. With more, more of them need what others add. Tests divide
/// few states, too.
pub const MOST: usize = if cfg!(test) { 7 } else { 1 << 12 };

/// Fewest states that are divided among threads.
pub const FEWEST: usize = if cfg!(test) { 1 } else { 1 << 9 };

/// States that a thread expands at once.
const PIECE: u32 = if cfg!(test) { 2 } else { 1 << 7 };

/// Targets of states that were expanded ahead.
#[derive(Default)]
pub struct Ahead {
    first: u32,
    pieces: Vec<Piece>,
}

/// Targets of consecutive states, already looked up.
struct Piece {
    number: u32,
    targets: Targets,
    /// States that the search has to expand, in order.
    unfinished: Vec<u32>,
    /// Numbers of targets and of unfinished states that the search has taken.
    taken: (usize, usize),
}

/// A search, as threads see it.
pub struct View<'a, 'm, 'p, W> {
    pub rules: Rules,
    pub remembered: &'a Remembered<'m, 'p, W>,
    pub table: &'a Table,
}

impl<W: World> View<'_, '_, '_, W> {
    /// Expands states by this many threads.
    pub fn expand(&self, states: Range<u32>, threads: usize) -> Ahead {
        let next = AtomicU32::new(0);
        let pieces = Mutex::new(Vec::new());
        let work = || {
            let mut at = Transition::new(self.remembered.width(), self.rules);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let first = states.start.saturating_add(number.saturating_mul(PIECE));
                if first >= states.end {
                    break;
                }
                let piece = self.piece(number, first..states.end.min(first + PIECE), &mut at);
                pieces.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without a further thread, the others do its work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut pieces = pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
        pieces.sort_unstable_by_key(|piece| piece.number);
        Ahead { first: states.start, pieces }
    }

    fn piece(&self, number: u32, states: Range<u32>, at: &mut Transition) -> Piece {
        let mut targets = Targets::new(self.remembered.width());
        let mut unfinished = Vec::new();
        for state in states {
            let before = targets.sources.len();
            let remembered = Lent::Shared(self.remembered);
            let mut expander = Expander { rules: self.rules, remembered, at };
            let expanded = expander.expand(state, self.table, &mut targets, &mut |_, _| Ok(()));
            if expanded.is_err() {
                targets.truncate(before);
                unfinished.push(state);
            }
        }
        self.table.look_up(&mut targets.rows);
        Piece { number, targets, unfinished, taken: (0, 0) }
    }
}

impl Ahead {
    /// Takes the targets of the next state: positions in a batch that was looked up. `None`: the
    /// state was not expanded.
    pub fn take(&mut self, state: u32) -> Option<(&Batch, Range<usize>)> {
        let piece = self.pieces.get_mut(((state - self.first) / PIECE) as usize)?;
        let Piece { targets, unfinished, taken, .. } = piece;
        if unfinished.get(taken.1) == Some(&state) {
            taken.1 += 1;
            return None;
        }
        let mine = targets.sources[taken.0..].iter().take_while(|source| **source == state).count();
        taken.0 += mine;
        Some((&targets.rows, taken.0 - mine..taken.0))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::interpret::{Client, Machine, Sequential, Values};
    use crate::language::parse;
    use crate::program::anonymity::is_anonymous;
    use crate::program::linearization::{Points, at_points, has_points};
    use crate::refine::search::Search;
    use crate::refine::{
        Budget, ObjectWorld, Progress, Refinement, RefinementVerdict, SnapshotWorld, Techniques,
        Unfinished,
    };

    /// Searches by some threads. Returns all that was asked, and the number of states that were
    /// expanded ahead, too.
    fn searched<W: World>(
        search: &mut Search<'_, '_, W>,
        threads: usize,
        (states, memory): (usize, usize),
    ) -> ((Refinement, Vec<Progress>), usize) {
        let threads = NonZeroUsize::new(threads).unwrap();
        let mut asked = Vec::new();
        let mut proceed = |progress: &Progress| {
            asked.push(*progress);
            true
        };
        let found = search.run(&mut Budget { states, memory, threads, proceed: &mut proceed });
        ((found, asked), search.ahead)
    }

    /// The corpus with its bugs, with all reductions, without, and at points, also where the limits
    /// on states or memory end the search: each number is that of one thread, and so is each move.
    #[test]
    fn threads_do_not_change_a_search() {
        let (mut all, mut ahead, mut asked, mut ends) = (0, 0, 0, [0; 4]);
        let texts = corpus::algorithms().iter().chain(corpus::object_algorithms());
        for (number, text) in texts.enumerate() {
            let parsed = parse(text.name, text.text).unwrap();
            let bugs = parsed.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
            for bug in [None].into_iter().chain(bugs) {
                let program = parsed.program(bug).unwrap();
                let points = number % 3 == 0 && has_points(&program);
                let means = if number % 2 == 0 { Techniques::ALL } else { Techniques::NONE };
                let means = Techniques { points, ..means };
                let machine = match points {
                    true => Machine::at_points(&program, 2).unwrap(),
                    false => Machine::new(&program, 2).unwrap(),
                };
                let client = Client::bounded(Values::Full(2), 1);
                let limits = [(3_000, usize::MAX), (100, usize::MAX), (3_000, 1 << 17)];
                for limits in limits {
                    let [one, two, three] = [1, 2, 3].map(|threads| match program.object() {
                        Some(object) => {
                            let object = Sequential::new(object, 2).unwrap();
                            let marks = if points { at_points(&program) } else { Box::default() };
                            let is_anonymous = is_anonymous(&program);
                            let world = ObjectWorld::new(client, object, marks, is_anonymous);
                            searched(&mut Search::new(&machine, world, means), threads, limits)
                        }
                        None => {
                            let points = if points { Points::new(&program) } else { Points::NONE };
                            let world = SnapshotWorld::new(client, 2, points);
                            searched(&mut Search::new(&machine, world, means), threads, limits)
                        }
                    });
                    assert_eq!(one.1, 0);
                    assert_eq!(one.0, two.0, "{} {bug:?}", text.name);
                    assert_eq!(one.0, three.0, "{} {bug:?}", text.name);
                    assert!(two.1 == three.1, "{}", text.name);
                    let (found, questions) = one.0;
                    all += found.states;
                    asked += questions.len();
                    ahead += two.1;
                    ends[match found.verdict {
                        RefinementVerdict::Verified => 0,
                        RefinementVerdict::Unknown(Unfinished::States) => {
                            assert_eq!(found.states, limits.0, "{}", text.name);
                            1
                        }
                        RefinementVerdict::Unknown(Unfinished::Memory) => 2,
                        _ => 3,
                    }] += 1;
                }
            }
        }
        assert!(ends.iter().all(|end| *end > 20), "{ends:?}");
        assert!(ahead > all / 4 && asked > 20, "{ahead} of {all}, {asked}");
    }
}
