//! The algorithm's side of the product: interned states of the interpreter.
//!
//! A row stores a state as the number of its shared part and one number per process
//! ([`crate::interpret::Part`]). Steps are cached by these numbers (`steps`).
//!
//! Versions are named 1, 2, ... in the order of their occurrence in the row, and nodes in the order
//! in which they are reached (`nodes`). So rows are equal iff their states are, up to the names of
//! versions and the numbers of nodes. Symmetric processes are sorted (`symmetry`): then equal rows
//! have equal states up to the order of processes, too.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::footprint::Footprint;
use super::lent::{Lent, Unknown, known};
use super::nodes::{ByPart, Naming};
use super::prospect::{Prospect, Prospects};
use super::steps::Steps;
use super::symmetry::{OrderId, Orders, reordered};
use crate::interpret::{
    Comparands, Coverage, Emptiable, Event, Forgetting, Interned, Machine, Move, MoveKind, Names,
    ProcessPart, Reached, SharedPart, State,
};
use crate::program::Type;

/// Column of the shared part; the processes follow it.
pub(super) const SHARED: usize = 0;

/// Number of an event. Equal events have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct EventId(pub u32);

/// Interner of the states that occurred, in parts.
#[derive(Debug)]
pub struct States<'m, 'p> {
    pub(super) machine: &'m Machine<'p>,
    pub(super) footprint: Footprint,
    pub(super) forgetting: Option<Forgetting>,
    comparands: Option<Comparands>,
    /// Per process's part, the nodes that may be emptied.
    emptiable: ByPart<Emptiable>,
    pub(super) shared: Interned<SharedPart>,
    pub(super) processes: Interned<ProcessPart>,
    pub(super) naming: Naming,
    pub(super) steps: Steps,
    pub(super) prospects: Prospects,
    events: Vec<Event>,
    event_numbers: FxHashMap<Event, EventId>,
    /// Statements that the steps so far have executed.
    pub(super) coverage: Option<Coverage>,
    pub(super) has_names: bool,
    has_versions: bool,
    /// Orders into which processes were sorted; `None`: they are not symmetric.
    orders: Option<Orders>,
    scratch: Scratch,
}

/// Data about the row being normalised. Rows reuse its memory.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Names in the row that was normalised last.
    names: Names,
    /// Order of the processes of the row, and their parts without nodes.
    order: Vec<u32>,
    bare: Vec<u32>,
    pub(super) walk: Reached,
    /// New names of a part.
    pub(super) after: Vec<u32>,
}

impl<'m, 'p> States<'m, 'p> {
    /// Creates an empty interner. `forgetting`: forgets locals that no step will read. `symmetric`:
    /// sorts processes if possible; it is impossible if steps name versions or freed nodes.
    pub fn new(machine: &'m Machine<'p>, forgetting: bool, symmetric: bool) -> Self {
        let program = machine.program();
        let has_versions =
            program.types().any(|content| content.any(&|part| *part == Type::Version));
        let symmetric = symmetric && !program.frees() && !has_versions;
        Self {
            machine,
            footprint: Footprint::new(machine.program()),
            forgetting: forgetting.then(|| Forgetting::new(machine)),
            comparands: forgetting.then(|| Comparands::new(machine)),
            emptiable: ByPart::default(),
            shared: Interned::default(),
            processes: Interned::default(),
            naming: Naming::default(),
            steps: Steps::new(machine),
            prospects: Prospects::default(),
            events: Vec::new(),
            event_numbers: FxHashMap::default(),
            coverage: None,
            has_names: false,
            has_versions,
            orders: symmetric.then(Orders::default),
            scratch: Scratch::default(),
        }
    }

    /// Identifies states up to the names of values, for a program that is data-independent.
    #[must_use]
    pub fn naming_values(mut self) -> Self {
        self.shared = Interned::naming(true);
        self.processes = Interned::naming(true);
        self
    }

    /// Returns the names in the row that was normalised last, so that further columns are renamed
    /// likewise.
    pub const fn names(&mut self) -> &mut Names {
        &mut self.scratch.names
    }

    /// Returns the largest value in a row, or 0. Values must be names.
    pub fn latest_value(&self, row: &[u32]) -> u32 {
        let processes = row[1..1 + self.machine.processes()].iter();
        let latest = processes.map(|number| self.processes.latest_value(*number));
        latest.fold(self.shared.latest_value(row[SHARED]), u32::max)
    }

    /// Records the statements that steps execute from now on. A step that is remembered is not
    /// executed again.
    #[must_use]
    pub fn covering(mut self, coverage: Coverage) -> Self {
        self.coverage = Some(coverage);
        self
    }

    /// Returns the recorded statements, and ends the record.
    pub const fn take_coverage(&mut self) -> Option<Coverage> {
        self.coverage.take()
    }

    /// Returns the event with this number.
    ///
    /// # Panics
    /// If the event does not exist.
    pub fn event(&self, number: EventId) -> &Event {
        &self.events[number.0 as usize]
    }

    /// Returns the number of distinct events so far.
    pub const fn events(&self) -> usize {
        self.events.len()
    }

