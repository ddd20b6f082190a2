//! Product of algorithm, client and specification, breadth-first.

use snapshot_core::Process;

use super::clients::World;
use super::subsets::{Letter, LetterId, Possibilities};
use super::{Budget, Means, Progress, Refinement, RefinementVerdict, Unfinished};
use crate::interpret::{Event, Fault, FaultKind, Machine, Move, MoveErrorKind, MoveKind};
use crate::product::{EventId, Made, OrderId, Prospect, States, Table, reordered};

/// Most moves between two calls of `proceed`, and most evaluations and copied scalars.
const MOVES: u64 = 4096;
const WORK: u64 = 1 << 18;

/// A search. A row consists of a state ([`States`]), the set of configurations, and the progress of
/// the client.
pub struct Search<'m, 'p, W> {
    machine: &'m Machine<'p>,
    means: Means,
    /// True if some operations take effect at points.
    has_points: bool,
    states: States<'m, 'p>,
    world: W,
    /// Letter of each event.
    letters: Vec<LetterId>,
    table: Table,
    transitions: u64,
    /// Number of moves between two calls of `proceed`: smaller if a move may take long.
    question_every: u64,
    /// Depth of the states being expanded.
    depth: usize,
    /// First state of the next level.
    level_end: usize,
    peak_bytes: usize,
    /// Row being expanded, and the prospect of each process's next step.
    from: Vec<u32>,
    prospects: Vec<Prospect>,
    /// Target row of a move, and the new order of its processes.
    to: Vec<u32>,
    order: Option<OrderId>,
    /// True if some step needed more nodes than the limit.
    needs_nodes: bool,
}

/// Reason why the moves end with this one.
enum End {
    /// The specification does not allow the move.
    Forbidden(Possibilities, LetterId),
    Fault(Fault),
    /// The specification itself is faulty.
    InObject(Fault),
}

