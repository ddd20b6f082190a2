//! Product of algorithm, client and specification, breadth-first.

use super::ahead::{self, Ahead, View};
use super::clients::World;
use super::expand::{Expander, Remembered, Rules, Stuck, Targets, Transition};
use super::{Budget, Progress, Refinement, RefinementVerdict, Techniques, Unfinished};
use crate::interpret::Machine;
use crate::product::{Batch, Lent, States, Table};

/// Most transitions between two calls of `proceed`, and most evaluations and copied scalars.
const TRANSITIONS: u64 = 4096;
const WORK: u64 = 1 << 18;

/// A search. Rows are described at [`Remembered`].
pub struct Search<'m, 'p, W> {
    pub(super) machine: &'m Machine<'p>,
    pub(super) rules: Rules,
    pub(super) remembered: Remembered<'m, 'p, W>,
    pub(super) table: Table,
    /// Targets that may be new, and the number of all targets that are not numbered yet.
    targets: Targets,
    pending: usize,
    /// Number of transitions between two calls of `proceed`: smaller if one may take long.
    question_every: u64,
    /// Depth of the states being expanded.
    depth: usize,
    /// First state of the next level.
    level_end: usize,
    peak_bytes: usize,
    pub(super) at: Transition,
    /// Number of states that were expanded ahead.
    #[cfg(test)]
    pub(super) ahead: usize,
}

impl<'m, 'p, W: World> Search<'m, 'p, W> {
    /// Creates a search of all executions in a world.
    pub fn new(machine: &'m Machine<'p>, world: W, means: Techniques) -> Self {
        let extent = machine.extent();
        let states = States::new(machine, means.forgetting, means.symmetry && world.is_symmetric());
        let rules = Rules::new(means, &world, machine.processes());
        let remembered = Remembered::new(states, world);
        let width = remembered.width();
        Self {
            machine,
            rules,
            remembered,
            table: Table::new(width, 1),
            targets: Targets::new(width),
            pending: 0,
            question_every: (WORK / (extent.work + extent.scalars).max(1)).clamp(1, TRANSITIONS),
            depth: 0,
            level_end: 1,
            peak_bytes: 0,
            at: Transition::new(width, rules),
            #[cfg(test)]
            ahead: 0,
        }
    }

    /// Searches until everything is explored, an error is found, or the budget runs out.
    pub fn run(&mut self, budget: &mut Budget<'_>) -> Refinement {
        let mut explored = self.explore(budget);
        if explored.is_err() {
            // The states that were reached before.
            explored = self.number_targets(budget).map_err(|stop| (0, stop)).and(explored);
        }
        if self.table.len() > self.level_end {
            self.depth += 1;
        }
        let verdict = match explored {
            Ok(()) if self.targets.needs_nodes => RefinementVerdict::Unknown(Unfinished::Nodes),
            Ok(()) => RefinementVerdict::Verified,
            Err((_, Stuck::Budget(cause))) => RefinementVerdict::Unknown(cause),
            Err((at, Stuck::At(end))) => {
                let last = std::mem::take(&mut self.at.moves);
                self.verdict(at, &last, end)
            }
            Err((at, Stuck::InGuard(fault))) => {
                RefinementVerdict::InObject { moves: self.path(at, &[]), fault }
            }
        };
        Refinement {
            verdict,
            states: self.table.len(),
            transitions: self.targets.transitions,
            depth: self.depth,
            possibilities: self.remembered.world.known().len(),
            peak_bytes: self.peak_bytes.max(self.bytes()),
        }
    }

    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<(), (u32, Stuck)> {
        let mut first = vec![0; self.remembered.width()];
        self.remembered.states.write_initial(&mut first);
        let initial = self.remembered.world.known().initial();
        first[self.remembered.possibilities_at()] = initial.number();
        self.table.insert(&first, &[0]);
        let mut number = 0;
        while number < self.table.len() {
            if number == self.level_end {
                self.level_end = self.table.len();
                self.depth += 1;
            }
            let next = self.level_end.min(number + ahead::MOST);
            let mut ahead = match budget.threads.get() {
                threads if threads > 1 && next - number >= ahead::FEWEST => {
                    let Self { rules, remembered, table, .. } = &*self;
                    let view = View { rules: *rules, remembered, table };
                    view.expand(number as u32..next as u32, threads)
                }
                _ => Ahead::default(),
            };
            for number in number as u32..next as u32 {
                let expanded = self.expand(number, &mut ahead, budget);
                expanded
                    .and_then(|()| self.number_some(number + 1, budget))
                    .map_err(|stuck| (number, stuck))?;
            }
            number = next;
        }
        Ok(())
    }

