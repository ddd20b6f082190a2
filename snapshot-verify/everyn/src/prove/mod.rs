//! The least set of views that is closed under all steps: level-1 thread-modular.
//!
//! Kinds of views: of i or of j, following its ghost scans; and of any third process t,
//! for each place of t relative to i and j. A view changes
//!
//! 1. by a step of the process that it follows;
//! 2. by a step of i or j outside of its ghost scans, which the view shows in full;
//! 3. by a step of i or j within a ghost scan, which a view of kind i or j with the same
//!    centre shows;
//! 4. by a step of any other process e, which a view of e with the same centre shows. No process is
//!    both t and e: a name in the centre cannot refer to both.
//!
//! Steps of kinds 3 and 4 are visible only in their changes of the centre, and in cells of "any
//! other" that may be t's: their effects are kept per centre, and applied to all views there.

mod effects;
mod recall;
mod search;
mod store;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use snapshot_language::Span;
use snapshot_language::deadline::{Deadline, Stopped};

use crate::model::{Model, Unsupported};
use crate::run::{Crowd, Failure};
use crate::shape::{I, J, Mode, T};
use search::{Record, Search};
use store::Views;

/// A way to break the engine, for tests of the tests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sabotage {
    /// Joins two views although both t and e are named where only one can be.
    pub two_owners: bool,
    /// Keeps links that only the view of their process shows, although others write the cell.
    pub lasting_links: bool,
    /// Distinguishes views that differ by flips: right, but larger.
    pub no_flips: bool,
    /// Makes every step without memo: right, but slower.
    pub no_recall: bool,
}

/// Limits of a proof.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Maximum number of views: beyond it no view is expanded.
    pub views: usize,
    /// Approximate maximum memory.
    pub bytes: usize,
    pub until: Option<Instant>,
    /// Stops the proof when it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Limits<'a> {
    pub const fn deadline(&self) -> Deadline<'a> {
        Deadline::new(self.until, self.stop)
    }
}

/// Without limits.
impl Default for Limits<'_> {
    fn default() -> Self {
        Self { views: usize::MAX, bytes: usize::MAX, until: None, stop: None }
    }
}

/// The budget of an attempt that was interrupted.
pub const INTERRUPTED: &str = "interrupted";
/// The time limit.
pub const TIME: &str = "time";
/// The memory limit.
pub const MEMORY: &str = "memory";
/// The limit of views: with a larger one the attempt can continue.
pub const VIEWS: &str = "views";

/// Returns the budget that stopped an attempt.
pub const fn budget_of(stopped: Stopped) -> &'static str {
    match stopped {
        Stopped::Interrupted => INTERRUPTED,
        Stopped::Time => TIME,
        Stopped::Memory => MEMORY,
    }
}

/// Result of an attempt.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The obligation holds for every n.
    Holds,
    /// A failure could not be excluded.
    Fails(Failure, Vec<Event>),
    Unsupported(Unsupported),
    /// This budget is exhausted.
    Budget(&'static str),
}

/// A step on the path to a failure.
#[derive(Clone, Debug)]
pub struct Event {
    pub actor: Actor,
    /// Location of the process; `None`: it was idle.
    pub span: Option<Span>,
}

/// A process of the crowd.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Actor {
    /// The process that updates segment i.
    I,
    /// The process that updates segment j.
    J,
    /// The followed process.
    Tracked,
    Another,
}

/// Views of one kind.
#[derive(Clone, Debug)]
pub struct Kind {
    pub crowd: Crowd,
    /// Number of views.
    pub views: usize,
}

/// An attempt, and its size.
#[derive(Clone, Debug)]
pub struct Finding {
    pub attempt: Attempt,
    pub kinds: Vec<Kind>,
    /// Number of different centres.
    pub centres: usize,
    pub elapsed: Duration,
}

impl Finding {
    /// Returns the result of an attempt that has not begun.
    pub const fn not_begun() -> Self {
        let attempt = Attempt::Budget(VIEWS);
        Self { attempt, kinds: Vec::new(), centres: 0, elapsed: Duration::ZERO }
    }

    /// Returns true if the obligation holds for every n.
    pub const fn holds(&self) -> bool {
        matches!(self.attempt, Attempt::Holds)
    }

    /// Returns the number of views.
    pub fn views(&self) -> usize {
        self.kinds.iter().map(|kind| kind.views).sum()
    }
}

/// A closed set of views, or the attempt at one.
pub struct Proof {
    pub finding: Finding,
    views: Views,
}

impl Proof {
    /// Returns all views, each with the number of its kind, in the order of their discovery.
    pub fn views(&self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let ids = (0..).take(self.views.len());
        ids.map(|id| (self.views.kind(id), self.views.row(id)))
    }
}

