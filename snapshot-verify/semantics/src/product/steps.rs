//! Remembered steps.
//!
//! A step depends only on the shared part and the part of its process; most steps only on one cell of
//! the shared part. So the interpreter makes a step once for all states that agree on the part of the
//! process and on the cell that is accessed, and another step like it only puts the same content into
//! the cell. Few steps are left to the interpreter, without changing the semantics.
//!
//! **Why one cell suffices.** [`Next::Access`](crate::interpret::Next::Access) is one access to a
//! known cell, and a response, an invocation or a `choose` accesses none; then the process goes on
//! with its own variables up to the next access. Only a `new` on this way depends on other cells,
//! and it changes some. So a step is *within its cell* if no other cell changes, and then it is
//! within its cell wherever the part of the process and the cell's content are the same. All others,
//! and `atomic` blocks, are remembered by the whole shared part. Where nodes are freed, an access to
//! a field depends on the state of the node, too, so that it is not known to be within its cell.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::lent::{Lent, Unknown, known};
use super::memo::Memo;
use super::prospect::Seen;
use super::rows::Rows;
use super::states::{EventId, SHARED, States};
use crate::interpret::{Call, Contents, Event, Fault, Machine, State};

/// Effect of a move on a row: new parts, and the event.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    shared: u32,
    process: u32,
    /// Number of linearization points passed.
    pub points: u32,
    /// Invocation or response.
    pub event: Option<EventId>,
}

/// Remembered effects of moves.
///
/// Effects consist of a content or a shared part, the process's part, the number of points, and that
/// of the event, plus one.
#[derive(Debug)]
pub struct Steps {
    /// Effects within a cell, by the process's part, the content of the cell, and `doings`.
    within: Memo<3, 4>,
    /// Shared parts by the one before, a cell, and its new content.
    written: Memo<3, 1>,
    /// Other effects, by the shared part, the process's part, and `doings`.
    whole: Memo<3, 4>,
    /// Numbers of the other data of a move: process; twice an outcome, or twice the number of a call
    /// plus one; and the number of versions made, which is the name of the next.
    doings: Memo<3, 1>,
    calls: FxHashMap<Call, u32>,
    contents: Contents,
    /// Numbers of the contents of cells, a row per shared part that was accessed.
    cells: Rows,
    /// Row of each shared part, plus one; 0: none.
    rows: Vec<u32>,
    row: Vec<u32>,
    /// Number of steps that the interpreter made.
    #[cfg(test)]
    interpreted: usize,
}

/// Number of a content: of no cell.
const NO_CELL: u32 = u32::MAX;

/// Content after a step that is not within its cell.
const ELSEWHERE: u32 = u32::MAX - 1;

/// A move from a row, by numbers.
#[derive(Clone, Copy)]
struct Asked {
    shared: u32,
    process: u32,
    doing: u32,
    /// Cell, if one is accessed.
    cell: u32,
    /// Its content; `None`: the step may depend on several cells.
    content: Option<u32>,
}

impl Steps {
    pub fn new(machine: &Machine<'_>) -> Self {
        Self {
            within: Memo::default(),
            written: Memo::default(),
            whole: Memo::default(),
            doings: Memo::default(),
            calls: FxHashMap::default(),
            contents: Contents::default(),
            cells: Rows::new(machine.initial().shared_part().cells()),
            rows: Vec::new(),
            row: Vec::new(),
            #[cfg(test)]
            interpreted: 0,
        }
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.within.bytes()
            + self.written.bytes()
            + self.whole.bytes()
            + self.contents.bytes()
            + self.cells.bytes()
            + self.rows.capacity() * size_of::<u32>()
    }
}

impl States<'_, '_> {
    /// Replaces a state by its successor after a move, with versions not yet normalised.
    pub fn apply(&self, row: &mut [u32], process: Process, made: &Made) {
        row[SHARED] = made.shared;
        row[1 + process.index()] = made.process;
    }

    /// Makes the next step of a process with this outcome.
    ///
    /// # Errors
    /// If the step is a fault.
    pub fn step(&mut self, row: &[u32], process: Process, outcome: u32) -> Result<Made, Fault> {
        known(Lent::Exclusive(self).step(row, process, outcome))
    }

    /// Begins an operation.
    ///
    /// # Errors
    /// If the invocation is a fault.
    pub fn begin(&mut self, row: &[u32], process: Process, call: Call) -> Result<Made, Fault> {
        known(Lent::Exclusive(self).begin(row, process, call))
    }