    /// Takes the transitions of a state that threads have expanded, or expands it.
    fn expand(
        &mut self,
        number: u32,
        ahead: &mut Ahead,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stuck> {
        let Self { rules, remembered, table, targets, at, peak_bytes, .. } = self;
        let (every, states, in_table) = (self.question_every, table.len() as u64, table.bytes());
        let (frontier, depth) = (states - u64::from(number), self.depth as u32);
        let mut ask = |transitions: u64, remembered: &dyn Fn() -> usize| {
            if !transitions.is_multiple_of(every) {
                return Ok(());
            }
            let bytes = in_table + remembered();
            *peak_bytes = (*peak_bytes).max(bytes);
            let progress = Progress { states, frontier, depth, bytes: bytes as u64 };
            match () {
                () if bytes > budget.memory => Err(Unfinished::Memory),
                () if !(budget.proceed)(&progress) => Err(Unfinished::Ended),
                () => Ok(()),
            }
        };
        let Some((rows, positions)) = ahead.take(number) else {
            let before = targets.sources.len();
            let remembered = Lent::Exclusive(remembered);
            let mut expander = Expander { rules: *rules, remembered, at };
            expander.expand(number, table, targets, &mut ask)?;
            self.pending += targets.sources.len() - before;
            return Ok(());
        };
        #[cfg(test)]
        {
            self.ahead += 1;
        }
        self.pending += positions.len();
        for position in positions {
            targets.transitions += 1;
            ask(targets.transitions, &|| remembered.bytes()).map_err(Stuck::Budget)?;
            if rows.may_be_new(position) {
                targets.push(rows.row(position), number);
            }
        }
        Ok(())
    }

    /// Numbers targets if they are many. `next`: state to be expanded next.
    fn number_some(&mut self, next: u32, budget: &Budget<'_>) -> Result<(), Stuck> {
        let most = budget.states.min(u32::MAX as usize);
        let is_full = self.pending >= Batch::ROWS || self.table.len() + self.pending > most;
        match is_full || next as usize == self.level_end {
            true => self.number_targets(budget),
            false => Ok(()),
        }
    }

    /// Numbers the targets of the transitions so far, in their order.
    fn number_targets(&mut self, budget: &Budget<'_>) -> Result<(), Stuck> {
        let most = budget.states.min(u32::MAX as usize);
        self.table.look_up(&mut self.targets.rows);
        let mut numbered = Ok(());
        for position in 0..self.targets.sources.len() {
            if self.targets.rows.may_be_new(position) {
                let row = self.targets.rows.row(position);
                if self.table.len() >= most && self.table.find(row).is_none() {
                    numbered = Err(Stuck::Budget(Unfinished::States));
                    break;
                }
                let growth = self.table.growth();
                let bytes = if growth > 0 { self.bytes() + growth } else { 0 };
                if bytes > budget.memory {
                    numbered = Err(Stuck::Budget(Unfinished::Memory));
                    break;
                }
                self.peak_bytes = self.peak_bytes.max(bytes);
            }
            let source = self.targets.sources[position];
            self.table.insert_from(&self.targets.rows, position, &[source]);
        }
        self.targets.truncate(0);
        self.pending = 0;
        numbered
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.remembered.bytes()
    }
}