/// All reached views, and the steps between them: for tests against executions.
#[derive(Clone, Debug)]
pub struct Steps {
    pub crowds: Vec<Crowd>,
    /// Per view, its kind.
    pub kinds: Vec<u8>,
    /// Per view, its bytes.
    pub rows: Vec<Box<[u8]>>,
    /// Per view, its steps to other views: the process, and the successor.
    pub steps: Vec<Vec<(Actor, u32)>>,
    /// Per view, its failing steps: the process, and the failure. They are not followed.
    pub failures: Vec<Vec<(Actor, Failure)>>,
    /// Views of the initial states.
    pub initial: Vec<u32>,
}

enum End {
    Fails(Failure, u32, Actor, Option<Span>),
    Unsupported(Unsupported),
    Budget(&'static str),
}

impl From<Unsupported> for End {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}

/// Returns the kinds of an obligation. If loops do not reveal the place of t among i and j, the
/// views of all places of t are the same, and one kind stands for them.
pub(crate) fn crowds(model: &Model) -> Vec<Crowd> {
    let crowd = |members: &[u8], tracked| Crowd { members: members.to_vec(), tracked };
    let (mut kinds, places) = match model.obligation.mode {
        Mode::Direct => (
            vec![crowd(&[I, J], I), crowd(&[I, J], J)],
            vec![crowd(&[I, J, T], T), crowd(&[T, I, J], T), crowd(&[I, T, J], T)],
        ),
        Mode::Nested => (vec![crowd(&[I], I)], vec![crowd(&[I, T], T), crowd(&[T, I], T)]),
    };
    let needed = if snapshot_hints::export::alike(model) { 1 } else { places.len() };
    kinds.extend(places.into_iter().take(needed));
    kinds
}

/// An attempt that can be paused.
pub struct Proving<'m> {
    search: Search<'m>,
    elapsed: Duration,
}

impl<'m> Proving<'m> {
    pub fn new(model: &'m Model, sabotage: Sabotage) -> Self {
        Self { search: Search::new(model, sabotage), elapsed: Duration::ZERO }
    }

    /// Continues within limits, which count from the beginning; an attempt stopped by the number of
    /// views ([`VIEWS`]) can continue with a larger limit. The result does not depend on pauses.
    pub fn go_on(&mut self, limits: Limits<'m>) -> Finding {
        let began = Instant::now();
        let search = &mut self.search;
        search.limit(limits);
        let attempt = match search.close() {
            Ok(()) => Attempt::Holds,
            // A step that exceeds the deadline does not make the program unsupported.
            Err(End::Unsupported(unsupported)) => match search.deadline.check() {
                Ok(()) => Attempt::Unsupported(unsupported),
                Err(stopped) => Attempt::Budget(budget_of(stopped)),
            },
            Err(End::Budget(which)) => Attempt::Budget(which),
            Err(End::Fails(failure, from, actor, span)) => {
                let mut events = search.retrace(from);
                events.push(Event { actor, span });
                Attempt::Fails(failure, events)
            }
        };
        self.elapsed += began.elapsed();
        let kinds = search.crowds.iter().zip(&search.counts);
        let kinds = kinds.map(|(crowd, views)| Kind { crowd: crowd.clone(), views: *views });
        Finding {
            attempt,
            kinds: kinds.collect(),
            centres: search.at_centres.len(),
            elapsed: self.elapsed,
        }
    }

    /// Returns the approximate memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.search.bytes
    }
}

/// Tries to show an obligation.
pub fn prove(model: &Model, limits: Limits<'_>, sabotage: Sabotage) -> Proof {
    let mut proving = Proving::new(model, sabotage);
    let finding = proving.go_on(limits);
    Proof { finding, views: proving.search.views }
}

/// Returns all views and steps; failing steps are recorded, and not followed.
///
/// # Errors
/// If a construct is unsupported, or a limit is exceeded.
pub fn steps(model: &Model, limits: Limits<'_>, sabotage: Sabotage) -> Result<Steps, Attempt> {
    let mut search = Search::new(model, sabotage);
    search.limit(limits);
    search.record = Some(Record::default());
    match search.close() {
        Ok(()) | Err(End::Fails(..)) => {}
        Err(End::Unsupported(unsupported)) => return Err(Attempt::Unsupported(unsupported)),
        Err(End::Budget(which)) => return Err(Attempt::Budget(which)),
    }
    let record = search.record.unwrap_or_default();
    let views = search.views;
    let origins = views.origins.iter().zip(0..);
    let initial = origins.filter(|(origin, _)| origin.from == u32::MAX).map(|(_, id)| id);
    Ok(Steps {
        crowds: search.crowds,
        initial: initial.collect(),
        kinds: (0..).take(views.len()).map(|id| views.kind(id) as u8).collect(),
        rows: (0..).take(views.len()).map(|id| views.row(id).into()).collect(),
        steps: record.steps.into_iter().map(|steps| steps.into_iter().collect()).collect(),
        failures: record.failures,
    })
}
