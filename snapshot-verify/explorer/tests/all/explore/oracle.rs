//! An oracle for the meaning of instances, taken literally from the documentation of `instance`.
//! Terms are walked as trees, states are rows of numbers in a hash map, there is one thread, and
//! the observer runs letter by letter. The oracle is slow, and shares only the instance with the
//! explorer.

use std::collections::HashMap;

use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_explorer::instance::{
    Block, BlockId, Domain, End, Instance, Location, NONE, Operator, Owner, Response, Scalar, Slot,
    Target, Term,
};
use snapshot_explorer::search::Choice;

/// A state of the product.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    pub slots: Vec<Scalar>,
    pub locations: Vec<Location>,
    pub musts: Vec<Must>,
    pub observer: ObserverState,
    pub left: Vec<u32>,
    /// The next fresh version; not part of the state's meaning.
    pub fresh: Scalar,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ends {
    Well,
    Violation,
    Fault,
}

/// The effect of a move, beside the change of the state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Done {
    pub ends: Ends,
    pub accesses: u32,
    pub reactions: Vec<(Process, u32)>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Found {
    pub states: u64,
    pub transitions: u64,
    pub depth: u32,
    /// The least number of moves to a violation or fault.
    pub stops_after: Option<u32>,
}

/// The meaning of one instance.
pub struct Oracle<'a> {
    pub instance: &'a Instance,
    pub operations: Option<u32>,
    pub active: Vec<bool>,
}

fn ask(operator: Operator, of: &[Scalar]) -> Scalar {
    let bit = |holds: bool| Scalar::from(holds);
    match (operator, of) {
        (Operator::Not, [a]) => bit(*a == 0),
        (Operator::And, bits) => bit(bits.iter().all(|&b| b == 1)),
        (Operator::Or, bits) => bit(bits.contains(&1)),
        (Operator::Equal, [a, b]) => bit(a == b),
        (Operator::Less, [a, b]) => bit(a < b),
        (Operator::LessOrEqual, [a, b]) => bit(a <= b),
        (Operator::Add, [a, b]) => a + b,
        (Operator::Subtract, [a, b]) => a - b,
        (Operator::Remainder, [a, b]) => a.rem_euclid(*b),
        (Operator::Quotient, [a, b]) => a.div_euclid(*b),
        (Operator::If, [c, a, b]) => *if *c == 1 { a } else { b },
        _ => panic!("{operator:?} of {of:?}"),
    }
}

/// Meaningless content must be equal: no number of a version is permanent.
fn idle(slot: &Slot) -> Option<Scalar> {
    match slot.domain {
        _ if !matches!(slot.owner, Owner::Operation(_)) => None,
        Domain::Range { .. } => Some(slot.initial),
        _ => Some(NONE),
    }
}

