//! The least set of views that is closed under all steps: level-1 thread-modular.
//!
//! Kinds of views: of i or of j, following its ghost scans; and of any third process t,
//! for each place of t relative to i and j. A view changes
//!
//! 1. by a step of the process that it follows;
//! 2. by a step of i or j outside of its ghost scans, which the view shows in full;
//! 3. by a step of i or j within a ghost scan, which a view of kind i or j with the same
//!    centre shows;
//! 4. by a step of any other process e, which a view of e with the same centre shows. No
//!    process is both t and e: what names one of them in the centre names not the other.
//!
//! Steps of kinds 3 and 4 are seen only through what they change in the centre, and cells
//! of "any other" that may be those of t: their effects are kept per centre, and applied
//! to all views there.

mod effects;
mod recall;
mod search;
mod store;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use snapshot_language::Span;
use snapshot_language::deadline::{Deadline, Stopped};

use crate::model::{Act, Model, Unsupported};
use crate::run::{Crowd, Failure};
use crate::shape::{I, J, Mode, T};
use crate::term::Over;
use search::{Record, Search};
use store::Views;

/// A way to break the engine, for tests of the tests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sabotage {
    /// A join does not ask whether t and e are both named where only one can be.
    pub two_owners: bool,
    /// What others write breaks no link that only the view of its process shows.
    pub lasting_links: bool,
    /// Views that differ by flips count as different: right, but larger.
    pub no_flips: bool,
    /// Every step is made where it is asked for: right, but slower.
    pub no_recall: bool,
}

/// What a proof may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Views: with more of them no further one is expanded.
    pub views: usize,
    /// Bytes at most, about.
    pub bytes: usize,
    /// When to stop.
    pub until: Option<Instant>,
    /// Stops it as soon as it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Limits<'a> {
    /// When to stop.
    pub const fn deadline(&self) -> Deadline<'a> {
        Deadline::new(self.until, self.stop)
    }
}

/// None.
impl Default for Limits<'_> {
    fn default() -> Self {
        Self { views: usize::MAX, bytes: usize::MAX, until: None, stop: None }
    }
}

/// The budget that an attempt ran out of if it was stopped.
pub const INTERRUPTED: &str = "interrupted";
/// If the instant had come at which to stop.
pub const TIME: &str = "time";
/// If the bytes did not suffice.
pub const MEMORY: &str = "memory";
/// If the views did not suffice: with more of them it can go on.
pub const VIEWS: &str = "views";

/// The budget that ran out where this has stopped an attempt.
pub const fn budget_of(stopped: Stopped) -> &'static str {
    match stopped {
        Stopped::Interrupted => INTERRUPTED,
        Stopped::Time => TIME,
        Stopped::Memory => MEMORY,
    }
}

/// What became of an attempt.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The obligation holds for every n.
    Holds,
    /// It could not be excluded that it fails.
    Fails(Failure, Vec<Event>),
    /// A construct is not modelled.
    Unsupported(Unsupported),
    /// It would take more than it may.
    Budget(&'static str),
}

/// A step on the way to a failure.
#[derive(Clone, Debug)]
pub struct Event {
    /// The process.
    pub actor: Actor,
    /// Where it stood; none: it was idle.
    pub span: Option<Span>,
}

/// A process of the crowd.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Actor {
    /// The one that updates segment i.
    I,
    /// The one that updates segment j.
    J,
    /// The one that is followed.
    Tracked,
    /// Yet another one.
    Another,
}

/// The views of one kind.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Which.
    pub crowd: Crowd,
    /// How many there are.
    pub views: usize,
}

/// An attempt, and how large it got.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What became of it.
    pub attempt: Attempt,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// The number of different centres.
    pub centres: usize,
    /// How long it took.
    pub elapsed: Duration,
}

impl Finding {
    /// That of an attempt that has not begun.
    pub const fn not_begun() -> Self {
        let attempt = Attempt::Budget(VIEWS);
        Self { attempt, kinds: Vec::new(), centres: 0, elapsed: Duration::ZERO }
    }

    /// Whether the obligation holds for every n.
    pub const fn holds(&self) -> bool {
        matches!(self.attempt, Attempt::Holds)
    }

    /// The number of views.
    pub fn views(&self) -> usize {
        self.kinds.iter().map(|kind| kind.views).sum()
    }
}

/// A closed set of views, or the attempt at one.
pub struct Proof {
    /// What became of it.
    pub finding: Finding,
    views: Views,
}

impl Proof {
    /// All views, each with the number of its kind, in the order in which they were found.
    pub fn views(&self) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let ids = (0..).take(self.views.len());
        ids.map(|id| (self.views.kind(id), self.views.row(id)))
    }
}

/// All views that are reached, and the steps between them: for tests against executions.
#[derive(Clone, Debug)]
pub struct Steps {
    /// The kinds.
    pub crowds: Vec<Crowd>,
    /// Per view, its kind.
    pub kinds: Vec<u8>,
    /// Per view, its bytes.
    pub rows: Vec<Box<[u8]>>,
    /// Per view, the steps from it to others: whose, and where to.
    pub steps: Vec<Vec<(Actor, u32)>>,
    /// Per view, the steps that fail, whose, and why. They are not followed.
    pub failures: Vec<Vec<(Actor, Failure)>>,
    /// The views of the initial states.
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

/// The kinds of an obligation. Where loops do not tell where t is among i and j, the views of
/// all places of t are the same, and one kind stands for them.
pub(crate) fn crowds(model: &Model) -> Vec<Crowd> {
    let crowd = |members: &[u8], tracked| Crowd { members: members.to_vec(), tracked };
    let (mut kinds, places) = match model.obligation.mode {
        Mode::Direct => (
            vec![crowd(&[I, J], I), crowd(&[I, J], J)],
            vec![crowd(&[I, J, T], T), crowd(&[T, I, J], T), crowd(&[I, T, J], T)],
        ),
        Mode::Nested => (vec![crowd(&[I], I)], vec![crowd(&[I, T], T), crowd(&[T, I], T)]),
    };
    let needed = if is_ordered(model) { places.len() } else { 1 };
    kinds.extend(places.into_iter().take(needed));
    kinds
}

/// Whether some loop passes both t and one of i and j as more than any other.
pub fn is_ordered(model: &Model) -> bool {
    model.code.iter().any(|one| match &one.act {
        Act::Begin(this) if this.over == Over::Members => this.merged.iter().any(|merged| {
            let [at_i, at_j, at_t] = merged;
            let is_j_there = model.obligation.mode == Mode::Direct;
            !at_t && !(*at_i && (*at_j || !is_j_there))
        }),
        _ => false,
    })
}

/// An attempt that can be paused.
pub struct Proving<'m> {
    search: Search<'m>,
    elapsed: Duration,
}

impl<'m> Proving<'m> {
    /// Nothing is known yet.
    pub fn new(model: &'m Model, sabotage: Sabotage) -> Self {
        Self { search: Search::new(model, sabotage), elapsed: Duration::ZERO }
    }

    /// Goes on within limits, which count from the beginning; where it ends for the number of
    /// views ([`VIEWS`]), it can go on with more of them. Does not depend on how often it was paused.
    pub fn go_on(&mut self, limits: Limits<'m>) -> Finding {
        let began = Instant::now();
        let search = &mut self.search;
        search.limit(limits);
        let attempt = match search.close() {
            Ok(()) => Attempt::Holds,
            // A step that did not end in time is not what the program is told for.
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

    /// How many bytes it takes, about.
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

/// All views and steps; those that fail are noted, and not followed.
///
/// # Errors
/// If a construct is not modelled, or it takes more than it may.
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
