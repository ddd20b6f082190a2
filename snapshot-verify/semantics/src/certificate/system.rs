//! Moves of interned states, by the interpreter.
//!
//! A state of the product is a row of numbers: whether i and j have begun to write 1; the number of
//! operations begun by each process, if bounded; the shared part; each process's part
//! ([`crate::interpret::Part`]). The set of automaton states ([`Judge`]) is kept beside the row.
//!
//! The effect of a step depends only on the shared part, the part of its process, and the name of
//! the next version. So each step is computed once for all states that agree on these. Versions are
//! named 1, 2, ... in the order of their occurrence in a row: programs only compare them.

use std::mem::size_of;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::judge::{Judge, Sight};
use super::permutations;
use crate::interpret::{
    Action, Call, Client, Fault, Interned, Machine, Move, MoveKind, Names, ProcessPart, Progress,
    SharedPart, State, Values,
};

/// Product of a machine, the client of (i, j)-simple executions, and the judge.
#[derive(Debug)]
pub struct System<'m, 'p> {
    machine: &'m Machine<'p>,
    client: Client,
    /// Permutations of the processes, the identity first.
    permutations: Vec<Vec<usize>>,
    pub judge: Judge,
    pub shared: Interned<SharedPart>,
    pub processes: Interned<ProcessPart>,
    steps: FxHashMap<StepKey, Result<Made, Fault>>,
}

/// Shared part, process's part, process, name of the next version, operation to begin.
type StepKey = (u32, u32, u32, u32, Option<Call>);

/// Cached result of a move.
#[derive(Clone, Copy, Debug)]
struct Made {
    shared: u32,
    process: u32,
    sight: Sight,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Successor {
    pub made: Move,
    pub row: Vec<u32>,
    /// Set of automaton states after the move.
    pub set: u32,
}

impl<'m, 'p> System<'m, 'p> {
    /// Creates the system of a machine; `symmetric`: with all permutations of the processes but i
    /// and j.
    pub fn new(
        machine: &'m Machine<'p>,
        pair: [Process; 2],
        operations: Option<u32>,
        symmetric: bool,
    ) -> Self {
        let n = machine.processes();
        let client = Client { operations, ..Client::unbounded(Values::Simple(pair[0], pair[1])) };
        let permutations =
            if symmetric { permutations::fixing(n, pair) } else { vec![(0..n).collect()] };
        Self {
            machine,
            client,
            judge: Judge::new(n, pair, &permutations),
            permutations,
            shared: Interned::default(),
            processes: Interned::default(),
            steps: FxHashMap::default(),
        }
    }

    /// Returns the number of columns of a row.
    pub const fn width(&self) -> usize {
        self.shared_at() + 1 + self.machine.processes()
    }

    /// Returns the column of the shared part. The client's columns precede it, the processes' parts
    /// follow it.
    pub const fn shared_at(&self) -> usize {
        match self.client.operations {
            None => 1,
            Some(_) => 1 + self.machine.processes(),
        }
    }

    pub const fn permutations(&self) -> usize {
        self.permutations.len()
    }

    pub fn initial(&mut self) -> (Vec<u32>, u32) {
        let initial = self.machine.initial();
        let mut row = vec![0; self.shared_at()];
        row.push(self.shared.number(initial.shared_part()));
        for process in 0..self.machine.processes() {
            row.push(self.processes.number(initial.process_part(process)));
        }
        self.normalise(&mut row);
        (row, self.judge.initial())
    }

    /// Computes all states after one move.
    ///
    /// # Errors
    /// If a move is a fault.
    pub fn successors(
        &mut self,
        row: &[u32],
        set: u32,
        after: &mut Vec<Successor>,
    ) -> Result<(), (Move, Fault)> {
        after.clear();
        let n = self.machine.processes();
        let progress = self.progress(row);
        for process in (0..n).map(Process::from_index) {
            let part = row[self.shared_at() + 1 + process.index()];
            if !self.processes.get(part).is_idle() {
                after.push(self.successor(row, set, Move::step(process), &progress)?);
                continue;
            }
            for call in self.client.calls(&progress, process, n) {
                let made = Move { process, kind: MoveKind::Begin(call) };
                let mut later = progress.clone();
                self.client.begin(&mut later, process, call);
                after.push(self.successor(row, set, made, &later)?);
            }
        }
        Ok(())
    }

