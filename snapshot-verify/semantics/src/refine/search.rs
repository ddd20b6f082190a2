//! Product of algorithm, client and specification, breadth-first.

use snapshot_core::Process;

use super::clients::World;
use super::subsets::{Letter, LetterId, Possibilities};
use super::{Budget, Means, Progress, Refinement, RefinementVerdict, Unfinished};
use crate::interpret::{Fault, FaultKind, Machine, Move, MoveKind};
use crate::product::{Batch, EventId, Made, OrderId, Prospect, States, Table};

/// Most moves between two calls of `proceed`, and most evaluations and copied scalars.
const MOVES: u64 = 4096;
const WORK: u64 = 1 << 18;

/// Most moves of one transition, so that a process that spins alone does not spin for ever.
const FUSED: usize = 32;

/// A search. A row consists of a state ([`States`]), the set of configurations, and the progress of
/// the client.
pub struct Search<'m, 'p, W> {
    pub(super) machine: &'m Machine<'p>,
    means: Means,
    /// True if some operations take effect at points.
    pub(super) has_points: bool,
    /// True if operations begin and end beside their accesses only.
    is_prompt: bool,
    pub(super) states: States<'m, 'p>,
    pub(super) world: W,
    /// Letter of each event.
    letters: Vec<LetterId>,
    pub(super) table: Table,
    /// Targets of transitions, not yet numbered, and their sources.
    targets: Batch,
    sources: Vec<u32>,
    transitions: u64,
    /// Number of moves between two calls of `proceed`: smaller if a move may take long.
    question_every: u64,
    /// Depth of the states being expanded.
    depth: usize,
    /// First state of the next level.
    level_end: usize,
    peak_bytes: usize,
    /// Row being expanded, and the prospect of each process's next step.
    pub(super) from: Vec<u32>,
    prospects: Vec<Prospect>,
    /// Target row of a transition, its moves, and the new order of the processes.
    pub(super) to: Vec<u32>,
    pub(super) moves: Vec<Move>,
    pub(super) order: Option<OrderId>,
    /// True if some step needed more nodes than the limit.
    needs_nodes: bool,
}

/// Reason why the moves end with this one.
pub(super) enum End {
    /// The specification does not allow the move.
    Forbidden(Possibilities, LetterId),
    Fault(Fault),
    /// The specification itself is faulty.
    InObject(Fault),
}

/// Reason why the search ends.
enum Stop {
    /// Ends at the last move of the transition being made.
    At(End),
    /// A guard has no meaning in the row being expanded.
    InGuard(Fault),
    Budget(Unfinished),
}

impl<'m, 'p, W: World> Search<'m, 'p, W> {
    /// Creates a search of all executions in a world.
    pub fn new(machine: &'m Machine<'p>, world: W, means: Means) -> Self {
        let (n, extent) = (machine.processes(), machine.extent());
        let states = States::new(machine, means.forgetting, means.symmetry && world.is_symmetric());
        let width = states.width() + 2;
        Self {
            machine,
            means,
            has_points: world.has_points(),
            is_prompt: means.fusion && world.is_free(),
            states,
            world,
            letters: Vec::new(),
            table: Table::new(width, 1),
            targets: Batch::new(width),
            sources: Vec::new(),
            transitions: 0,
            question_every: (WORK / (extent.work + extent.scalars).max(1)).clamp(1, MOVES),
            depth: 0,
            level_end: 1,
            peak_bytes: 0,
            from: vec![0; width],
            prospects: vec![Prospect::default(); n],
            to: vec![0; width],
            moves: Vec::new(),
            order: None,
            needs_nodes: false,
        }
    }

    /// Searches until everything is explored, an error is found, or the budget runs out.
    pub fn run(mut self, budget: &mut Budget<'_>) -> Refinement {
        let mut explored = self.explore(budget);
        if explored.is_err() {
            // The states that were reached before.
            explored = self.number_targets(budget).map_err(|stop| (0, stop)).and(explored);
        }
        if self.table.len() > self.level_end {
            self.depth += 1;
        }
        let verdict = match explored {
            Ok(()) if self.needs_nodes => RefinementVerdict::Unknown(Unfinished::Nodes),
            Ok(()) => RefinementVerdict::Verified,
            Err((_, Stop::Budget(cause))) => RefinementVerdict::Unknown(cause),
            Err((at, Stop::At(end))) => {
                let last = std::mem::take(&mut self.moves);
                self.verdict(at, &last, end)
            }
            Err((at, Stop::InGuard(fault))) => {
                RefinementVerdict::InObject { moves: self.path(at, &[]), fault }
            }
        };
        Refinement {
            verdict,
            states: self.table.len(),
            transitions: self.transitions,
            depth: self.depth,
            possibilities: self.world.known().len(),
            peak_bytes: self.peak_bytes.max(self.bytes()),
        }
    }

    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<(), (u32, Stop)> {
        let mut first = vec![0; self.to.len()];
        self.states.write_initial(&mut first);
        first[self.possibilities_at()] = self.world.known().initial().number();
        self.table.insert(&first, &[0]);
        let mut number = 0;
        while (number as usize) < self.table.len() {
            if number as usize == self.level_end {
                self.level_end = self.table.len();
                self.depth += 1;
            }
            self.table.copy(number, &mut self.from);
            self.expand(number, budget).map_err(|stop| (number, stop))?;
            number += 1;
            if self.targets.len() >= Batch::ROWS || number as usize == self.level_end {
                self.number_targets(budget).map_err(|stop| (number, stop))?;
            }
        }
        Ok(())
    }