    fn remember(
        &mut self,
        asked: Asked,
        state: &mut State,
        process: Process,
        points: u32,
        event: Option<Event>,
    ) -> Made {
        #[cfg(test)]
        {
            self.steps.interpreted += 1;
        }
        if let Some(forgetting) = &self.forgetting {
            forgetting.forget(state, process.index());
        }
        let shared = state.shared_part();
        let is_unchanged = self.shared.get(asked.shared).is_same(&shared);
        let shared = if is_unchanged { asked.shared } else { self.shared.number(shared) };
        let part = self.processes.number(state.process_part(process.index()));
        self.has_names |= self.shared.has_names() || self.processes.has_names();
        let event = event.map(|event| self.event_number(event));
        let effect = |first| [first, part, points, event.map_or(0, |event| event.0 + 1)];
        let after = asked.content.and_then(|_| self.content_after(asked, shared));
        let key = asked.content.map(|content| [asked.process, content, asked.doing]);
        if let Some(key) = &key
            && self.steps.within.find(key).is_none()
        {
            self.steps.within.insert(key, effect(after.unwrap_or(ELSEWHERE)));
        }
        if after.is_none() {
            self.steps.whole.insert(&[asked.shared, asked.process, asked.doing], effect(shared));
        }
        Made { shared, process: part, points, event }
    }

    /// Returns the content of the accessed cell after a step that led to this shared part; `None` if
    /// other cells changed.
    fn content_after(&mut self, asked: Asked, shared: u32) -> Option<u32> {
        if shared == asked.shared {
            return asked.content;
        }
        let (before, after) = (self.learn_contents(asked.shared), self.learn_contents(shared));
        let cells = &self.steps.cells;
        let mut others = (0..cells.width()).filter(|cell| *cell != asked.cell as usize);
        let is_within = asked.cell != NO_CELL
            && others.all(|cell| cells.get(before, cell) == cells.get(after, cell));
        is_within.then(|| cells.get(after, asked.cell as usize))
    }

    /// Returns the row of the contents of a shared part.
    fn learn_contents(&mut self, shared: u32) -> u32 {
        let Steps { contents, cells, rows, row, .. } = &mut self.steps;
        if let Some(known) = rows.get(shared as usize).and_then(|row| row.checked_sub(1)) {
            return known;
        }
        row.clear();
        row.extend(contents.of(&self.shared.get(shared)));
        rows.resize(rows.len().max(self.shared.len()), 0);
        rows[shared as usize] = cells.len() as u32 + 1;
        cells.push(row.iter().copied());
        cells.len() as u32 - 1
    }
}

