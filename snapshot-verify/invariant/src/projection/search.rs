//! All executions of a few processes, breadth-first, each state of which has its views.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use snapshot_semantics::interpret::{Call, Machine};

use super::cover::{Counts, Views};
use super::execution::{Ended, Execution};
use super::tuple::{Tuple, tuples};
use super::{Site, site};

/// Approximate memory of a state that waits, in bytes.
const WAITING: usize = 2_000;

/// Memory of all states of a search, in bytes.
const MEMORY: usize = 1 << 30;

/// A search of the executions of n processes.
pub struct Search<'s, 'a> {
    pub views: &'s Views<'a>,
    /// Sites of joins that no execution has shown yet.
    pub wanted: &'s mut FxHashSet<Site>,
    pub counts: Counts,
    /// Projected states.
    pub states: usize,
    /// True if an execution was not followed to its end.
    pub is_cut: bool,
}

/// Views of a state, per tuple.
type Covered<'a> = Vec<Vec<&'a [u8]>>;

impl<'a> Search<'_, 'a> {
    /// Projects up to so many states; returns true if these are all.
    ///
    /// # Errors
    /// A state without a view, described for a human reader.
    pub fn breadth_first(
        &mut self,
        machine: &Machine<'_>,
        pair: [usize; 2],
        most: usize,
    ) -> Result<bool, String> {
        let layout = self.views.layout;
        let tuples = tuples(machine.processes(), pair, layout.tokens());
        let initial = Execution::new(machine, layout, pair);
        let mut known: FxHashSet<Box<[u8]>> = FxHashSet::default();
        let mut bytes = 0;
        known.insert(initial.key().into());
        let mut waiting = VecDeque::from([initial]);
        let mut states = 0;
        while let Some(mut execution) = waiting.pop_front() {
            if states >= most || bytes > MEMORY || !layout.asks.go_on(WAITING) {
                return Ok(false);
            }
            states += 1;
            let covered = self.cover(&mut execution, &tuples)?;
            self.states += 1;
            for process in 0..machine.processes() {
                for call in calls(&execution, process) {
                    let Some(next) = self.moved(&execution, process, call, &tuples)? else {
                        continue;
                    };
                    self.joined(&tuples, process, &covered, &next)?;
                    let key = next.key();
                    let size = key.len() + 48;
                    if known.insert(key.into()) {
                        bytes += size;
                        waiting.push_back(next);
                    }
                }
            }
            bytes = bytes.max(waiting.len() * WAITING);
        }
        Ok(!self.is_cut)
    }

    /// Covers a state, and keeps those of its histories that have views.
    fn cover(
        &mut self,
        execution: &mut Execution<'_>,
        tuples: &[Tuple],
    ) -> Result<Covered<'a>, String> {
        let (counts, all) = self.views.cover(execution, tuples)?;
        self.counts.add(counts);
        let histories = all.iter().map(|covers| covers.history.clone()).collect();
        // Choices for other processes do not happen.
        if !execution.pair.iter().any(|process| execution.may_be_lost(*process)) {
            execution.histories = histories;
        }
        Ok(all.into_iter().next().map(|covers| covers.views).unwrap_or_default())
    }

    /// Makes a move; `None` if the execution ends with it.
    fn moved<'e>(
        &mut self,
        execution: &Execution<'e>,
        process: usize,
        call: Option<Call>,
        tuples: &[Tuple],
    ) -> Result<Option<Execution<'e>>, String> {
        let mut next = execution.clone();
        if next.approach(process) {
            self.cover(&mut next, tuples)?;
        }
        let ended = next.go(process, call);
        self.counts.violations += usize::from(ended == Ended::Violation);
        self.counts.faults += usize::from(ended == Ended::Fault);
        self.is_cut |= ended == Ended::Never;
        Ok((ended == Ended::Well).then_some(next))
    }

    /// Notes the site of a move that changes the views of another process.
    fn joined(
        &mut self,
        tuples: &[Tuple],
        process: usize,
        before: &Covered<'a>,
        next: &Execution<'_>,
    ) -> Result<(), String> {
        let Some(site) = site_of(self.views, tuples, process, before) else { return Ok(()) };
        if !self.wanted.contains(&site) {
            return Ok(());
        }
        let (_, all) = self.views.cover(next, tuples)?;
        let changes = all.iter().any(|covers| is_join(tuples, process, before, &covers.views));
        if changes {
            self.wanted.remove(&site);
        }
        Ok(())
    }
}

/// Returns the site of the next step of a process, by its own view.
pub fn site_of(
    views: &Views<'_>,
    tuples: &[Tuple],
    process: usize,
    covered: &[Vec<&[u8]>],
) -> Option<Site> {
    let follows = |tuple: &Tuple| tuple.process(tuple.followed) == Some(process);
    let number = tuples.iter().position(follows)?;
    let view = covered.get(number)?.first()?;
    Some(site(views.layout, &tuples[number].kind(), view))
}

/// Returns true if a move changes the view of a tuple that does not follow its process.
pub fn is_join(
    tuples: &[Tuple],
    process: usize,
    before: &[Vec<&[u8]>],
    after: &[Vec<&[u8]>],
) -> bool {
    let pairs = tuples.iter().zip(before.iter().zip(after));
    let mut others = pairs.filter(|(tuple, _)| tuple.process(tuple.followed) != Some(process));
    others.any(|(_, (before, after))| before.iter().all(|view| !after.contains(view)))
}

/// Returns the moves of a process: operations that it may begin, or its next step.
fn calls(execution: &Execution<'_>, process: usize) -> Vec<Option<Call>> {
    match execution.state.is_idle(process) {
        true => execution.calls(process).into_iter().map(Some).collect(),
        false => vec![None],
    }
}
