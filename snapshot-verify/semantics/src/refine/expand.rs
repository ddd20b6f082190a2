//! Expands states of the product: makes their transitions.
//!
//! All that a transition needs is remembered by the numbers of a row. So searches that share what is
//! remembered expand most states, too, and leave the others to the search that may add to it.

use std::sync::Arc;

use snapshot_core::Process;

use super::clients::{Choice, World};
use super::subsets::{Letter, LetterId, Possibilities, Subsets};
use super::{Techniques, Unfinished};
use crate::interpret::{Fault, FaultKind, Move, MoveKind};
use crate::product::{Batch, EventId, Lent, OrderId, Prospect, Scratch, States, Table, Unknown};

/// Most moves of one transition, so that a process that spins alone does not spin for ever.
const FUSED: usize = 32;

/// Remembered steps of algorithm, client and specification. A row consists of a state ([`States`]),
/// the set of configurations, and the progress of the client.
pub struct Remembered<'m, 'p, W> {
    pub states: States<'m, 'p>,
    pub world: W,
    /// Letter of each event.
    letters: Vec<LetterId>,
}

/// Which transitions are made.
#[derive(Clone, Copy)]
pub struct Rules {
    pub processes: usize,
    partial_order: bool,
    fusion: bool,
    /// True if some operations take effect at points.
    pub has_points: bool,
    /// True if operations begin and end beside their accesses only.
    is_prompt: bool,
}

/// Transition being made.
pub struct Transition {
    /// Row being expanded, and the prospect of each process's next step.
    pub from: Vec<u32>,
    prospects: Vec<Prospect>,
    /// Target row, the moves to it, and the new order of the processes.
    pub to: Vec<u32>,
    pub moves: Vec<Move>,
    pub order: Option<OrderId>,
    scratch: Scratch,
}

/// Targets of transitions, not yet numbered.
pub struct Targets {
    pub rows: Batch,
    /// State that was expanded, per row.
    pub sources: Vec<u32>,
    /// Number of transitions.
    pub transitions: u64,
    /// True if some step needed more nodes than the limit.
    pub needs_nodes: bool,
}

/// Makes transitions.
pub struct Expander<'a, 'm, 'p, W> {
    pub rules: Rules,
    pub remembered: Lent<'a, Remembered<'m, 'p, W>>,
    pub at: &'a mut Transition,
}

/// Reason why the moves end with this one.
pub enum End {
    /// The specification does not allow the move.
    Forbidden(Possibilities, LetterId),
    Fault(Fault),
    /// The specification itself is faulty.
    InObject(Fault),
    /// The effect of the move is unknown.
    Unknown,
}

/// Reason why a state is not expanded.
pub enum Stuck {
    /// Ends at the last move of the transition being made.
    At(End),
    /// A guard has no meaning in the row being expanded.
    InGuard(Fault),
    Budget(Unfinished),
}

/// Asks before a transition whether to go on, given the number of transitions and the memory use of
/// what is remembered.
pub type Ask<'a> = dyn FnMut(u64, &dyn Fn() -> usize) -> Result<(), Unfinished> + 'a;

impl From<Unknown> for End {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

impl From<Unknown> for Stuck {
    fn from(_: Unknown) -> Self {
        Self::At(End::Unknown)
    }
}

impl Rules {
    pub fn new(means: Techniques, world: &impl World, processes: usize) -> Self {
        Self {
            processes,
            partial_order: means.partial_order,
            fusion: means.fusion,
            has_points: world.has_points(),
            is_prompt: means.fusion && world.is_free(),
        }
    }

    pub fn processes(self) -> impl Iterator<Item = Process> {
        (0..self.processes).map(Process::from_index)
    }
}

impl Transition {
    pub fn new(width: usize, rules: Rules) -> Self {
        Self {
            from: vec![0; width],
            prospects: vec![Prospect::default(); rules.processes],
            to: vec![0; width],
            moves: Vec::new(),
            order: None,
            scratch: Scratch::default(),
        }
    }
}

impl Targets {
    pub const fn new(width: usize) -> Self {
        Self { rows: Batch::new(width), sources: Vec::new(), transitions: 0, needs_nodes: false }
    }

