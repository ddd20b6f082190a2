//! The object under its random scheduler, and the scripts of violations.

use std::collections::VecDeque;

use super::{Exchanges, Flaw, OwnedExchange, OwnedExchangeAction};
use crate::generate::Draw;

/// Label of the stream for these recipes.
const LABEL: u64 = 7;

/// Stage of the operation of a process.
#[derive(Clone, Debug, Eq, PartialEq)]
enum State {
    Idle,
    /// Invoked with this value.
    Ready(i64),
    /// Has taken effect and will return these values.
    Effective(Vec<i64>),
    /// Will have no effect, and fail.
    Failing,
    /// Has no response; with its value if it may still take effect.
    Lost(Option<i64>),
}

/// A move of a script. Actors are numbered in the order of the cast.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// An actor invokes an operation.
    Invoke(usize),
    /// The operations of these actors take effect together.
    Block(&'static [usize]),
    /// The operation of an actor responds.
    Respond(usize),
    /// The operation of an actor responds with a lie about the segment of another actor.
    Lie(usize, usize),
    /// The operation of an actor fails.
    Fail(usize),
}

const fn script(flaw: Flaw) -> &'static [Move] {
    use Move::{Block, Fail, Invoke, Lie, Respond};
    match flaw {
        Flaw::OwnValue => &[Invoke(0), Block(&[0]), Lie(0, 0)],
        Flaw::Containment => {
            &[Invoke(0), Invoke(1), Block(&[0]), Block(&[1]), Lie(1, 0), Respond(0)]
        }
        Flaw::Immediacy => {
            &[Invoke(0), Invoke(1), Invoke(2), Block(&[0, 1, 2]), Respond(1), Lie(0, 2), Respond(2)]
        }
        Flaw::Future => &[Invoke(0), Block(&[0]), Lie(0, 1), Invoke(1), Block(&[1]), Respond(1)],
        Flaw::NeverWritten => &[Invoke(0), Block(&[0]), Lie(0, 1)],
        Flaw::Failed => &[
            Invoke(1),
            Invoke(0),
            Block(&[0]),
            Lie(0, 1),
            Fail(1),
            Invoke(1),
            Block(&[1]),
            Respond(1),
        ],
    }
}

/// A run, from event to event.
#[derive(Clone, Debug)]
pub(super) struct Play {
    recipe: Exchanges,
    draw: Draw,
    states: Vec<State>,
    /// Contents of the segments.
    segments: Vec<i64>,
    /// Content of each segment before its last write.
    before: Vec<i64>,
    invoked: usize,
    /// Value of the next write.
    value: i64,
    /// Value that an actor must write, since a scan returned it already.
    promised: Option<(usize, i64)>,
    /// Number of operations still to be lost.
    to_lose: usize,
    /// Remaining moves of the script, once it has begun.
    script: Option<&'static [Move]>,
    cast: Vec<usize>,
    /// Events to be returned next.
    due: VecDeque<OwnedExchange>,
}

impl Play {
    pub fn new(recipe: &Exchanges) -> Self {
        let mut draw = Draw::new(recipe.seed, LABEL);
        let actors = recipe.violation.map_or(1, Flaw::processes);
        let mut cast: Vec<usize> = (0..recipe.processes).collect();
        draw.shuffle(&mut cast);
        cast.truncate(actors);
        Self {
            draw,
            states: vec![State::Idle; recipe.processes],
            segments: vec![0; recipe.processes],
            before: vec![0; recipe.processes],
            invoked: 0,
            value: 1,
            promised: None,
            to_lose: recipe.pending.min(recipe.processes - actors),
            script: None,
            cast,
            due: VecDeque::new(),
            recipe: recipe.clone(),
        }
    }

    pub fn next_event(&mut self) -> Option<OwnedExchange> {
        while self.due.is_empty() {
            if !self.step() {
                return None;
            }
        }
        self.due.pop_front()
    }

    /// Makes a step of the run; returns false at its end.
    fn step(&mut self) -> bool {
        if let Some(script) = self.script
            && !script.is_empty()
        {
            return self.perform(script);
        }
        let reserved = match self.recipe.violation {
            Some(flaw) if self.script.is_none() => flaw.operations(),
            _ => 0,
        };
        let left = self.recipe.operations - self.invoked - reserved;
        if reserved > 0 {
            let others = (self.recipe.operations - reserved) as f64;
            if left == 0 || self.invoked as f64 >= self.recipe.after * others {
                self.begin();
                return true;
            }
        }
        let Some(process) = self.choose(left > 0) else { return false };
        self.advance(process, true);
        true
    }

    /// Draws a process that can act; idle ones only if they may invoke.
    fn choose(&mut self, may_invoke: bool) -> Option<usize> {
        let is_active = |state: &State| match state {
            State::Idle => may_invoke,
            State::Lost(_) => false,
            _ => true,
        };
        if may_invoke {
            // At least one process is never lost.
            return loop {
                let process = self.draw.below(self.states.len());
                if is_active(&self.states[process]) {
                    break Some(process);
                }
            };
        }
        let active: Vec<usize> =
            (0..self.states.len()).filter(|&p| is_active(&self.states[p])).collect();
        (!active.is_empty()).then(|| active[self.draw.below(active.len())])
    }