impl Oracle<'_> {
    pub fn initial(&self) -> State {
        let n = self.instance.processes;
        State {
            slots: self
                .instance
                .slots
                .iter()
                .map(|slot| idle(slot).unwrap_or(slot.initial))
                .collect(),
            locations: vec![Location::IDLE; n],
            musts: vec![Must::NOTHING; n],
            observer: ObserverState::INITIAL,
            left: self
                .active
                .iter()
                .map(|&a| if a { self.operations.unwrap_or(0) } else { 0 })
                .collect(),
            fresh: 1_000,
        }
    }

    fn value(&self, term: &Term, state: &mut State) -> Scalar {
        match term {
            Term::Constant(scalar) | Term::Process(scalar) => *scalar,
            Term::Slot(slot) => state.slots[slot.index()],
            Term::Element { index, of } => {
                let index = self.value(index, state);
                self.value(&of[index as usize], state)
            }
            Term::Apply(operator, of) => {
                let of: Vec<Scalar> = of.iter().map(|term| self.value(term, state)).collect();
                ask(*operator, &of)
            }
            Term::Fresh => {
                state.fresh += 1;
                state.fresh
            }
            Term::Successor(slot) => state.slots[slot.index()] + 1,
        }
    }

    /// Runs blocks; returns the number of accesses on the way, and the end.
    fn blocks(&self, process: usize, mut block: BlockId, state: &mut State) -> (u32, End) {
        let mut accesses = 0;
        loop {
            let Block { accesses: more, assignments, end } =
                self.instance.graphs[process].block(block);
            accesses += more;
            for assignment in assignments {
                let slot = match &assignment.target {
                    Target::Slot(slot) => *slot,
                    Target::Element { index, of } => of[self.value(index, state) as usize],
                };
                state.slots[slot.index()] = self.value(&assignment.value, state);
            }
            block =
                match end {
                    End::Jump(next) => *next,
                    End::Branch { condition, then, otherwise } => {
                        if self.value(condition, state) == 1 { *then } else { *otherwise }
                    }
                    last => return (accesses, last.clone()),
                };
        }
    }

    fn switching(&self, process: usize) -> Option<Switching> {
        let index = self.instance.pair.iter().position(|p| p.index() == process)?;
        Some(Switching::BOTH[index])
    }

    fn end(&self, process: usize, end: &End, state: &mut State) -> Ends {
        let mut ends = Ends::Well;
        match end {
            End::Pause(at) => {
                state.locations[process] = *at;
                return Ends::Well;
            }
            End::Respond(Response::Update { value }) => {
                if let (1, Some(l)) = (self.value(value, state), self.switching(process)) {
                    state.observer = state.observer.respond_update(l);
                }
            }
            End::Respond(Response::Scan { at, foreign }) => {
                let [at_i, at_j] = at.each_ref().map(|term| self.value(term, state) == 1);
                let must = std::mem::take(&mut state.musts[process]);
                let foreign = self.value(foreign, state) == 1;
                match state.observer.respond_scan(must, at_i, at_j) {
                    Ok(observer) if !foreign => state.observer = observer,
                    _ => ends = Ends::Violation,
                }
            }
            End::Fault { .. } => return Ends::Fault,
            End::Jump(_) | End::Branch { .. } => unreachable!(),
        }
        state.locations[process] = Location::IDLE;
        for (slot, scalar) in self.instance.slots.iter().zip(&mut state.slots) {
            if slot.owner == Owner::Operation(Process::from_index(process)) {
                *scalar = idle(slot).unwrap();
            }
        }
        ends
    }

    pub fn choices(&self, process: usize, state: &State) -> Vec<Choice> {
        if state.locations[process] != Location::IDLE {
            return vec![Choice::Step];
        }
        if !self.active[process] || self.operations.is_some() && state.left[process] == 0 {
            return vec![];
        }
        match self.switching(process).map(|l| state.observer.invoked(l)) {
            None => vec![Choice::Update(0), Choice::Scan],
            Some(false) => vec![Choice::Update(0), Choice::Update(1), Choice::Scan],
            Some(true) => vec![Choice::Update(1), Choice::Scan],
        }
    }

    pub fn take(&self, process: usize, choice: Choice, state: &mut State) -> Done {
        let graph = &self.instance.graphs[process];
        if choice != Choice::Step && self.operations.is_some() {
            state.left[process] -= 1;
        }
        let block = match choice {
            Choice::Update(value) => {
                if let Some(argument) = graph.argument {
                    state.slots[argument.index()] = value;
                }
                if let (1, Some(l)) = (value, self.switching(process)) {
                    state.observer = state.observer.invoke_update(l);
                }
                graph.invocations.update
            }
            Choice::Scan => {
                state.musts[process] = state.observer.invoke_scan();
                graph.invocations.scan
            }
            Choice::Step => graph.locations[state.locations[process].index()].step.unwrap(),
            Choice::UpdateBehindBarrier(_) | Choice::ScanBehindBarrier => {
                unreachable!("barriers are not counted here")
            }
        };
        let (accesses, end) = self.blocks(process, block, state);
        let mut done =
            Done { ends: self.end(process, &end, state), accesses, reactions: Vec::new() };
        while done.ends != Ends::Fault {
            let Some((reacting, block)) = self.reaction(state) else { break };
            let (accesses, end) = self.blocks(reacting, block, state);
            assert_eq!(self.end(reacting, &end, state), Ends::Well, "reactions pause");
            done.reactions.push((Process::from_index(reacting), accesses));
        }
        done
    }

    /// Returns the first reaction that applies.
    fn reaction(&self, state: &mut State) -> Option<(usize, BlockId)> {
        for process in 0..self.instance.processes {
            let location = state.locations[process];
            for reaction in &self.instance.graphs[process].locations[location.index()].reactions {
                if self.value(&reaction.when, state) == 1 {
                    return Some((process, reaction.then));
                }
            }
        }
        None
    }

    /// Searches breadth-first, up to the first level with a violation or fault. States that
    /// `canonical` makes equal are identified.
    pub fn search(&self, canonical: &dyn Fn(&mut State)) -> Found {
        let key = |state: &State| {
            let mut key = state.clone();
            canonical(&mut key);
            key.fresh = 0;
            key
        };
        let mut seen = HashMap::from([(key(&self.initial()), ())]);
        let mut level = vec![self.initial()];
        let mut found = Found { states: 1, ..Found::default() };
        for depth in 0.. {
            found.depth = depth;
            let mut next = Vec::new();
            for state in &level {
                for process in 0..self.instance.processes {
                    for choice in self.choices(process, state) {
                        let mut after = state.clone();
                        found.transitions += 1;
                        if self.take(process, choice, &mut after).ends != Ends::Well {
                            found.stops_after = Some(depth + 1);
                        } else if seen.insert(key(&after), ()).is_none() {
                            next.push(after);
                        }
                    }
                }
            }
            found.states += next.len() as u64;
            if next.is_empty() || found.stops_after.is_some() {
                break;
            }
            level = next;
        }
        found
    }
}