    pub fn push(&mut self, row: &[u32], source: u32) {
        self.rows.push(row);
        self.sources.push(source);
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
        self.sources.truncate(rows);
    }
}

impl<'m, 'p, W: World> Remembered<'m, 'p, W> {
    pub const fn new(states: States<'m, 'p>, world: W) -> Self {
        Self { states, world, letters: Vec::new() }
    }

    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.world.known().bytes()
    }

    pub fn width(&self) -> usize {
        self.states.width() + 2
    }

    pub fn possibilities_at(&self) -> usize {
        self.states.width()
    }

    fn progress_at(&self) -> usize {
        self.states.width() + 1
    }

    /// Learns the letters of all events.
    fn learn_letters(&mut self) {
        for number in self.letters.len()..self.states.events() {
            let event = self.states.event(EventId(number as u32)).clone();
            self.letters.push(self.world.specification().letter(Letter::Event(event)));
        }
    }
}

impl<'m, 'p, W: World> Expander<'_, 'm, 'p, W> {
    fn specification(&mut self) -> Lent<'_, Subsets<W::Automaton>> {
        self.remembered.part(|all| all.world.known(), |all| all.world.specification())
    }

    /// Makes all transitions from a state, and adds their targets.
    ///
    /// # Errors
    /// At the first transition that ends the search, or that is unknown; then some targets were
    /// added.
    pub fn expand(
        &mut self,
        number: u32,
        table: &Table,
        targets: &mut Targets,
        ask: &mut Ask<'_>,
    ) -> Result<(), Stuck> {
        table.copy(number, &mut self.at.from);
        for process in self.rules.processes() {
            self.at.prospects[process.index()] = self.prospect(process)?;
        }
        let put_first = if self.rules.partial_order { self.put_first()? } else { None };
        if let Some(process) = put_first {
            let is_made = self.follow((number, Move::step(process)), None, targets, ask)?;
            // Targets that are not numbered yet get larger numbers.
            if is_made && table.find(&self.at.to).is_none_or(|to| to > number) {
                return Ok(());
            }
        }
        // Only one step is tried as the first, though another might succeed.
        for process in self.rules.processes().filter(|process| Some(*process) != put_first) {
            let prospect = self.at.prospects[process.index()];
            if !prospect.is_idle {
                for outcome in 0..self.outcomes(process, prospect) {
                    let made = Move::taking(process, outcome);
                    self.follow((number, made), None, targets, ask)?;
                }
                continue;
            }
            for &(call, after) in &*self.choices(process)? {
                let made = Move { process, kind: MoveKind::Begin(call) };
                self.follow((number, made), Some(after), targets, ask)?;
            }
        }
        Ok(())
    }

    /// Returns the prospect of a process in the row `from`.
    pub fn prospect(&mut self, process: Process) -> Result<Prospect, Unknown> {
        let mut states = states(&mut self.remembered);
        states.prospect(&self.at.from, process)
    }

    /// Returns the number of outcomes of a process's next step from the row `from`.
    pub fn outcomes(&self, process: Process, prospect: Prospect) -> u32 {
        self.remembered.states.outcomes(&self.at.from, process, prospect)
    }

    /// Returns the operations that an idle process may begin in the row `from`.
    pub fn choices(&mut self, process: Process) -> Result<Arc<[Choice]>, Stuck> {
        let all = &*self.remembered;
        let progress = self.at.from[all.progress_at()];
        let possibilities = Possibilities::of_number(self.at.from[all.possibilities_at()]);
        if let Some(known) = all.world.find_choices(progress, possibilities, process) {
            return Ok(known);
        }
        let world = &mut self.remembered.exclusively()?.world;
        world.choices(progress, possibilities, process).map_err(Stuck::InGuard)
    }

    /// Returns a process whose next step suffices to be explored, if it leads to a state that was
    /// not expanded yet.
    fn put_first(&mut self) -> Result<Option<Process>, Unknown> {
        self.at.to.copy_from_slice(&self.at.from);
        for process in self.rules.processes() {
            if self.is_first(process, self.at.prospects[process.index()])? {
                return Ok(Some(process));
            }
        }
        Ok(None)
    }

    /// Returns true if, in the row `to`, the next step of a process suffices to be explored.
    fn is_first(&mut self, process: Process, prospect: Prospect) -> Result<bool, Unknown> {
        if prospect.responds {
            return Ok(self.rules.is_prompt || self.is_decided(process)?);
        }
        let mut states = states(&mut self.remembered);
        states.is_alone(&self.at.to, process, prospect, &mut self.at.scratch)
    }

    /// Returns true if, in the row `to`, every configuration allows the response that a process is
    /// about to make.
    fn is_decided(&mut self, process: Process) -> Result<bool, Unknown> {
        let mut states = states(&mut self.remembered);
        let Ok(made) = states.step(&self.at.to, process, 0)? else { return Ok(false) };
        let Some(event) = made.event else { return Ok(false) };
        let letter = self.letter(event)?;
        let possibilities = self.possibilities();
        Ok(self.specification().successor(possibilities, letter)?.keeps_all)
    }

    /// Makes a transition from the row being expanded, and adds its target. Returns false if the
    /// target needs more nodes than the limit.
    fn follow(
        &mut self,
        (number, made): (u32, Move),
        begun: Option<u32>,
        targets: &mut Targets,
        ask: &mut Ask<'_>,
    ) -> Result<bool, Stuck> {
        targets.transitions += 1;
        let remembered = &*self.remembered;
        ask(targets.transitions, &|| remembered.bytes()).map_err(Stuck::Budget)?;
        match self.succeed(made, begun) {
            Ok(()) => {}
            Err(End::Fault(Fault { kind: FaultKind::NodesExhausted { .. }, .. })) => {
                targets.needs_nodes = true;
                return Ok(false);
            }
            Err(end) => return Err(Stuck::At(end)),
        }
        targets.push(&self.at.to, number);
        Ok(true)
    }

    /// Makes a transition from the row `from`, and stores the next row in `to`. `begun`: progress
    /// of the client after an invocation.
    pub fn succeed(&mut self, first: Move, begun: Option<u32>) -> Result<(), End> {
        self.at.to.copy_from_slice(&self.at.from);
        self.at.moves.clear();
        self.make(first)?;
        if let Some(progress) = begun {
            self.at.to[self.remembered.progress_at()] = progress;
        }
        if self.rules.fusion {
            let process = first.process;
            let mut is_late = self.rules.is_prompt && begun.is_some();
            while self.at.moves.len() < FUSED && self.goes_on(process, &mut is_late)? {
                self.make(Move::step(process))?;
            }
        }
        Ok(self.normalise()?)
    }

    /// Returns true if the next step of a process belongs to the transition that led to the row
    /// `to`. `is_late`: its operation has begun, and made no step yet on which others depend.
    fn goes_on(&mut self, process: Process, is_late: &mut bool) -> Result<bool, Unknown> {
        let mut states = states(&mut self.remembered);
        let prospect = states.prospect(&self.at.to, process)?;
        if prospect.is_idle || prospect.branches {
            return Ok(false);
        }
        let Rules { partial_order, is_prompt, .. } = self.rules;
        let may_be = partial_order || (is_prompt && prospect.responds);
        let is_first = may_be && self.is_first(process, prospect)?;
        Ok(is_first || std::mem::replace(is_late, false))
    }

    /// Makes a move from the row `to`, and stores the next row there, not yet normalised.
    pub fn make(&mut self, made: Move) -> Result<(), End> {
        self.at.moves.push(made);
        let process = made.process;
        let mut states = states(&mut self.remembered);
        let step = match made.kind {
            MoveKind::Begin(call) => states.begin(&self.at.to, process, call),
            MoveKind::Step | MoveKind::Take(_) => states.step(&self.at.to, process, made.outcome()),
        };
        let step = step?.map_err(End::Fault)?;
        let mut possibilities = self.possibilities();
        if self.rules.has_points {
            for _ in 0..step.points {
                let letter = self.specification().letter(Letter::Point(process))?;
                possibilities = self.possibilities_after(possibilities, letter)?;
            }
        }
        if let Some(event) = step.event {
            let letter = self.letter(event)?;
            possibilities = self.possibilities_after(possibilities, letter)?;
            if !matches!(made.kind, MoveKind::Begin(_)) {
                self.end()?;
            }
        }
        self.remembered.states.apply(&mut self.at.to, process, &step);
        if self.rules.has_points {
            possibilities = self.past_points(possibilities, process)?;
        }
        self.at.to[self.remembered.possibilities_at()] = possibilities.number();
        Ok(())
    }

    /// Replaces the progress of the client in the row `to` by that after a response.
    fn end(&mut self) -> Result<(), Unknown> {
        let progress = &mut self.at.to[self.remembered.progress_at()];
        *progress = match self.remembered.world.find_ended(*progress) {
            Some(known) => known,
            None => self.remembered.exclusively()?.world.ended(*progress),
        };
        Ok(())
    }

    /// Normalises the row `to`.
    fn normalise(&mut self) -> Result<(), Unknown> {
        let mut states = states(&mut self.remembered);
        self.at.order = states.normalise(&mut self.at.to, &mut self.at.scratch)?;
        let Some(order) = self.at.order else { return Ok(()) };
        let all = &*self.remembered;
        let (possibilities_at, progress_at) = (all.possibilities_at(), all.progress_at());
        let (progress, possibilities) = (self.at.to[progress_at], self.possibilities());
        let (progress, possibilities) =
            match all.world.find_reordered(progress, possibilities, order) {
                Some(known) => known,
                None => {
                    let Remembered { world, states, .. } = self.remembered.exclusively()?;
                    world.reordered(progress, possibilities, (order, states.order(order)))
                }
            };
        self.at.to[possibilities_at] = possibilities.number();
        self.at.to[progress_at] = progress;
        Ok(())
    }

    /// Returns the letter of an event.
    fn letter(&mut self, event: EventId) -> Result<LetterId, Unknown> {
        if self.remembered.letters.len() <= event.0 as usize {
            self.remembered.exclusively()?.learn_letters();
        }
        Ok(self.remembered.letters[event.0 as usize])
    }

    fn possibilities_after(
        &mut self,
        before: Possibilities,
        letter: LetterId,
    ) -> Result<Possibilities, End> {
        let after = self.specification().successor(before, letter)?.after;
        if self.remembered.world.known().fault().is_some() {
            let specification = self.remembered.exclusively()?.world.specification();
            return Err(specification.take_fault().map_or(End::Unknown, End::InObject));
        }
        after.ok_or(End::Forbidden(before, letter))
    }

    /// Removes configurations in which the open operation still needs a point, if the process of
    /// the row `to` has passed its last one. If none remains, the response reports the error.
    fn past_points(
        &mut self,
        possibilities: Possibilities,
        process: Process,
    ) -> Result<Possibilities, Unknown> {
        let mut states = states(&mut self.remembered);
        if !states.prospect(&self.at.to, process)?.responds {
            return Ok(possibilities);
        }
        let mut specification = self.specification();
        let letter = specification.letter(Letter::Past(process))?;
        Ok(specification.successor(possibilities, letter)?.after.unwrap_or(possibilities))
    }

    /// Returns the set of configurations of the row `to`.
    fn possibilities(&self) -> Possibilities {
        Possibilities::of_number(self.at.to[self.remembered.possibilities_at()])
    }
}

/// Lends the states.
fn states<'a, 'm, 'p, W>(
    remembered: &'a mut Lent<'_, Remembered<'m, 'p, W>>,
) -> Lent<'a, States<'m, 'p>> {
    remembered.part(|all| &all.states, |all| &mut all.states)
}
