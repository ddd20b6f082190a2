//! Plays a strategy: from the first state, every move of every process is made by the interpreter,
//! and at each response the strategy says which open operations to append. No search: the program
//! and the strategy determine everything.
//!
//! States are identified up to the names of versions and nodes, and, if values are all different,
//! up to their names. The player sees the same options in such states.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::claim::Claim;
use super::contents::{Answer, Contents};
use super::{Budget, Refusal};
use crate::interpret::{
    Call, Client, Machine, Move, MoveKind, Names, Occurrence, Part, Sequential, State, value_found,
};

/// Processes whose operations are appended, in blocks.
pub type Order = Vec<Vec<usize>>;

/// A strategy, asked in the order of play.
pub trait Strategy {
    /// Returns the operations to append at a response whose operation is not in the order yet: at
    /// this position, by the number of its move; `None`: the strategy is at its end.
    fn order(&mut self, position: usize, made: usize) -> Option<Order>;

    /// Notes that a move from a position, by number, leads to a position.
    fn moved(&mut self, position: usize, made: usize, to: usize);
}

/// Number of positions and answers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Played {
    pub positions: usize,
    /// Responses at which the strategy was asked.
    pub answers: usize,
    pub moves: u64,
}

/// Open operation of a process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Open {
    Nothing,
    Begun(Call),
    Done(Answer),
}

#[derive(Clone, Debug)]
struct Position {
    state: State,
    begun: Vec<u32>,
    contents: Contents,
    open: Vec<Open>,
}

type Key = (Vec<u8>, Vec<u32>, Contents, Vec<Open>);

/// Plays a strategy for all executions of a claim.
///
/// # Errors
/// If the strategy does not answer a response, or the budget runs out.
pub fn play(
    machine: &Machine<'_>,
    object: Option<&Sequential<'_>>,
    claim: &Claim,
    strategy: &mut dyn Strategy,
    budget: &mut Budget<'_>,
) -> Result<Played, Refusal> {
    let n = machine.processes();
    let first = Position {
        state: machine.initial().clone(),
        begun: vec![0; n],
        contents: Contents::initial(object, n),
        open: vec![Open::Nothing; n],
    };
    let client = claim.client();
    let mut playing = Playing {
        machine,
        object,
        claim,
        client,
        numbers: FxHashMap::default(),
        all: Vec::new(),
        played: Played::default(),
        bytes: 0,
    };
    playing.reach(first);
    let mut next = 0;
    while next < playing.all.len() {
        budget.spend(playing.bytes)?;
        playing.expand(next, strategy)?;
        next += 1;
    }
    Ok(Played { positions: playing.all.len(), ..playing.played })
}

struct Playing<'a, 'm, 'p> {
    machine: &'a Machine<'m>,
    object: Option<&'a Sequential<'p>>,
    claim: &'a Claim,
    client: Client,
    numbers: FxHashMap<Key, usize>,
    all: Vec<Position>,
    played: Played,
    bytes: usize,
}