impl Lent<'_, States<'_, '_>> {
    /// Makes the next step of a process with this outcome.
    ///
    /// # Errors
    /// If the step is unknown, as faults always are; or, of the result, if the step is a fault.
    pub fn step(
        &mut self,
        row: &[u32],
        process: Process,
        outcome: u32,
    ) -> Result<Result<Made, Fault>, Unknown> {
        let seen = self.prospect(row, process)?.seen;
        let asked = self.asked(row, process, outcome << 1, seen)?;
        if let Some(made) = self.remembered(asked)? {
            return Ok(Ok(made));
        }
        let states = self.exclusively()?;
        let mut state = states.state_of(row, process);
        let coverage = states.coverage.as_mut();
        let advance = states.machine.advance_in_parts(&mut state, process, outcome, coverage);
        Ok(advance.map(|advance| {
            let event = advance.action.map(|action| Event { process, action });
            states.remember(asked, &mut state, process, advance.points, event)
        }))
    }

    /// Begins an operation.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn begin(
        &mut self,
        row: &[u32],
        process: Process,
        call: Call,
    ) -> Result<Result<Made, Fault>, Unknown> {
        let number = match self.steps.calls.get(&call) {
            Some(number) => *number,
            None => {
                let calls = &mut self.exclusively()?.steps.calls;
                let next = calls.len() as u32;
                *calls.entry(call).or_insert(next)
            }
        };
        let asked = self.asked(row, process, number << 1 | 1, Seen::Nothing)?;
        if let Some(made) = self.remembered(asked)? {
            return Ok(Ok(made));
        }
        let states = self.exclusively()?;
        let mut state = states.state_of(row, process);
        let coverage = states.coverage.as_mut();
        let action = states.machine.begin_in_parts(&mut state, process, call, coverage);
        Ok(action.map(|action| {
            let event = Event { process, action };
            states.remember(asked, &mut state, process, 0, Some(event))
        }))
    }

    fn asked(
        &mut self,
        row: &[u32],
        process: Process,
        choice: u32,
        seen: Seen,
    ) -> Result<Asked, Unknown> {
        let key = [process.index() as u32, choice, self.versions_made(row)];
        let doing = match self.steps.doings.find(&key) {
            Some([doing]) => doing,
            None => {
                let doings = &mut self.exclusively()?.steps.doings;
                let next = doings.len() as u32;
                doings.insert(&key, [next]);
                next
            }
        };
        let shared = row[SHARED];
        let (cell, content) = match seen {
            Seen::Nothing => (NO_CELL, Some(NO_CELL)),
            Seen::Cell(cell) => {
                let row = self.contents_of(shared)?;
                (cell, Some(self.steps.cells.get(row, cell as usize)))
            }
            Seen::Any => (NO_CELL, None),
        };
        Ok(Asked { shared, process: row[1 + process.index()], doing, cell, content })
    }

    fn remembered(&mut self, asked: Asked) -> Result<Option<Made>, Unknown> {
        let Asked { shared, process, doing, cell, content } = asked;
        let within = content.and_then(|content| self.steps.within.find(&[process, content, doing]));
        let (shared, [_, process, points, event]) = match within {
            None | Some([ELSEWHERE, ..]) => {
                let whole = self.steps.whole.find(&[shared, process, doing]);
                let Some(whole) = whole else { return Ok(None) };
                (whole[0], whole)
            }
            Some(within) if Some(within[0]) == content => (shared, within),
            Some(within) => (self.put(shared, cell, within[0])?, within),
        };
        let event = event.checked_sub(1).map(EventId);
        Ok(Some(Made { shared, process, points, event }))
    }

    /// Returns the shared part with another content of a cell.
    fn put(&mut self, shared: u32, cell: u32, content: u32) -> Result<u32, Unknown> {
        let key = [shared, cell, content];
        if let Some([after]) = self.steps.written.find(&key) {
            return Ok(after);
        }
        let states = self.exclusively()?;
        let part = states.steps.contents.put(&states.shared.get(shared), cell as usize, content);
        let after = states.shared.number(part);
        states.has_names |= states.shared.has_names();
        states.steps.written.insert(&key, [after]);
        Ok(after)
    }

    /// Returns the row of the contents of a shared part.
    fn contents_of(&mut self, shared: u32) -> Result<u32, Unknown> {
        match self.steps.rows.get(shared as usize).and_then(|row| row.checked_sub(1)) {
            Some(known) => Ok(known),
            None => Ok(self.exclusively()?.learn_contents(shared)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{Client, Sequential, Values};
    use crate::language::parse;
    use crate::product::Table;

    /// Registers, links, `compare and swap`, `choose`, `atomic`, nodes, also freed ones, and local
    /// variables: each remembered step is the interpreter's from the same state.
    #[test]
    fn remembered_steps_are_those_of_the_interpreter() {
        let (mut all, mut interpreted, mut within, mut elsewhere) = (0, 0, 0, 0);
        let algorithms = corpus::algorithms().iter().chain(corpus::object_algorithms());
        for algorithm in algorithms.chain(corpus::strong_algorithms()) {
            let parsed = parse(algorithm.name, algorithm.text);
            let program = parsed.and_then(|text| text.program(None)).expect("a program");
            let machine = Machine::new(&program, 2).expect("a machine");
            let object = program.object().map(|object| Sequential::new(object, 2).unwrap());
            let client = Client::unbounded(Values::Full(2));
            let progress = client.start(2);
            let mut states = States::new(&machine, true, false);
            let mut table = Table::new(states.width(), 0);
            let (mut row, mut to) = (vec![0; states.width()], vec![0; states.width()]);
            states.write_initial(&mut row);
            table.insert(&row, &[]);
            let mut number = 0;
            while (number as usize) < table.len().min(1_000) {
                table.copy(number, &mut row);
                for process in [0, 1].map(Process::from_index) {
                    let prospect = states.prospect(&row, process);
                    let state = states.state(&row);
                    let calls = match &object {
                        _ if !prospect.is_idle => Vec::new(),
                        Some(object) => client.calls_of_object(object, &progress, process),
                        None => client.calls(&progress, process, 2),
                    };
                    let outcomes = match prospect.is_idle {
                        true => 0,
                        false => states.outcomes(&row, process, prospect),
                    };
                    let mut check = |states: &mut States<'_, '_>, made: Made, mut after: State| {
                        all += 1;
                        let forgetting = states.forgetting.as_ref().expect("locals are forgotten");
                        forgetting.forget(&mut after, process.index());
                        let name = algorithm.name;
                        let parts =
                            (states.shared.get(made.shared), states.processes.get(made.process));
                        assert_eq!(parts.0, after.shared_part(), "{name}: {state:?}");
                        assert_eq!(
                            parts.1,
                            after.process_part(process.index()),
                            "{name}: {state:?}"
                        );
                        to.copy_from_slice(&row);
                        states.apply(&mut to, process, &made);
                        states.normalise(&mut to);
                        table.insert(&to, &[]);
                    };
                    for outcome in 0..outcomes {
                        let mut after = state.clone();
                        let made = states.step(&row, process, outcome);
                        let expected = machine.advance_in_parts(&mut after, process, outcome, None);
                        assert_eq!(made.is_err(), expected.is_err(), "{}", algorithm.name);
                        let (Ok(made), Ok(expected)) = (made, expected) else { continue };
                        let event = made.event.map(|event| states.event(event).action.clone());
                        assert_eq!((event, made.points), (expected.action, expected.points));
                        check(&mut states, made, after);
                    }
                    for call in calls {
                        let mut after = state.clone();
                        let made = states.begin(&row, process, call);
                        let expected = machine.begin_in_parts(&mut after, process, call, None);
                        let (Ok(made), Ok(expected)) = (made, expected) else { continue };
                        let event = made.event.expect("an invocation is an event");
                        assert_eq!(states.event(event).action, expected);
                        check(&mut states, made, after);
                    }
                }
                number += 1;
            }
            interpreted += states.steps.interpreted;
            within += states.steps.within.len();
            elsewhere += states.steps.whole.len();
        }
        assert!(all > 20_000 && interpreted < all / 4, "{interpreted} of {all}");
        assert!(within > 1_000 && elsewhere > 1_000, "{within}, {elsewhere}");
    }
}
