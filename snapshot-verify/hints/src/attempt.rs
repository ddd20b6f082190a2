//! Attempts at obligations, and their budgets.

use std::rc::Rc;
use std::time::Duration;

use snapshot_invariant::Unfinished;
use snapshot_invariant::asks::Asks;
use snapshot_invariant::claim::Obligation;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{Closing, Obstacle};
use snapshot_invariant::step::{Failure, InjectedFault, Kind};
use snapshot_invariant::trace::Event;
use snapshot_invariant::write::{Part, lay_out_within};
use snapshot_language::deadline::{Deadline, Stopped};
use snapshot_language::program::Program;

use crate::model::Unsupported;

/// The budget of an attempt that was interrupted.
pub const INTERRUPTED: &str = "interrupted";
/// The time limit.
pub const TIME: &str = "time";
/// The memory limit.
pub const MEMORY: &str = "memory";
/// The limit of views: with a larger one the attempt can continue.
pub const VIEWS: &str = "views";

/// Result of an attempt.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The obligation holds for every n.
    Holds,
    /// A failure could not be excluded: the steps that lead to it.
    Fails(Failure, Vec<Event>),
    Unsupported(Unsupported),
    /// This budget is exhausted.
    Budget(&'static str),
}

/// An attempt at an obligation, and its size.
#[derive(Clone, Debug)]
pub struct Rung {
    pub obligation: Obligation,
    /// True if the views keep what an analysis finds, false if they keep everything.
    pub is_hinted: bool,
    pub attempt: Attempt,
    /// The lists of views: the kinds that each stands for, and its number of views.
    pub lists: Vec<(Vec<Kind>, usize)>,
    /// Number of different centres.
    pub centres: usize,
    pub elapsed: Duration,
}

impl Rung {
    /// Returns true if the obligation was shown.
    pub const fn holds(&self) -> bool {
        matches!(self.attempt, Attempt::Holds)
    }

    /// Returns the number of views.
    pub fn views(&self) -> usize {
        self.lists.iter().map(|(_, views)| views).sum()
    }

    /// Returns the exhausted budget, if the attempt did not finish.
    pub const fn short(&self) -> Option<&'static str> {
        match self.attempt {
            Attempt::Budget(which) => Some(which),
            _ => None,
        }
    }
}

/// What has been tried, and the proof, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The parts of the proof; empty if there is none.
    pub parts: Vec<Part>,
    /// True if some part of the proof keeps what an analysis found.
    pub is_hinted: bool,
    /// True if the program looks at values, so that nothing was tried.
    pub looks_at_values: bool,
    /// Attempts, in order.
    pub rungs: Vec<Rung>,
    /// The exhausted budget, if there may be a proof nevertheless.
    pub short: Option<&'static str>,
}

impl Answer {
    /// Returns true if all simple executions of all n >= 2 processes are linearizable, for all
    /// pairs, and no execution goes wrong, by the rules of certificates.
    pub const fn is_proved(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the number of views of all attempts.
    pub fn views(&self) -> usize {
        self.rungs.iter().map(Rung::views).sum()
    }
}

/// Budget of a proof.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Maximum memory.
    pub bytes: usize,
    /// Maximum number of views, of all rungs together.
    pub views: usize,
}

/// Without bound.
impl Default for Budget {
    fn default() -> Self {
        Self { bytes: usize::MAX, views: usize::MAX }
    }
}

/// The end of all work on a program.
#[derive(Clone, Copy)]
pub struct Limit<'m> {
    pub deadline: Deadline<'m>,
    /// The same, as the engine asks for it.
    pub proceed: &'m dyn Fn() -> bool,
}

impl<'m> Limit<'m> {
    /// No end, if the function returns true.
    pub const fn never(proceed: &'m dyn Fn() -> bool) -> Self {
        Self { deadline: Deadline::NEVER, proceed }
    }
}

/// Result of a climb.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Climb {
    Proved,
    /// No way leads to a proof.
    Failed,
    /// Some way is left, and this budget is exhausted.
    Short(&'static str),
}

/// Returns the budget that stopped an attempt.
pub const fn budget_of(stopped: Stopped) -> &'static str {
    match stopped {
        Stopped::Interrupted => INTERRUPTED,
        Stopped::Time => TIME,
        Stopped::Memory => MEMORY,
    }
}

/// Begins to close the views of a part.
pub fn begin<'m>(
    program: &'m Program,
    part: Option<&Part>,
    limit: Limit<'m>,
) -> Result<Closing<Rc<Layout<'m>>>, Obstacle> {
    let unfit = Obstacle::Failure(Failure::Unsupported("this part"));
    let part = part.ok_or(unfit)?;
    let layout = lay_out_within(program, part, Asks::new(limit.proceed))
        .map_err(|unfit| Obstacle::Failure(Failure::Unsupported(unfit.0)))?;
    if !layout.asks.go_on(0) {
        return Err(Obstacle::Unfinished(Unfinished::Ended));
    }
    Closing::new(Rc::new(layout), InjectedFault::default())
}

/// Begins again, with a list for each place of t.
pub fn again<'m>(
    program: &'m Program,
    part: Option<&mut Part>,
    limit: Limit<'m>,
) -> Option<Closing<Rc<Layout<'m>>>> {
    let part = part?;
    part.alike = false;
    begin(program, Some(part), limit).ok()
}
