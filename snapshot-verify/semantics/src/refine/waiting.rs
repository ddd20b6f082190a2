//! Decides whether an object itself keeps operations from returning: operations that wait (`await`)
//! for a state that cannot be reached.
//!
//! For example, two processes that both take from an empty queue wait for ever in every
//! implementation, which is not a fault of the implementation. It is a fault if the queue was not
//! empty in any configuration that agrees with the events.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use snapshot_core::Process;

use super::object::{Configuration, ObjectSpecification, Open};
use super::subsets::{Automaton, Possibilities};
use crate::interpret::{Call, Client};

impl ObjectSpecification<'_> {
    /// Returns true if, in one of the configurations of a set, the open operations of these
    /// processes (a bit each) return in no continuation with this client; `None` if not
    /// established. `left`: number of configurations that may be visited; it is reduced by those
    /// visited.
    ///
    /// # Panics
    /// If `set` does not belong to this specification.
    pub fn keeps_waiting(
        &self,
        set: Possibilities,
        client: &Client,
        processes: u64,
        left: &mut usize,
    ) -> Option<bool> {
        let mut is_open = false;
        for one in self.configurations(set) {
            match self.may_return(one, client, processes, left) {
                Some(false) => return Some(true),
                Some(true) => {}
                None => is_open = true,
            }
        }
        if is_open { None } else { Some(false) }
    }

    /// Returns true if, in one of the configurations of a set, the operations of all these
    /// processes (a bit each) wait: none has taken effect or can take effect there.
    ///
    /// # Panics
    /// If `set` does not belong to this specification.
    pub fn lets_wait(&self, set: Possibilities, processes: u64) -> bool {
        self.configurations(set).any(|one| {
            let mut reached = Vec::new();
            if self.automaton.take_effect(one, &mut |next| reached.push(next)).is_err() {
                return false;
            }
            let waits = |process: &usize| {
                let is_begun = |one: &Configuration| matches!(one.open[*process], Open::Begun(_));
                is_begun(one) && reached.iter().all(is_begun)
            };
            let processes: Vec<usize> =
                (0..one.open.len()).filter(|process| processes >> process & 1 == 1).collect();
            !processes.is_empty() && processes.iter().all(waits)
        })
    }

    /// Returns true if one of these processes returns in some continuation of a configuration.
    fn may_return(
        &self,
        first: &Configuration,
        client: &Client,
        processes: u64,
        left: &mut usize,
    ) -> Option<bool> {
        let mut known = FxHashSet::from_iter([first.clone()]);
        // Breadth-first: there may be infinitely many configurations.
        let mut work = VecDeque::from([first.clone()]);
        while let Some(one) = work.pop_front() {
            let is_it = |process: usize| processes & (1 << process) != 0;
            let mut open = one.open.iter().enumerate();
            if open.any(|(process, open)| is_it(process) && matches!(open, Open::Done(_))) {
                return Some(true);
            }
            *left = left.checked_sub(1)?;
            let mut reached = Vec::new();
            self.automaton.take_effect(&one, &mut |next| reached.push(next)).ok()?;
            for process in 0..one.open.len() {
                let opens = match one.open[process] {
                    Open::Begun(_) => Vec::new(),
                    Open::Done(_) => vec![Open::Nothing],
                    Open::Nothing => self.begun(&one, client, process)?,
                };
                for open in opens {
                    let mut next = one.clone();
                    next.open[process] = open;
                    reached.push(next);
                }
            }
            for next in reached {
                if known.insert(next.clone()) {
                    work.push_back(next);
                }
            }
        }
        Some(false)
    }

    /// Returns the operations that an idle process may begin in a configuration; `None` if the
    /// object is faulty there.
    fn begun(&self, one: &Configuration, client: &Client, process: usize) -> Option<Vec<Open>> {
        let sequential = self.sequential();
        let start = client.start(sequential.processes());
        let calls = client.calls_of_object(sequential, &start, Process::from_index(process));
        let mut begun = Vec::new();
        for call in calls {
            let Call::Operation(call) = call else { continue };
            if sequential.may_begin(&one.state, process, call).ok()? {
                begun.push(Open::Begun(call));
            }
        }
        Some(begun)
    }
}
