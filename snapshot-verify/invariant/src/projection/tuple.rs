//! Tuples of processes, and how a view shows each of them.

use snapshot_semantics::interpret::OpenCall;

use super::execution::Execution;
use crate::byte::{I, J, OTHER, PLACES, T};
use crate::layout::{Layout, op};
use crate::step::Kind;

/// Processes of a view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tuple {
    /// i, j and t.
    pub members: [Option<usize>; PLACES],
    /// Member whose scans are followed.
    pub followed: u8,
}

impl Tuple {
    /// Returns the kind of its views: its members in ascending order.
    pub fn kind(&self) -> Kind {
        let mut members: Vec<u8> = [I, J, T].into_iter().collect();
        members.retain(|member| self.process(*member).is_some());
        members.sort_by_key(|member| self.process(*member));
        Kind { members, followed: self.followed }
    }

    /// Returns all members that are present.
    pub fn all(&self) -> Vec<usize> {
        self.members.iter().copied().flatten().collect()
    }

    pub fn process(&self, member: u8) -> Option<usize> {
        self.members[usize::from(member)]
    }

    /// Returns the place of a process.
    pub fn place(&self, process: usize) -> u8 {
        let place = self.members.iter().position(|member| *member == Some(process));
        place.map_or(OTHER, |place| place as u8)
    }
}

/// State of a member, as the view must show it.
#[derive(Debug)]
pub struct Standing<'a> {
    /// See [`op`].
    pub operation: u8,
    /// True if a ghost scan is open.
    pub ghost: bool,
    /// Shown calls.
    pub calls: Vec<OpenCall<'a>>,
    /// True if its operation is not shown.
    pub is_hidden: bool,
    /// True if it is in a followed ghost scan or scan.
    pub is_followed: bool,
}

impl Standing<'_> {
    /// Returns, per procedure, the number of its instruction plus 1.
    pub fn stands(&self, layout: &Layout<'_>) -> Vec<u8> {
        let mut stands = vec![0; layout.frames.len()];
        for (number, call) in self.calls.iter().enumerate() {
            let procedure = call.procedure.0 as usize;
            // The first of a group of merged calls stands for all.
            let alike = layout.alike_calls(procedure, call.at).first();
            let at = alike.filter(|_| number + 1 < self.calls.len()).copied();
            stands[procedure] = at.unwrap_or(call.at) as u8 + 1;
        }
        stands
    }
}

/// Returns the state of a member, which is this process.
pub fn standing<'a>(
    execution: &'a Execution<'a>,
    tuple: &Tuple,
    (member, process): (u8, usize),
) -> Standing<'a> {
    let doing = &execution.doing[process];
    let mut calls = execution.open_calls(process);
    let is_hidden = execution.is_hidden(process);
    let follows = member == tuple.followed;
    let is_ghost = |call: &OpenCall<'_>| execution.layout.is_ghost[call.procedure.0 as usize];
    let ghost = calls.iter().position(is_ghost).filter(|_| doing.ghost.is_some());
    let idle = |is_hidden| Standing {
        operation: op::IDLE,
        ghost: false,
        calls: Vec::new(),
        is_hidden,
        is_followed: false,
    };
    if doing.operation == op::IDLE || (doing.operation == op::SCANS && !follows) {
        return idle(is_hidden);
    }
    match ghost {
        None if is_hidden => idle(true),
        Some(_) if is_hidden && !follows => idle(true),
        Some(ghost) if is_hidden => {
            let calls = calls.split_off(ghost);
            let operation = op::GHOSTS + calls[0].procedure.0 as u8;
            Standing { operation, ghost: true, calls, is_hidden, is_followed: true }
        }
        Some(ghost) if !follows => {
            calls.truncate(ghost);
            let operation = doing.operation;
            Standing { operation, ghost: true, calls, is_hidden, is_followed: false }
        }
        ghost => {
            let (operation, is_followed) = (doing.operation, ghost.is_some());
            Standing { operation, ghost: is_followed, calls, is_hidden, is_followed }
        }
    }
}

/// Returns the choices of i and j among n processes; for tokens, only i counts.
pub fn pairs(n: usize, has_tokens: bool) -> Vec<[usize; 2]> {
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
    match has_tokens {
        true => (0..n).map(|i| [i, (i + 1) % n]).collect(),
        false => pairs.collect(),
    }
}

/// Returns all tuples of n processes for a pair.
pub fn tuples(n: usize, pair: [usize; 2], has_tokens: bool) -> Vec<Tuple> {
    let [i, j] = [Some(pair[0]), Some(pair[1]).filter(|_| !has_tokens)];
    let with = |t, followed| Tuple { members: [i, j, t], followed };
    let others = (0..n).map(Some).filter(|process| *process != i && *process != j);
    let mut tuples: Vec<Tuple> = others.map(|process| with(process, T)).collect();
    tuples.push(with(None, I));
    if !has_tokens {
        tuples.push(with(None, J));
    }
    tuples
}