impl Playing<'_, '_, '_> {
    fn expand(&mut self, number: usize, strategy: &mut dyn Strategy) -> Result<(), Refusal> {
        let position = self.all[number].clone();
        let mut count = 0;
        for process in (0..self.machine.processes()).map(Process::from_index) {
            for made in self.moves(&position, process) {
                let to = self.follow(&position, made, &mut || strategy.order(number, count))?;
                strategy.moved(number, count, to);
                count += 1;
                self.played.moves += 1;
            }
        }
        Ok(())
    }

    /// Returns the moves that a process can make.
    fn moves(&self, position: &Position, process: Process) -> Vec<Move> {
        let index = process.index();
        if !position.state.is_idle(index) {
            let outcomes = self.machine.outcomes(&position.state, process);
            return (0..outcomes).map(|outcome| Move::taking(process, outcome)).collect();
        }
        if self.claim.bound(index).is_some_and(|bound| position.begun[index] >= bound) {
            return Vec::new();
        }
        let (n, client) = (self.machine.processes(), &self.client);
        let start = client.start(n);
        let calls = match self.object {
            None => client.calls(&start, process, n),
            Some(object) => client.calls_of_object(object, &start, process),
        };
        let fresh = if self.claim.values.is_none() { self.fresh(position) } else { 0 };
        let begin = |call| Move { process, kind: MoveKind::Begin(self.with_fresh(call, fresh)) };
        calls.into_iter().map(begin).collect()
    }

    /// Replaces the values of a call by new ones, if values are all different.
    fn with_fresh(&self, call: Call, fresh: u32) -> Call {
        match (call, self.object) {
            _ if fresh == 0 => call,
            (Call::Update(_), _) => Call::Update(fresh),
            (Call::Operation(call), Some(object)) => {
                let mut next = fresh..;
                let replace = &mut |_| next.next().expect("there are more numbers than arguments");
                Call::Operation(object.with_values(call, replace))
            }
            (call, _) => call,
        }
    }

    /// Returns the position after a move.
    fn follow(
        &mut self,
        before: &Position,
        made: Move,
        choose: &mut dyn FnMut() -> Option<Order>,
    ) -> Result<usize, Refusal> {
        let mut after = before.clone();
        let report = self.machine.make(&mut after.state, made);
        let report = report.map_err(|error| Refusal::Move(error.to_string()))?;
        let process = made.process.index();
        if let MoveKind::Begin(call) = made.kind {
            if self.claim.bound(process).is_some() {
                after.begun[process] += 1;
            }
            after.open[process] = Open::Begun(call);
        }
        let answer = report.event.and_then(|event| Answer::new(&event.action));
        if let Some(answer) = answer {
            if matches!(after.open[process], Open::Begun(_)) {
                self.played.answers += 1;
                let order = choose().ok_or(Refusal::End)?;
                self.append(&mut after, &order, process)?;
            }
            if after.open[process] != Open::Done(answer) {
                return Err(Refusal::Answer);
            }
            after.open[process] = Open::Nothing;
        }
        Ok(self.reach(after))
    }

    /// Appends operations to the order; the last block has that of `last`.
    fn append(&self, position: &mut Position, order: &Order, last: usize) -> Result<(), Refusal> {
        if !order.last().is_some_and(|block| block.contains(&last)) {
            return Err(Refusal::Answer);
        }
        for block in order {
            let mut members = Vec::new();
            for &process in block {
                match position.open.get(process) {
                    Some(Open::Begun(call)) => members.push((process, *call)),
                    _ => return Err(Refusal::Answer),
                }
            }
            let effects = position.contents.effects(self.object, &members);
            let effects = effects.map_err(|fault| Refusal::Object(fault.to_string()))?;
            let whole = |effect: &super::contents::Effect| effect.0.len() == members.len();
            let effect = effects.into_iter().find(whole).ok_or(Refusal::Answer)?;
            position.contents = effect.1;
            for ((process, _), answer) in members.iter().zip(effect.2) {
                position.open[*process] = Open::Done(answer);
            }
        }
        Ok(())
    }

    /// Returns the number of a position.
    fn reach(&mut self, position: Position) -> usize {
        let position = if self.claim.values.is_none() { self.named(&position) } else { position };
        let key = (
            self.machine.key(&position.state),
            position.begun.clone(),
            position.contents.clone(),
            position.open.clone(),
        );
        let next = self.all.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            // The position, and its key: text of the state, and copies of the rest.
            self.bytes += 2 * (256 + 64 * self.machine.processes());
            self.all.push(position);
        }
        number
    }

    /// Renames the values of a position in the order of their occurrence.
    fn named(&self, position: &Position) -> Position {
        let n = self.machine.processes();
        let names = &mut Names::default();
        let state = &position.state;
        // Versions have names in the same order, which the key repeats.
        let shared = state.shared_part();
        shared.names(true).into_iter().for_each(|name| _ = names.rename(name));
        let shared = shared.renamed(true, &mut |name| names.rename(name));
        let mut parts = Vec::new();
        for process in 0..n {
            let part = state.process_part(process);
            parts.push(part.renamed(true, &mut |name| names.rename(name)));
        }
        let versions = names.versions();
        let contents = position.contents.renamed(names);
        let open = position.open.iter().map(|open| match open {
            Open::Nothing => Open::Nothing,
            Open::Begun(call) => Open::Begun(self.call_named(*call, names)),
            Open::Done(answer) => Open::Done(answer.renamed(names)),
        });
        let open = open.collect();
        let state = State::of_parts(shared, parts, versions + 1);
        Position { state, begun: position.begun.clone(), contents, open }
    }

    fn call_named(&self, call: Call, names: &mut Names) -> Call {
        match (call, self.object) {
            (Call::Update(value), _) => Call::Update(names.rename_value(value)),
            (Call::Operation(call), Some(object)) => {
                Call::Operation(object.with_values(call, &mut |value| names.rename_value(value)))
            }
            (call, _) => call,
        }
    }

    /// Returns a value that does not occur in a position.
    fn fresh(&self, position: &Position) -> u32 {
        let mut found = position.state.shared_part().names(true);
        for process in 0..self.machine.processes() {
            found.extend(position.state.process_part(process).names(true));
        }
        let mut answers = Vec::new();
        match &position.contents {
            Contents::Segments(segments) => answers.extend(segments),
            Contents::Object(state) => state.iter().for_each(|data| data.names(true, &mut found)),
        }
        for open in &position.open {
            match open {
                Open::Begun(Call::Update(value)) => answers.push(*value),
                Open::Begun(Call::Operation(call)) => {
                    answers.extend(
                        self.object.map(|object| object.values_of(*call)).unwrap_or_default(),
                    );
                }
                Open::Done(Answer::Values(values)) => answers.extend(values),
                Open::Done(Answer::Data(Some(data))) => data.names(true, &mut found),
                Open::Begun(Call::Scan) | Open::Done(_) | Open::Nothing => {}
            }
        }
        answers.into_iter().for_each(|value| value_found(value, &mut found));
        1 + Occurrence::new(&found).latest_value()
    }
}