    /// Numbers the targets of the transitions so far, in their order.
    fn number_targets(&mut self, budget: &Budget<'_>) -> Result<(), Stop> {
        self.table.look_up(&mut self.targets);
        let mut numbered = Ok(());
        for (position, source) in self.sources.iter().enumerate() {
            let growth = self.table.growth();
            if growth > 0 && self.targets.may_be_new(position) {
                let bytes = self.bytes() + growth;
                if bytes > budget.memory {
                    numbered = Err(Stop::Budget(Unfinished::Memory));
                    break;
                }
                self.peak_bytes = self.peak_bytes.max(bytes);
            }
            self.table.insert_from(&self.targets, position, &[*source]);
        }
        self.sources.clear();
        self.targets.truncate(0);
        numbered
    }

    fn expand(&mut self, number: u32, budget: &mut Budget<'_>) -> Result<(), Stop> {
        for process in 0..self.machine.processes() {
            self.prospects[process] = self.prospect(Process::from_index(process));
        }
        let put_first = if self.means.partial_order { self.put_first() } else { None };
        if let Some(process) = put_first {
            let is_made = self.follow(number, Move::step(process), None, budget)?;
            // Targets that are not numbered yet get larger numbers.
            if is_made && self.table.find(&self.to).is_none_or(|to| to > number) {
                return Ok(());
            }
        }
        // Only one step is tried as the first, though another might succeed.
        let processes = (0..self.machine.processes()).map(Process::from_index);
        for process in processes.filter(|process| Some(*process) != put_first) {
            let prospect = self.prospects[process.index()];
            if !prospect.is_idle {
                for outcome in 0..self.states.outcomes(&self.from, process, prospect) {
                    self.follow(number, Move::taking(process, outcome), None, budget)?;
                }
                continue;
            }
            let (progress, possibilities) = (self.progress(), self.possibilities());
            let choices = self.world.choices(progress, possibilities, process);
            for &(call, after) in &*choices.map_err(Stop::InGuard)? {
                let made = Move { process, kind: MoveKind::Begin(call) };
                self.follow(number, made, Some(after), budget)?;
            }
        }
        Ok(())
    }

    /// Returns a process whose next step suffices to be explored, if it leads to a state that was
    /// not expanded yet.
    fn put_first(&mut self) -> Option<Process> {
        self.to.copy_from_slice(&self.from);
        let processes = (0..self.machine.processes()).map(Process::from_index);
        let mut processes = processes;
        processes.find(|process| self.is_first(*process, self.prospects[process.index()]))
    }

    /// Returns true if, in the row `to`, the next step of a process suffices to be explored.
    fn is_first(&mut self, process: Process, prospect: Prospect) -> bool {
        match prospect.responds {
            true => self.is_prompt || self.is_decided(process),
            false => self.states.is_alone(&self.to, process, prospect),
        }
    }

    /// Returns true if, in the row `to`, every configuration allows the response that a process is
    /// about to make.
    fn is_decided(&mut self, process: Process) -> bool {
        let made = self.states.step(&self.to, process, 0);
        let Ok(Made { event: Some(event), .. }) = made else { return false };
        let letter = self.letter(event);
        let possibilities = Possibilities::of_number(self.to[self.possibilities_at()]);
        self.world.specification().successor(possibilities, letter).keeps_all
    }

    pub(super) fn prospect(&mut self, process: Process) -> Prospect {
        self.states.prospect(&self.from, process)
    }