    /// Lets the actors finish their operations, and begins the script.
    fn begin(&mut self) {
        for actor in self.cast.clone() {
            while self.states[actor] != State::Idle {
                self.advance(actor, true);
            }
        }
        self.script = self.recipe.violation.map(script);
    }

    /// Performs the next move of the script, or a step of another process other than a block.
    fn perform(&mut self, script: &'static [Move]) -> bool {
        if self.draw.coin() {
            let other = self.draw.below(self.states.len());
            let reserved = script.iter().filter(|m| matches!(m, Move::Invoke(_))).count();
            let may = match self.states[other] {
                State::Idle => self.invoked + reserved < self.recipe.operations,
                State::Effective(_) => true,
                _ => false,
            };
            if may && !self.cast.contains(&other) {
                self.advance(other, false);
                return true;
            }
        }
        let actor = |number: usize| self.cast[number];
        match script[0] {
            Move::Invoke(number) => self.invoke(actor(number)),
            Move::Block(numbers) => {
                let members: Vec<usize> = numbers.iter().map(|&number| actor(number)).collect();
                self.block(&members);
            }
            Move::Respond(number) => self.respond(actor(number)),
            Move::Lie(number, about) => {
                let (process, segment) = (actor(number), actor(about));
                self.lie(process, segment);
                self.respond(process);
            }
            Move::Fail(number) => self.end(actor(number), OwnedExchangeAction::Fail),
        }
        self.script = Some(&script[1..]);
        true
    }

    /// Responds with another value for a segment, unless honest.
    fn lie(&mut self, process: usize, segment: usize) {
        let lie = match self.recipe.violation {
            Some(Flaw::Future) => {
                // The twin consumes the value as well, so that both write the same values.
                let value = self.next_value();
                self.promised = Some((segment, value));
                value
            }
            Some(Flaw::NeverWritten) => self.next_value(),
            Some(Flaw::Failed) => match self.states[segment] {
                State::Ready(value) => value,
                _ => 0,
            },
            _ => self.before[segment],
        };
        if let State::Effective(values) = &mut self.states[process]
            && !self.recipe.honest
        {
            values[segment] = lie;
        }
    }

    fn next_value(&mut self) -> i64 {
        let value = self.value;
        self.value += 1;
        value
    }

    /// Advances the operation of a process; with `with_blocks`, a block may take effect.
    fn advance(&mut self, process: usize, with_blocks: bool) {
        match self.states[process] {
            State::Idle => {
                self.invoke(process);
                if self.draw.chance(self.recipe.failures) {
                    self.states[process] = State::Failing;
                } else if self.to_lose > 0 && !self.cast.contains(&process) {
                    self.lose(process);
                }
            }
            State::Ready(_) if with_blocks => {
                let members: Vec<usize> = (0..self.states.len())
                    .filter(|&other| match self.states[other] {
                        State::Ready(_) => other == process || self.draw.coin(),
                        State::Lost(Some(_)) => self.draw.chance(0.1),
                        _ => false,
                    })
                    .collect();
                self.block(&members);
            }
            State::Effective(_) => self.respond(process),
            State::Failing => self.end(process, OwnedExchangeAction::Fail),
            State::Ready(_) | State::Lost(_) => {}
        }
    }

    /// Loses the operation of a process, which was just invoked, sooner or later.
    fn lose(&mut self, process: usize) {
        let left = (self.recipe.operations - self.invoked + 1) as f64;
        if !self.draw.chance((self.to_lose as f64 * 2.0 / left).min(1.0)) {
            return;
        }
        self.to_lose -= 1;
        let State::Ready(value) = self.states[process] else { return };
        if self.draw.coin() {
            self.push(process, OwnedExchangeAction::Unknown);
        }
        self.states[process] = State::Lost(Some(value));
    }

    fn invoke(&mut self, process: usize) {
        let value = match self.promised {
            Some((promised, value)) if promised == process => {
                self.promised = None;
                value
            }
            _ => self.next_value(),
        };
        self.invoked += 1;
        self.push(process, OwnedExchangeAction::Invoke(value));
        self.states[process] = State::Ready(value);
    }

    /// Executes all writes, then all reads.
    fn block(&mut self, members: &[usize]) {
        for &process in members {
            if let State::Ready(value) | State::Lost(Some(value)) = self.states[process] {
                self.before[process] = std::mem::replace(&mut self.segments[process], value);
            }
        }
        for &process in members {
            self.states[process] = match self.states[process] {
                State::Lost(_) => State::Lost(None),
                _ => State::Effective(self.segments.clone()),
            };
        }
    }

    fn respond(&mut self, process: usize) {
        if let State::Effective(values) = std::mem::replace(&mut self.states[process], State::Idle)
        {
            self.push(process, OwnedExchangeAction::Respond(values));
        }
    }

    fn end(&mut self, process: usize, action: OwnedExchangeAction) {
        self.states[process] = State::Idle;
        self.push(process, action);
    }

    fn push(&mut self, process: usize, action: OwnedExchangeAction) {
        self.due.push_back(OwnedExchange { process, action });
    }
}
