//! The meaning of instances, as simple as possible: breadth-first search over whole states in a
//! hash map. Faster searches are compared with it.

use std::collections::{HashMap, VecDeque};

use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_explorer::instance::{
    BlockId, Domain, End, Instance, Location, Owner, Response, Scalar, Target, Term,
};

/// A state of the product with the observer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    pub slots: Vec<Scalar>,
    pub at: Vec<Location>,
    pub observer: ObserverState,
    /// Per process, the requirements of its open scan.
    pub must: Vec<Must>,
    /// The number of operations that each process may still begin, if that is bounded.
    pub left: Option<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Move {
    Update(Scalar),
    Scan,
    Step,
}

#[derive(Clone, Debug, Default)]
pub struct Found {
    pub states: usize,
    /// The number of moves tried, including violations.
    pub transitions: usize,
    /// The number of moves to the first violation.
    pub violation: Option<usize>,
    /// The moves to the first violation, with the number of accesses of each.
    pub trace: Vec<(usize, Move, u32)>,
    /// The first fault.
    pub fault: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Deed {
    /// The number of accesses of the text.
    pub accesses: u32,
    /// The response, if there was one.
    pub returned: Option<Returned>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Returned {
    Update,
    Scan { at: [bool; 2], foreign: bool },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    Moved(Deed),
    Violation(Deed),
    Fault(&'static str),
}

/// Explores all states; violations have no successor.
pub fn explore(instance: &Instance, operations: Option<u32>) -> Found {
    search(instance, operations, false)
}

/// Explores until the first violation.
pub fn hunt(instance: &Instance, operations: Option<u32>) -> Found {
    search(instance, operations, true)
}

/// The predecessor of a state, with the move and its number of accesses.
type Reached = (usize, (usize, Move, u32));

fn search(instance: &Instance, operations: Option<u32>, stops: bool) -> Found {
    let mut found = Found::default();
    let start = State::first(instance, operations);
    let mut known: HashMap<State, usize> = HashMap::from([(start.clone(), 0)]);
    let mut parents: Vec<Option<Reached>> = vec![None];
    let mut open = VecDeque::from([(start, 0, 0)]);
    while let Some((state, number, depth)) = open.pop_front() {
        if stops && found.violation.is_some() {
            break;
        }
        for process in 0..instance.processes {
            for choice in state.moves(instance, process) {
                found.transitions += 1;
                let mut next = state.clone();
                match next.make(instance, process, choice) {
                    Ending::Moved(deed) => {
                        let fresh = known.len();
                        if !known.contains_key(&next) {
                            known.insert(next.clone(), fresh);
                            parents.push(Some((number, (process, choice, deed.accesses))));
                            open.push_back((next, fresh, depth + 1));
                        }
                    }
                    Ending::Violation(deed) if found.violation.is_none() => {
                        found.violation = Some(depth + 1);
                        let mut at = number;
                        found.trace.push((process, choice, deed.accesses));
                        while let Some((parent, step)) = parents[at] {
                            found.trace.push(step);
                            at = parent;
                        }
                        found.trace.reverse();
                    }
                    Ending::Violation(_) => {}
                    Ending::Fault(what) => {
                        found.fault.get_or_insert(what);
                    }
                }
            }
        }
    }
    found.states = known.len();
    found
}

fn switching(instance: &Instance, process: usize) -> Option<Switching> {
    let position = instance.pair.iter().position(|one| one.index() == process)?;
    Some(Switching::BOTH[position])
}

impl State {
    pub fn first(instance: &Instance, operations: Option<u32>) -> Self {
        Self {
            slots: instance.slots.iter().map(|slot| slot.initial).collect(),
            at: vec![Location::IDLE; instance.processes],
            observer: ObserverState::INITIAL,
            must: vec![Must::NOTHING; instance.processes],
            left: operations.map(|each| vec![each; instance.processes]),
        }
    }

    /// Returns the moves of a process.
    pub fn moves(&self, instance: &Instance, process: usize) -> Vec<Move> {
        if self.at[process] != Location::IDLE {
            return vec![Move::Step];
        }
        if self.left.as_ref().is_some_and(|left| left[process] == 0) {
            return Vec::new();
        }
        match switching(instance, process) {
            None => vec![Move::Update(0), Move::Scan],
            Some(segment) if self.observer.invoked(segment) => vec![Move::Update(1), Move::Scan],
            Some(_) => vec![Move::Update(0), Move::Update(1), Move::Scan],
        }
    }

    /// Makes a move. After a violation or a fault the state is meaningless.
    pub fn make(&mut self, instance: &Instance, process: usize, choice: Move) -> Ending {
        let graph = &instance.graphs[process];
        if choice != Move::Step
            && let Some(left) = &mut self.left
        {
            left[process] -= 1;
        }
        let begin = match choice {
            Move::Update(value) => {
                if let Some(segment) = switching(instance, process).filter(|_| value == 1) {
                    self.observer = self.observer.invoke_update(segment);
                }
                if let Some(slot) = graph.argument {
                    self.slots[slot.index()] = value;
                }
                graph.invocations.update
            }
            Move::Scan => {
                self.must[process] = self.observer.invoke_scan();
                graph.invocations.scan
            }
            Move::Step => graph.standing(self.at[process]).step.unwrap(),
        };
        let ending = self.run(instance, process, begin);
        if !matches!(ending, Ending::Moved(_)) {
            return ending;
        }
        while let Some((process, then)) = self.reaction(instance) {
            match self.run(instance, process, then) {
                Ending::Moved(_) => {}
                ending => return ending,
            }
        }
        ending
    }

    /// Returns a reaction that applies.
    fn reaction(&self, instance: &Instance) -> Option<(usize, BlockId)> {
        (0..instance.processes).find_map(|process| {
            let standing = instance.graphs[process].standing(self.at[process]);
            let reaction = standing.reactions.iter().find(|one| self.evaluate(&one.when) == 1)?;
            Some((process, reaction.then))
        })
    }

    fn run(&mut self, instance: &Instance, process: usize, mut block: BlockId) -> Ending {
        let graph = &instance.graphs[process];
        let mut deed = Deed::default();
        loop {
            let code = graph.block(block);
            deed.accesses += code.accesses;
            for assignment in &code.assignments {
                let slot = match &assignment.target {
                    Target::Slot(slot) => *slot,
                    Target::Element { index, of } => of[self.evaluate(index) as usize],
                };
                let value = match &assignment.value {
                    Term::Fresh => self.fresh(instance),
                    Term::Successor(counter) => self.slots[counter.index()] + 1,
                    value => self.evaluate(value),
                };
                let described = instance.slot(slot);
                assert!(described.domain.contains(value), "{} := {value}", described.name);
                self.slots[slot.index()] = value;
            }
            match &code.end {
                End::Jump(next) => block = *next,
                End::Branch { condition, then, otherwise } => {
                    block = if self.evaluate(condition) == 1 { *then } else { *otherwise };
                }
                End::Pause(location) => {
                    self.at[process] = *location;
                    return Ending::Moved(deed);
                }
                End::Fault { what, .. } => return Ending::Fault(what),
                End::Respond(response) => {
                    let (returned, right) = self.respond(instance, process, response);
                    deed.returned = Some(returned);
                    return if right { Ending::Moved(deed) } else { Ending::Violation(deed) };
                }
            }
        }
    }

    /// Passes the response to the observer. Returns it, and whether it can be linearized.
    fn respond(
        &mut self,
        instance: &Instance,
        process: usize,
        response: &Response,
    ) -> (Returned, bool) {
        let mut right = true;
        let returned = match response {
            Response::Update { value } => {
                let value = self.evaluate(value);
                if let Some(segment) = switching(instance, process).filter(|_| value == 1) {
                    self.observer = self.observer.respond_update(segment);
                }
                Returned::Update
            }
            Response::Scan { at, foreign } => {
                let must = std::mem::take(&mut self.must[process]);
                let at = [&at[0], &at[1]].map(|term| self.evaluate(term) == 1);
                let foreign = self.evaluate(foreign) == 1;
                match self.observer.respond_scan(must, at[0], at[1]) {
                    Ok(observer) if !foreign => self.observer = observer,
                    _ => right = false,
                }
                Returned::Scan { at, foreign }
            }
        };
        self.at[process] = Location::IDLE;
        for (position, slot) in instance.slots.iter().enumerate() {
            if slot.owner == Owner::Operation(Process::from_index(process)) {
                self.slots[position] = slot.initial;
            }
        }
        (returned, right)
    }

    fn fresh(&self, instance: &Instance) -> Scalar {
        let versions = instance.slots.iter().zip(&self.slots);
        let versions = versions.filter(|(slot, _)| matches!(slot.domain, Domain::Version { .. }));
        1 + versions.map(|(_, version)| *version).max().unwrap_or(0).max(0)
    }

    fn evaluate(&self, term: &Term) -> Scalar {
        match term {
            Term::Constant(scalar) | Term::Process(scalar) => *scalar,
            Term::Slot(slot) => self.slots[slot.index()],
            Term::Element { index, of } => self.evaluate(&of[self.evaluate(index) as usize]),
            Term::Apply(operator, arguments) => {
                let arguments: Vec<Scalar> =
                    arguments.iter().map(|argument| self.evaluate(argument)).collect();
                operator.apply(&arguments)
            }
            Term::Fresh | Term::Successor(_) => panic!("assigned as a whole only"),
        }
    }
}