    /// Renames the processes of a state by the permutation with this number.
    pub fn renamed(&mut self, row: &[u32], set: u32, permutation: usize) -> (Vec<u32>, u32) {
        if permutation == 0 {
            return (row.to_vec(), set);
        }
        let (at, n, machine) = (self.shared_at(), self.machine.processes(), self.machine);
        let to = &self.permutations[permutation];
        let mut renamed = row.to_vec();
        if self.client.operations.is_some() {
            (0..n).for_each(|process| renamed[1 + to[process]] = row[1 + process]);
        }
        let permuted = |part: &SharedPart| machine.permuted_shared(part, to);
        renamed[at] = self.shared.permuted(row[at], permutation, permuted);
        for process in 0..n {
            let permuted = |part: &ProcessPart| machine.permuted_process(part, to);
            let part = self.processes.permuted(row[at + 1 + process], permutation, permuted);
            renamed[at + 1 + to[process]] = part;
        }
        self.normalise(&mut renamed);
        (renamed, self.judge.renamed(set, permutation))
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        // Each slot of the table has one byte besides its entry.
        let steps = self.steps.capacity() * (size_of::<(StepKey, Result<Made, Fault>)>() + 1);
        steps + self.shared.bytes() + self.processes.bytes() + self.judge.bytes()
    }

    /// Renames versions in the order of their occurrence.
    pub fn normalise(&mut self, row: &mut [u32]) {
        if !self.has_versions() {
            return;
        }
        let at = self.shared_at();
        let mut names = Names::default();
        row[at] = self.shared.renamed(row[at], &mut names);
        for number in &mut row[at + 1..] {
            *number = self.processes.renamed(*number, &mut names);
        }
    }

    fn successor(
        &mut self,
        row: &[u32],
        set: u32,
        made: Move,
        later: &Progress,
    ) -> Result<Successor, (Move, Fault)> {
        let (at, process) = (self.shared_at(), made.process);
        let mine = at + 1 + process.index();
        let call = match made.kind {
            MoveKind::Begin(call) => Some(call),
            MoveKind::Step | MoveKind::Take(_) => None,
        };
        let key = (row[at], row[mine], process.index() as u32, self.versions_made(row), call);
        let known = match self.steps.get(&key) {
            Some(known) => known.clone(),
            None => {
                let new = self.make(row, made);
                self.steps.insert(key, new.clone());
                new
            }
        };
        let Made { shared, process: part, sight } = known.map_err(|fault| (made, fault))?;
        let mut after = row.to_vec();
        let switched = later.switched();
        after[0] = u32::from(switched[0]) | u32::from(switched[1]) << 1;
        after[1..1 + later.begun().len()].copy_from_slice(later.begun());
        after[at] = shared;
        after[mine] = part;
        self.normalise(&mut after);
        let set = self.judge.after(set, process, sight, switched);
        Ok(Successor { made, row: after, set })
    }

    fn make(&mut self, row: &[u32], made: Move) -> Result<Made, Fault> {
        let process = made.process;
        let mut state = self.state(row);
        let sight = match made.kind {
            MoveKind::Begin(call) => {
                let _: Action = self.machine.begin(&mut state, process, call)?;
                self.judge.call(process, call)
            }
            MoveKind::Step | MoveKind::Take(_) => {
                let action = self.machine.advance(&mut state, process)?;
                self.judge.step(process, action.as_ref())
            }
        };
        let shared = self.shared.number(state.shared_part());
        let part = self.processes.number(state.process_part(process.index()));
        Ok(Made { shared, process: part, sight })
    }

    /// Decodes the client's columns.
    fn progress(&self, row: &[u32]) -> Progress {
        Progress::after(row[1..self.shared_at()].to_vec(), [row[0] & 1 == 1, row[0] & 2 == 2])
    }

    fn state(&self, row: &[u32]) -> State {
        let at = self.shared_at();
        let parts = row[at + 1..].iter().map(|number| self.processes.get(*number));
        State::of_parts(self.shared.get(row[at]), parts, self.versions_made(row))
    }

    /// Returns the name of the next version: one more than the largest version in a row.
    fn versions_made(&self, row: &[u32]) -> u32 {
        if !self.has_versions() {
            return self.machine.initial().versions_made();
        }
        let at = self.shared_at();
        let processes = row[at + 1..].iter().map(|number| self.processes.latest(*number));
        1 + processes.fold(self.shared.latest(row[at]), u32::max)
    }

    const fn has_versions(&self) -> bool {
        self.shared.has_names() || self.processes.has_names()
    }
}