    /// Makes a transition from the row being expanded, and adds its target. Returns false if the
    /// target needs more nodes than the limit.
    fn follow(
        &mut self,
        number: u32,
        made: Move,
        begun: Option<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Stop> {
        self.transitions += 1;
        if self.transitions.is_multiple_of(self.question_every) {
            let bytes = self.bytes();
            self.peak_bytes = self.peak_bytes.max(bytes);
            let states = self.table.len() as u64;
            let progress = Progress {
                states,
                frontier: states - u64::from(number),
                depth: self.depth as u32,
                bytes: bytes as u64,
            };
            if bytes > budget.memory {
                return Err(Stop::Budget(Unfinished::Memory));
            }
            if !(budget.proceed)(&progress) {
                return Err(Stop::Budget(Unfinished::Ended));
            }
        }
        match self.succeed(made, begun) {
            Ok(()) => {}
            Err(End::Fault(Fault { kind: FaultKind::NodesExhausted { .. }, .. })) => {
                self.needs_nodes = true;
                return Ok(false);
            }
            Err(end) => return Err(Stop::At(end)),
        }
        let most = budget.states.min(u32::MAX as usize);
        if self.table.len() + self.targets.len() >= most {
            self.number_targets(budget)?;
            if self.table.len() >= most {
                return Err(Stop::Budget(Unfinished::States));
            }
        }
        self.targets.push(&self.to);
        self.sources.push(number);
        Ok(true)
    }

    /// Makes a transition from the row `from`, and stores the next row in `to`. `begun`: progress
    /// of the client after an invocation.
    pub(super) fn succeed(&mut self, first: Move, begun: Option<u32>) -> Result<(), End> {
        self.to.copy_from_slice(&self.from);
        self.moves.clear();
        self.make(first)?;
        if let Some(progress) = begun {
            let progress_at = self.progress_at();
            self.to[progress_at] = progress;
        }
        if self.means.fusion {
            let process = first.process;
            let mut is_late = self.is_prompt && begun.is_some();
            while self.moves.len() < FUSED && self.goes_on(process, &mut is_late) {
                self.make(Move::step(process))?;
            }
        }
        self.normalise();
        Ok(())
    }

    /// Returns true if the next step of a process belongs to the transition that led to the row
    /// `to`. `is_late`: its operation has begun, and made no step yet on which others depend.
    fn goes_on(&mut self, process: Process, is_late: &mut bool) -> bool {
        let prospect = self.states.prospect(&self.to, process);
        if prospect.is_idle || prospect.branches {
            return false;
        }
        let may_be = self.means.partial_order || (self.is_prompt && prospect.responds);
        (may_be && self.is_first(process, prospect)) || std::mem::replace(is_late, false)
    }

    /// Makes a move from the row `to`, and stores the next row there, not yet normalised.
    pub(super) fn make(&mut self, made: Move) -> Result<(), End> {
        self.moves.push(made);
        let process = made.process;
        let step = match made.kind {
            MoveKind::Begin(call) => self.states.begin(&self.to, process, call),
            MoveKind::Step | MoveKind::Take(_) => {
                self.states.step(&self.to, process, made.outcome())
            }
        };
        let step = step.map_err(End::Fault)?;
        let possibilities_at = self.possibilities_at();
        let mut possibilities = Possibilities::of_number(self.to[possibilities_at]);
        if self.has_points {
            for _ in 0..step.points {
                let letter = self.world.specification().letter(Letter::Point(process));
                possibilities = self.possibilities_after(possibilities, letter)?;
            }
        }
        if let Some(event) = step.event {
            let letter = self.letter(event);
            possibilities = self.possibilities_after(possibilities, letter)?;
            if !matches!(made.kind, MoveKind::Begin(_)) {
                let progress_at = self.progress_at();
                self.to[progress_at] = self.world.ended(self.to[progress_at]);
            }
        }
        self.states.apply(&mut self.to, process, &step);
        if self.has_points {
            possibilities = self.past_points(possibilities, process);
        }
        self.to[possibilities_at] = possibilities.number();
        Ok(())
    }

    /// Normalises the row `to`.
    fn normalise(&mut self) {
        self.order = self.states.normalise(&mut self.to);
        let Some(number) = self.order else { return };
        let (possibilities_at, progress_at) = (self.possibilities_at(), self.progress_at());
        let possibilities = Possibilities::of_number(self.to[possibilities_at]);
        let order = (number, self.states.order(number));
        let (progress, possibilities) =
            self.world.reordered(self.to[progress_at], possibilities, order);
        self.to[possibilities_at] = possibilities.number();
        self.to[progress_at] = progress;
    }

    /// Returns the letter of an event.
    fn letter(&mut self, event: EventId) -> LetterId {
        for number in self.letters.len()..self.states.events() {
            let event = self.states.event(EventId(number as u32)).clone();
            self.letters.push(self.world.specification().letter(Letter::Event(event)));
        }
        self.letters[event.0 as usize]
    }

    fn possibilities_after(
        &mut self,
        before: Possibilities,
        letter: LetterId,
    ) -> Result<Possibilities, End> {
        let specification = self.world.specification();
        let after = specification.successor(before, letter).after;
        match specification.take_fault() {
            Some(fault) => Err(End::InObject(fault)),
            None => after.ok_or(End::Forbidden(before, letter)),
        }
    }

    /// Removes configurations in which the open operation still needs a point, if the process of
    /// the row `to` has passed its last one. If none remains, the response reports the error.
    fn past_points(&mut self, possibilities: Possibilities, process: Process) -> Possibilities {
        if !self.states.prospect(&self.to, process).responds {
            return possibilities;
        }
        let specification = self.world.specification();
        let letter = specification.letter(Letter::Past(process));
        specification.successor(possibilities, letter).after.unwrap_or(possibilities)
    }

    pub(super) const fn possibilities_at(&self) -> usize {
        self.states.width()
    }

    pub(super) const fn progress_at(&self) -> usize {
        self.states.width() + 1
    }

    pub(super) fn possibilities(&self) -> Possibilities {
        Possibilities::of_number(self.from[self.possibilities_at()])
    }

    pub(super) fn progress(&self) -> u32 {
        self.from[self.progress_at()]
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.states.bytes() + self.world.known().bytes()
    }
}