    pub const fn machine(&self) -> &'m Machine<'p> {
        self.machine
    }

    /// Returns the number of columns of a state in a row.
    pub const fn width(&self) -> usize {
        1 + self.machine.processes()
    }

    /// Writes the initial state into a row.
    pub fn write_initial(&mut self, row: &mut [u32]) {
        let initial = self.machine.initial();
        row[SHARED] = self.shared.number(initial.shared_part());
        for process in 0..self.machine.processes() {
            row[1 + process] = self.processes.number(initial.process_part(process));
        }
        let order = self.normalise(row);
        debug_assert!(order.is_none(), "all processes are alike at first");
    }

    /// Writes a state of the interpreter into a row. Processes must not be symmetric.
    pub fn write(&mut self, row: &mut [u32], state: &State) {
        let mut state = state.clone();
        for process in 0..self.machine.processes() {
            if let Some(forgetting) = &self.forgetting {
                forgetting.forget(&mut state, process);
            }
            row[1 + process] = self.processes.number(state.process_part(process));
        }
        row[SHARED] = self.shared.number(state.shared_part());
        let order = self.normalise(row);
        debug_assert!(order.is_none(), "symmetric processes have another order here");
    }

    /// Replaces the outcomes of moves from a state by those that lead to these rows; beyond the
    /// last row, outcomes stay. Outcomes depend on the order of nodes, which differs in the
    /// interpreter, because it does not renumber nodes.
    ///
    /// # Panics
    /// If no outcomes lead to the rows.
    pub fn take_outcomes(&mut self, first: &State, moves: &mut [Move], rows: &[&[u32]]) {
        let mut state = first.clone();
        let width = self.width();
        let mut to = vec![0; width];
        for (position, made) in moves.iter_mut().enumerate() {
            let outcomes = match made.kind {
                MoveKind::Begin(_) => vec![*made],
                MoveKind::Step | MoveKind::Take(_) => {
                    let outcomes = 0..self.machine.outcomes(&state, made.process);
                    outcomes.map(|outcome| Move::taking(made.process, outcome)).collect()
                }
            };
            let found = outcomes.into_iter().find_map(|made| {
                let mut after = state.clone();
                let result = self.machine.make(&mut after, made);
                let is_it = match (rows.get(position), result) {
                    (Some(row), Ok(_)) => {
                        self.write(&mut to, &after);
                        to[..] == row[..width]
                    }
                    (Some(_), Err(_)) => false,
                    // The last move, without a target row.
                    (None, _) => true,
                };
                is_it.then_some((made, after))
            });
            let (found, after) = found.expect("a path of rows is an execution");
            (*made, state) = (found, after);
        }
    }

    /// Returns the number of outcomes of the next step of a process.
    pub fn outcomes(&self, row: &[u32], process: Process, prospect: Prospect) -> u32 {
        match prospect.branches {
            true => self.machine.outcomes(&self.state(row), process),
            false => 1,
        }
    }

    /// Brings a row into normal form ([`Lent::normalise`]).
    pub fn normalise(&mut self, row: &mut [u32]) -> Option<OrderId> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let order = known(Lent::Exclusive(self).normalise(row, &mut scratch));
        self.scratch = scratch;
        order
    }

    /// Returns the order with this number.
    ///
    /// # Panics
    /// If no row was sorted into this order.
    pub fn order(&self, number: OrderId) -> &[u32] {
        self.orders.as_ref().expect("processes are put into order").get(number)
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.steps.bytes()
            + self.prospects.bytes()
            + self.naming.bytes()
            + self.orders.as_ref().map_or(0, Orders::bytes)
            + self.shared.bytes()
            + self.processes.bytes()
    }

    pub(super) fn event_number(&mut self, event: Event) -> EventId {
        if let Some(number) = self.event_numbers.get(&event) {
            return *number;
        }
        let number = EventId(self.events.len() as u32);
        self.events.push(event.clone());
        self.event_numbers.insert(event, number);
        number
    }

    /// Returns the state of a row.
    pub fn state(&self, row: &[u32]) -> State {
        let parts = row[1..1 + self.machine.processes()].iter();
        let parts = parts.map(|number| self.processes.get(*number));
        let shared = self.shared.get(row[SHARED]);
        State::of_parts(shared, parts, self.versions_made(row))
    }

    /// Returns a state with the shared part of a row and the part of one process; those of others
    /// are any.
    pub(super) fn state_of(&self, row: &[u32], process: Process) -> State {
        let part = self.processes.get(row[1 + process.index()]);
        let parts = std::iter::repeat_n(part, self.machine.processes());
        State::of_parts(self.shared.get(row[SHARED]), parts, self.versions_made(row))
    }

    /// In a normal row, versions are numbered without gaps.
    pub(super) fn versions_made(&self, row: &[u32]) -> u32 {
        if !self.has_versions {
            return self.machine.initial().versions_made();
        }
        let processes = row[1..1 + self.machine.processes()].iter();
        let latest = processes.map(|number| self.processes.latest(*number));
        1 + latest.fold(self.shared.latest(row[SHARED]), u32::max)
    }
}

