//! Bowman's algorithm for stateright: the algorithm by hand, the observer from `snapshot-core`.
//!
//! The question is whether the (0, 1)-simple executions of bowman with n processes, under the most
//! general client and without a bound on operations, are linearizable. The granularity is that of
//! `snapshot-verify check bowman --pairs 0,1 --reductions dead,constant` and of the model for Spin,
//! `peers/bowman.pml`, so all must count the same states and transitions.
//!
//! The state is kept as small and flat as the language allows, since stateright
//! clones and hashes it for every step. What stateright remembers of a visited state
//! is a hash of 64 bits: unlike the others, it may miss states, with a probability
//! that is small for these numbers of them.

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use stateright::{Checker, Model, Property};

/// What a model checker counted that explored everything and found no violation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    /// Different states.
    pub states: u64,
    /// Steps from a state to a state, whether it is new or not.
    pub transitions: u64,
}

/// What a process is about to do, with the variables that it will still read.
/// Segments but 0 and 1 are constant: they are neither written nor read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
enum Local {
    /// To invoke an operation.
    #[default]
    Idle,
    /// `active := none`, in update(value).
    Clear { value: bool },
    /// `a[me] := value`.
    Write { value: bool },
    /// To respond to update(value).
    Updated { value: bool },
    /// `active := me`, in a scan.
    Announce { must: Must },
    /// `copy[0] := a[0]`.
    CollectFirst { must: Must },
    /// `copy[1] := a[1]`.
    CollectSecond { must: Must, first: bool },
    /// `until active = me`.
    Test { must: Must, copy: [bool; 2] },
    /// To respond to the scan.
    Scanned { must: Must, copy: [bool; 2] },
}

/// A state of the product.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct State<const N: usize> {
    /// The process that `active` names; N for none.
    active: u8,
    a: [bool; 2],
    observer: ObserverState,
    /// A scan responded that no order explains.
    is_violated: bool,
    locals: [Local; N],
}

/// One step of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    InvokeUpdate(bool),
    InvokeScan,
    /// The next step of the open operation; there is only one.
    Next,
}

struct Bowman<const N: usize>;

impl<const N: usize> Bowman<N> {
    /// The segment that the process switches, if it is one of those.
    fn switching(process: usize) -> Option<Switching> {
        Switching::BOTH.get(process).copied()
    }

    fn next(state: &mut State<N>, process: usize) {
        let local = state.locals[process];
        state.locals[process] = match local {
            Local::Idle => unreachable!("an idle process invokes"),
            Local::Clear { value } => {
                state.active = N as u8;
                match Self::switching(process) {
                    Some(_) => Local::Write { value },
                    None => Local::Updated { value },
                }
            }
            Local::Write { value } => {
                state.a[process] = value;
                Local::Updated { value }
            }
            Local::Updated { value } => {
                if let (true, Some(segment)) = (value, Self::switching(process)) {
                    state.observer = state.observer.respond_update(segment);
                }
                Local::Idle
            }
            Local::Announce { must } => {
                state.active = process as u8;
                Local::CollectFirst { must }
            }
            Local::CollectFirst { must } => Local::CollectSecond { must, first: state.a[0] },
            Local::CollectSecond { must, first } => Local::Test { must, copy: [first, state.a[1]] },
            Local::Test { must, copy } if usize::from(state.active) == process => {
                Local::Scanned { must, copy }
            }
            Local::Test { must, .. } => Local::Announce { must },
            Local::Scanned { must, copy: [at_i, at_j] } => {
                match state.observer.respond_scan(must, at_i, at_j) {
                    Ok(observer) => state.observer = observer,
                    Err(_) => state.is_violated = true,
                }
                Local::Idle
            }
        };
    }
}

impl<const N: usize> Model for Bowman<N> {
    type State = State<N>;
    type Action = (u8, Step);

    fn init_states(&self) -> Vec<State<N>> {
        let observer = ObserverState::INITIAL;
        let locals = [Local::Idle; N];
        vec![State { active: N as u8, a: [false; 2], observer, is_violated: false, locals }]
    }

    fn actions(&self, state: &State<N>, actions: &mut Vec<(u8, Step)>) {
        for (process, local) in state.locals.iter().enumerate() {
            let mut add = |step| actions.push((process as u8, step));
            if *local != Local::Idle {
                add(Step::Next);
                continue;
            }
            add(Step::InvokeScan);
            match Self::switching(process) {
                Some(segment) if state.observer.invoked(segment) => add(Step::InvokeUpdate(true)),
                Some(_) => [false, true].map(Step::InvokeUpdate).into_iter().for_each(add),
                None => add(Step::InvokeUpdate(false)),
            }
        }
    }

    fn next_state(&self, state: &State<N>, (process, step): (u8, Step)) -> Option<State<N>> {
        let mut state = *state;
        let process = usize::from(process);
        match step {
            Step::InvokeUpdate(value) => {
                if let (true, Some(segment)) = (value, Self::switching(process)) {
                    state.observer = state.observer.invoke_update(segment);
                }
                state.locals[process] = Local::Clear { value };
            }
            Step::InvokeScan => {
                state.locals[process] = Local::Announce { must: state.observer.invoke_scan() };
            }
            Step::Next => Self::next(&mut state, process),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("linearizable", |_, state: &State<N>| !state.is_violated)]
    }
}

/// Explores bowman breadth-first; `None` if there is a violation.
///
/// # Panics
/// If n is not from 2 to 6.
pub fn explore(processes: usize) -> Option<Counts> {
    match processes {
        2 => run(Bowman::<2>),
        3 => run(Bowman::<3>),
        4 => run(Bowman::<4>),
        5 => run(Bowman::<5>),
        6 => run(Bowman::<6>),
        given => panic!("there is no model of {given} processes"),
    }
}

/// By one thread, so that what is compared is the search.
fn run<const N: usize>(model: Bowman<N>) -> Option<Counts> {
    let checker = model.checker().threads(1).spawn_bfs().join();
    if checker.discovery("linearizable").is_some() {
        return None;
    }
    // It counts how often it came to a state, which for the initial one is no transition.
    let transitions = checker.state_count() as u64 - 1;
    Some(Counts { states: checker.unique_state_count() as u64, transitions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_for_three_processes_are_as_known() {
        let counts = Counts { states: 76_075, transitions: 249_645 };
        assert_eq!(explore(3), Some(counts));
    }

    #[test]
    fn scan_that_ignores_a_disturbance_is_a_violation() {
        let mut state = Bowman::<3>.init_states()[0];
        let mut go = |process: u8, step| {
            state = Bowman::<3>.next_state(&state, (process, step)).unwrap();
        };
        go(2, Step::InvokeScan);
        (0..2).for_each(|_| go(2, Step::Next));
        // Update 0 begins and ends, then update 1: the scan missed the first.
        for process in [0, 1] {
            go(process, Step::InvokeUpdate(true));
            (0..3).for_each(|_| go(process, Step::Next));
        }
        go(2, Step::Next);
        state.active = 2; // as if it had not been disturbed
        let mut go = |process: u8, step| {
            state = Bowman::<3>.next_state(&state, (process, step)).unwrap();
        };
        (0..2).for_each(|_| go(2, Step::Next));
        assert!(state.is_violated, "{state:?}");
    }
}