/// Reason why the search ends.
enum Stop {
    /// Ends at a move from the row being expanded.
    At(Move, End),
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
            states,
            world,
            letters: Vec::new(),
            table: Table::new(width),
            transitions: 0,
            question_every: (WORK / (extent.work + extent.scalars).max(1)).clamp(1, MOVES),
            depth: 0,
            level_end: 1,
            peak_bytes: 0,
            from: vec![0; width],
            prospects: vec![Prospect::default(); n],
            to: vec![0; width],
            order: None,
            needs_nodes: false,
        }
    }

    /// Searches until everything is explored, an error is found, or the budget runs out.
    pub fn run(mut self, budget: &mut Budget<'_>) -> Refinement {
        let explored = self.explore(budget);
        if self.table.len() > self.level_end {
            self.depth += 1;
        }
        let verdict = match explored {
            Ok(()) if self.needs_nodes => RefinementVerdict::Unknown(Unfinished::Nodes),
            Ok(()) => RefinementVerdict::Verified,
            Err((_, Stop::Budget(cause))) => RefinementVerdict::Unknown(cause),
            Err((at, Stop::At(last, end))) => self.verdict(at, last, end),
            Err((at, Stop::InGuard(fault))) => {
                RefinementVerdict::InObject { moves: self.path(at, None), fault }
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
        self.table.insert(&first, 0);
        let mut number = 0;
        while (number as usize) < self.table.len() {
            if number as usize == self.level_end {
                self.level_end = self.table.len();
                self.depth += 1;
            }
            self.from.copy_from_slice(self.table.row(number));
            self.expand(number, budget).map_err(|stop| (number, stop))?;
            number += 1;
        }
        Ok(())
    }

    fn expand(&mut self, number: u32, budget: &mut Budget<'_>) -> Result<(), Stop> {
        for process in 0..self.machine.processes() {
            self.prospects[process] = self.prospect(Process::from_index(process));
        }
        let put_first = if self.means.partial_order { self.put_first() } else { None };
        if let Some(process) = put_first
            && self.follow(number, Move::step(process), budget)? > number
        {
            return Ok(());
        }
        // Only one step is tried as the first, though another might succeed.
        let processes = (0..self.machine.processes()).map(Process::from_index);
        for process in processes.filter(|process| Some(*process) != put_first) {
            if !self.prospects[process.index()].is_idle {
                let prospect = self.prospects[process.index()];
                for outcome in 0..self.states.outcomes(&self.from, process, prospect) {
                    self.follow(number, Move::taking(process, outcome), budget)?;
                }
                continue;
            }
            let (progress, possibilities) = (self.progress(), self.possibilities());
            let choices = self.world.choices(progress, possibilities, process);
            let choices = choices.map_err(Stop::InGuard)?.len();
            for choice in 0..choices {
                let choices = self.world.choices(progress, possibilities, process);
                let (call, _) = choices.map_err(Stop::InGuard)?[choice];
                let kind = MoveKind::Begin(call);
                self.follow(number, Move { process, kind }, budget)?;
            }
        }
        Ok(())
    }

    /// Returns a process whose next step suffices to be explored, if it leads to a state that was
    /// not expanded yet.
    fn put_first(&mut self) -> Option<Process> {
        let processes = (0..self.machine.processes()).map(Process::from_index);
        let mut processes = processes;
        processes.find(|process| {
            let prospect = self.prospects[process.index()];
            prospect.is_alone || (prospect.responds && self.is_decided(*process))
        })
    }

    /// Returns true if every configuration allows the response that a process is about to make.
    fn is_decided(&mut self, process: Process) -> bool {
        let made = self.states.step(&self.from, process, 0);
        let Ok(Made { event: Some(event), .. }) = made else { return false };
        let letter = self.letter(event);
        let possibilities = self.possibilities();
        self.world.specification().successor(possibilities, letter).keeps_all
    }

    fn prospect(&mut self, process: Process) -> Prospect {
        self.states.prospect(&self.from, process)
    }

    /// Makes a move from the row being expanded and returns the number of its target.
    fn follow(&mut self, number: u32, made: Move, budget: &mut Budget<'_>) -> Result<u32, Stop> {
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
        match self.succeed(made) {
            Ok(()) => {}
            Err(End::Fault(Fault { kind: FaultKind::NodesExhausted { .. }, .. })) => {
                self.needs_nodes = true;
                return Ok(number);
            }
            Err(end) => return Err(Stop::At(made, end)),
        }
        let growth = self.table.growth();
        if growth > 0 {
            let bytes = self.bytes() + growth;
            if bytes > budget.memory {
                return Err(Stop::Budget(Unfinished::Memory));
            }
            self.peak_bytes = self.peak_bytes.max(bytes);
        }
        if self.table.len() >= budget.states.min(u32::MAX as usize) {
            return Err(Stop::Budget(Unfinished::States));
        }
        Ok(self.table.insert(&self.to, number))
    }

    /// Makes a move from the row `from`, and stores the next row in `to`.
    fn succeed(&mut self, made: Move) -> Result<(), End> {
        let process = made.process;
        let (step, progress) = match made.kind {
            MoveKind::Begin(call) => {
                let begun = self.states.begin(&self.from, process, call);
                let (progress, possibilities) = (self.progress(), self.possibilities());
                let choices = self.world.choices(progress, possibilities, process);
                let choices = choices.map_err(End::InObject)?;
                let chosen = choices.iter().find(|(choice, _)| *choice == call);
                (begun, chosen.expect("only what a client may begin is begun").1)
            }
            MoveKind::Step | MoveKind::Take(_) => {
                let outcome = made.outcome();
                (self.states.step(&self.from, process, outcome), self.progress())
            }
        };
        let step = step.map_err(End::Fault)?;
        let mut possibilities = self.possibilities();
        if self.has_points {
            for _ in 0..step.points {
                let letter = self.world.specification().letter(Letter::Point(process));
                possibilities = self.possibilities_after(possibilities, letter)?;
            }
        }
        if let Some(event) = step.event {
            let letter = self.letter(event);
            possibilities = self.possibilities_after(possibilities, letter)?;
        }
        self.to.copy_from_slice(&self.from);
        self.states.apply(&mut self.to, process, &step);
        self.order = self.states.normalise(&mut self.to);
        let mut progress = progress;
        let mut process = process;
        if let Some(number) = self.order {
            let order = self.states.order(number);
            let is_it = |before: &u32| *before as usize == process.index();
            let place = order.iter().position(is_it).expect("it is one of all processes");
            process = Process::from_index(place);
            (progress, possibilities) =
                self.world.reordered(progress, possibilities, (number, order));
        }
        if self.has_points {
            possibilities = self.past_points(possibilities, process);
        }
        let (possibilities_at, progress_at) = (self.possibilities_at(), self.progress_at());
        self.to[possibilities_at] = possibilities.number();
        self.to[progress_at] = progress;
        Ok(())
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

    fn verdict(&mut self, at: u32, last: Move, end: End) -> RefinementVerdict {
        let moves = self.path(at, Some(last));
        // The interpreter names nodes in the order of their creation, and nodes that rows have
        // forgotten may exhaust its limit.
        let fault = self.machine.run(&moves).err().and_then(|error| match error.kind {
            MoveErrorKind::Fault(fault) => Some(fault),
            _ => None,
        });
        if matches!(&fault, Some(Fault { kind: FaultKind::NodesExhausted { .. }, .. })) {
            return RefinementVerdict::Unknown(Unfinished::Nodes);
        }
        match end {
            End::Fault(found) => RefinementVerdict::Faulty { moves, fault: fault.unwrap_or(found) },
            End::InObject(fault) => RefinementVerdict::InObject { moves, fault },
            End::Forbidden(before, letter) if self.has_points && self.allows(&moves) => {
                let process = moves.last().map_or(last.process, |last| last.process);
                let misplacement = self.world.misplaced(before, letter, process);
                RefinementVerdict::Misplaced { moves, misplacement }
            }
            End::Forbidden(..) => RefinementVerdict::Violation(moves),
        }
    }

    /// Returns true if an execution is linearizable when operations may take effect anywhere.
    fn allows(&self, moves: &[Move]) -> bool {
        let mut specification = self.world.anywhere();
        let mut possibilities = specification.initial();
        let mut state = self.machine.initial().clone();
        for made in moves {
            let process = made.process;
            let action = match made.kind {
                MoveKind::Begin(call) => self.machine.begin(&mut state, process, call).map(Some),
                MoveKind::Step | MoveKind::Take(_) => {
                    self.machine.advance_taking(&mut state, process, made.outcome())
                }
            };
            let Ok(action) = action else { return true };
            if let Some(action) = action {
                match specification.after(possibilities, &Event { process, action }) {
                    Some(after) => possibilities = after,
                    None => return false,
                }
            }
        }
        true
    }

    /// Returns the moves that lead to a row, and optionally one more. Rows store neither the move
    /// by which they were reached nor the identity of reordered processes. The moves are found
    /// again, and the identities are derived from the initial row and the orders since.
    fn path(&mut self, mut number: u32, last: Option<Move>) -> Vec<Move> {
        let mut rows = Vec::new();
        while number > 0 {
            rows.push(number);
            number = self.table.parent(number);
        }
        rows.reverse();
        let mut moves = Vec::new();
        let mut names: Vec<u32> = (0..self.machine.processes() as u32).collect();
        let named = |made: Move, names: &[u32]| {
            let process = names[made.process.index()] as usize;
            Move { process: Process::from_index(process), ..made }
        };
        for &row in &rows {
            self.from.copy_from_slice(self.table.row(self.table.parent(row)));
            let made = self.move_to(row);
            moves.push(named(made, &names));
            if let Some(order) = self.order {
                names = reordered(&names, self.states.order(order));
            }
        }
        moves.extend(last.map(|last| named(last, &names)));
        if self.machine.program().frees() {
            let rows: Vec<&[u32]> = rows.iter().map(|row| self.table.row(*row)).collect();
            self.states.take_outcomes(self.machine.initial(), &mut moves, &rows);
        }
        moves
    }

    /// Finds a move from the row `from` to another row.
    fn move_to(&mut self, number: u32) -> Move {
        for process in (0..self.machine.processes()).map(Process::from_index) {
            let prospect = self.prospect(process);
            let moves: Vec<Move> = if prospect.is_idle {
                let (progress, possibilities) = (self.progress(), self.possibilities());
                let choices = self.world.choices(progress, possibilities, process);
                let choices = choices.unwrap_or_default().iter();
                choices.map(|(call, _)| Move { process, kind: MoveKind::Begin(*call) }).collect()
            } else {
                let outcomes = 0..self.states.outcomes(&self.from, process, prospect);
                outcomes.map(|outcome| Move::taking(process, outcome)).collect()
            };
            for made in moves {
                if self.succeed(made).is_ok() && self.to == self.table.row(number) {
                    return made;
                }
            }
        }
        unreachable!("a row was reached from its parent")
    }

    const fn possibilities_at(&self) -> usize {
        self.states.width()
    }

    const fn progress_at(&self) -> usize {
        self.states.width() + 1
    }

    fn possibilities(&self) -> Possibilities {
        Possibilities::of_number(self.from[self.possibilities_at()])
    }

    fn progress(&self) -> u32 {
        self.from[self.progress_at()]
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.states.bytes() + self.world.known().bytes()
    }
}