impl Lent<'_, States<'_, '_>> {
    /// Sorts symmetric processes, renames nodes in the order in which they are reached, then
    /// versions in the order of their occurrence. Returns the new order of the processes, if it
    /// changed.
    ///
    /// # Errors
    /// If some result is unknown; then the row may have changed.
    pub fn normalise(
        &mut self,
        row: &mut [u32],
        scratch: &mut Scratch,
    ) -> Result<Option<OrderId>, Unknown> {
        self.empty_comparands(row, scratch)?;
        let order = self.sort(row, scratch)?;
        self.rename(row, scratch)?;
        Ok(order)
    }

    /// Sorts symmetric processes, and renames nodes.
    fn sort(&mut self, row: &mut [u32], scratch: &mut Scratch) -> Result<Option<OrderId>, Unknown> {
        let n = self.machine.processes();
        if self.orders.is_none() {
            self.rename_nodes(row, scratch)?;
            return Ok(None);
        }
        let (order, bare) = (&mut scratch.order, &mut scratch.bare);
        bare.clear();
        for number in &row[1..=n] {
            bare.push(self.bare(*number)?);
        }
        order.clear();
        order.extend(0..n as u32);
        if !bare.is_sorted() {
            order.sort_by_key(|process| bare[*process as usize]);
            put(row, order);
            bare.sort_unstable();
        }
        self.rename_nodes(row, scratch)?;
        let is_alike = scratch.bare.windows(2).any(|pair| pair[0] == pair[1]);
        if !self.machine.heap().is_empty() && is_alike {
            let held = self.held_in_common(&row[..=n], &mut scratch.walk)?;
            let mut again: Vec<u32> = (0..n as u32).collect();
            again.sort_by_key(|one| (scratch.bare[*one as usize], &held[*one as usize]));
            if !again.is_sorted() {
                put(row, &again);
                self.rename_nodes(row, scratch)?;
                scratch.order = reordered(&scratch.order, &again);
            }
        }
        let order = &scratch.order;
        if order.is_sorted() {
            return Ok(None);
        }
        if let Some(number) = self.orders.as_ref().and_then(|orders| orders.find(order)) {
            return Ok(Some(number));
        }
        Ok(self.exclusively()?.orders.as_mut().map(|orders| orders.number(order)))
    }

    fn rename(&mut self, row: &mut [u32], scratch: &mut Scratch) -> Result<(), Unknown> {
        let Scratch { names, after, .. } = scratch;
        names.clear();
        if !self.has_names {
            return Ok(());
        }
        for (slot, number) in row[..1 + self.machine.processes()].iter_mut().enumerate() {
            let found = match slot {
                SHARED => self.shared.find_renamed(*number, names, after),
                _ => self.processes.find_renamed(*number, names, after),
            };
            *number = match (found, slot) {
                (Some(known), _) => known,
                (None, SHARED) => self.exclusively()?.shared.add_renamed(*number, after),
                (None, _) => self.exclusively()?.processes.add_renamed(*number, after),
            };
        }
        Ok(())
    }

    /// Empties nodes that processes only compare.
    fn empty_comparands(&mut self, row: &mut [u32], scratch: &mut Scratch) -> Result<(), Unknown> {
        let (width, heap) = (self.width(), self.machine.heap());
        if heap.is_empty() || self.comparands.is_none() {
            return Ok(());
        }
        for number in &row[1..width] {
            if self.emptiable.get(*number).is_none() {
                let States { comparands, emptiable, processes, .. } = self.exclusively()?;
                let part = processes.get(*number);
                let nodes = comparands.as_ref().map(|one| one.emptiable(heap, &part));
                emptiable.insert(*number, processes.len(), nodes.unwrap_or_default());
            }
        }
        let shape = self.shape(row[SHARED])?;
        let shape = self.naming.shape(shape);
        let emptiable = row[1..width].iter().filter_map(|number| self.emptiable.get(*number));
        let mut compared = emptiable.clone().flat_map(|nodes| &nodes.compared).peekable();
        let mut rewritten = emptiable.flat_map(|nodes| &nodes.rewritten);
        let is_compared = compared.peek().is_some() && {
            heap.walk(&mut scratch.walk, shape, std::iter::empty());
            !compared.all(|node| scratch.walk.reaches(*node))
        };
        if !is_compared && rewritten.all(|node| shape.edges(*node).is_empty()) {
            return Ok(());
        }
        let States { comparands, shared, processes, .. } = self.exclusively()?;
        let parts: Vec<ProcessPart> =
            row[1..width].iter().map(|number| processes.get(*number)).collect();
        let before = shared.get(row[SHARED]);
        let emptied = comparands.as_ref().and_then(|one| one.emptied(heap, &before, &parts));
        if let Some((after, parts)) = emptied {
            row[SHARED] = shared.number(after);
            for (number, part) in row[1..width].iter_mut().zip(parts) {
                *number = processes.number(part);
            }
        }
        Ok(())
    }
}

/// Reorders the processes of a row.
fn put(row: &mut [u32], order: &[u32]) {
    let after = reordered(&row[1..=order.len()], order);
    row[1..=order.len()].copy_from_slice(&after);
}
