//! Executions beside the steps among views: after each move, the views of the state are
//! among the successors of the views of the state before.

use snapshot_everyn::export::alike;
use snapshot_everyn::model::Model;
use snapshot_everyn::prove::{Actor, Steps};
use snapshot_everyn::run::{Crowd, Run, pc};
use snapshot_everyn::shape::{I, J, Mode, OTHER, T};
use snapshot_language::deadline::Deadline;
use snapshot_semantics::interpret::Call;

use super::execution::{Ended, Execution};
use super::likeness::{Likeness, Tuple};

/// Maximum number of steps of a view in one move: an access, and begins and ends of ghost scans.
const STEPS: usize = 6;

/// Numbers of comparisons.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// States beside views, per place of the moving process: i, j, t, another.
    pub moves: [usize; 4],
    /// Moves that changed the view.
    pub changed: [usize; 4],
    /// Known bytes.
    pub bytes: usize,
    /// Known links.
    pub links: usize,
    /// Executions that ended in a failure that the proof had found, too.
    pub failures: usize,
    /// Executions that ended because a possible failure was not followed.
    pub dubious: usize,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        for place in 0..4 {
            self.moves[place] += other.moves[place];
            self.changed[place] += other.changed[place];
        }
        self.bytes += other.bytes;
        self.links += other.links;
        self.failures += other.failures;
        self.dubious += other.dubious;
    }

    pub fn total(&self) -> usize {
        self.moves.iter().sum()
    }
}

/// Views in which a move may be a step.
#[derive(Clone, Copy)]
enum Shows {
    All,
    /// Views that do not follow the ghost scan of the process.
    Outside,
    None,
}

/// The views of one tuple of processes.
#[derive(Clone)]
struct Followed {
    tuple: Tuple,
    views: Vec<u32>,
}

/// An execution with its views.
#[derive(Clone)]
pub struct Follower<'a> {
    pub execution: Execution<'a>,
    steps: &'a Steps,
    followed: Vec<Followed>,
    pub counts: Counts,
}

/// Returns true if a kind of views stands for the views of a tuple: the places of t count as one if
/// no loop distinguishes them.
fn is_kind(model: &Model, kind: &Crowd, tuple: &Tuple) -> bool {
    let crowd = tuple.crowd();
    let same = crowd.tracked == kind.tracked && crowd.members.len() == kind.members.len();
    same && (alike(model) || crowd.tracked != T || crowd == *kind)
}

/// Returns all tuples of n processes for a pair.
pub fn tuples(n: usize, pair: [usize; 2], mode: Mode) -> Vec<Tuple> {
    let [i, j] = pair;
    let named: Vec<Option<usize>> = match mode {
        Mode::Direct => vec![Some(i), Some(j)],
        Mode::Nested => vec![Some(i), None],
    };
    let with = |t, tracked| Tuple { members: [named[0], named[1], t], tracked };
    let mut tuples = vec![with(None, I)];
    if mode == Mode::Direct {
        tuples.push(with(None, J));
    }
    let others = (0..n).filter(|process| !named.contains(&Some(*process)));
    tuples.extend(others.map(|process| with(Some(process), T)));
    tuples
}

impl<'a> Follower<'a> {
    pub fn new(execution: Execution<'a>, steps: &'a Steps) -> Self {
        let n = execution.machine.processes();
        let mode = execution.model.obligation.mode;
        let followed = tuples(n, execution.pair, mode).into_iter().map(|tuple| {
            let views = steps.initial.iter().copied();
            let views = views.filter(|id| {
                is_kind(
                    execution.model,
                    &steps.crowds[usize::from(steps.kinds[*id as usize])],
                    &tuple,
                )
            });
            let fits =
                |id: &u32| Likeness::new(&execution, &tuple, &steps.rows[*id as usize]).holds();
            let views: Vec<u32> = views.filter(fits).collect();
            assert!(!views.is_empty(), "the initial state has no view");
            Followed { tuple, views }
        });
        let followed = followed.collect();
        Self { execution, steps, followed, counts: Counts::default() }
    }

    /// Returns the views, per tuple.
    pub fn views(&self) -> impl Iterator<Item = (&Tuple, &[u32])> {
        self.followed.iter().map(|followed| (&followed.tuple, followed.views.as_slice()))
    }

    /// Makes a move, and finds its views; returns true if the execution may continue.
    ///
    /// # Errors
    /// If a tuple has no view: the proof is wrong.
    pub fn go(&mut self, process: usize, call: Option<Call>) -> Result<bool, String> {
        let shows = self.shows(process);
        let was_open = self.execution.doing[process].ghost.is_some();
        let ended = self.execution.go(process, call);
        // Opening a ghost scan is a separate step in views, whichever step precedes it.
        let opens = !was_open && self.execution.doing[process].ghost.is_some();
        let shows = if opens { Shows::All } else { shows };
        // Moves at which a proof may have failed.
        let may_fail = self.followed.iter().any(|followed| {
            let actor = followed.tuple.actor(process);
            let reached = self.reached(followed, actor, shows);
            actor != Actor::Another
                && reached
                    .iter()
                    .any(|id| self.steps.failures[*id as usize].iter().any(|(of, _)| *of == actor))
        });
        match ended {
            Ended::Well => {}
            Ended::Never => return Ok(false),
            Ended::Violation | Ended::Fault if may_fail => {
                self.counts.failures += 1;
                return Ok(false);
            }
            // Faults are excluded with nesting.
            Ended::Fault if self.execution.ignores_faults() => return Ok(false),
            _ => return Err(format!("p{process}: {ended:?}, which was excluded")),
        }
        let found = self.execution.found();
        for position in 0..self.followed.len() {
            let followed = &self.followed[position];
            let (tuple, actor) = (followed.tuple, followed.tuple.actor(process));
            let mut views = Vec::new();
            let (mut bytes, mut links) = (0, 0);
            for id in self.reached(followed, actor, shows) {
                let row = &self.steps.rows[id as usize];
                let mut likeness = Likeness::new(&found, &tuple, row);
                if likeness.holds() {
                    views.push(id);
                    bytes = bytes.max(likeness.told);
                    links = links.max(likeness.links_told);
                }
            }
            if views.is_empty() && may_fail {
                self.counts.dubious += 1;
                return Ok(false);
            }
            if views.is_empty() {
                return Err(self.missing(followed, process, shows));
            }
            let place = match actor {
                Actor::I => I,
                Actor::J => J,
                Actor::Tracked => T,
                Actor::Another => OTHER,
            };
            self.counts.bytes += bytes;
            self.counts.links += links;
            self.counts.moves[usize::from(place)] += 1;
            self.counts.changed[usize::from(place)] += usize::from(views != followed.views);
            self.followed[position].views = views;
        }
        Ok(true)
    }

    /// Describes the mistake for a human reader.
    fn missing(&self, followed: &Followed, process: usize, shows: Shows) -> String {
        let execution = &self.execution;
        let (tuple, actor) = (followed.tuple, followed.tuple.actor(process));
        let mut text = format!(
            "n = {}, {:?} of {tuple:?}: a step of p{process} ({actor:?}) leads to no view.\nNow:\n",
            execution.machine.processes(),
            execution.model.obligation,
        );
        for holding in execution.machine.holdings(&execution.state) {
            text += &format!("  {}: {} = {}\n", holding.owner, holding.name, holding.held);
        }
        for (process, doing) in execution.doing.iter().enumerate() {
            text += &format!("  p{process} at {:?}: {doing:?}\n", execution.pc(process));
        }
        text += "Views before, and those that were reached:\n";
        let reached = self.reached(followed, actor, shows);
        for id in followed.views.iter().chain(&reached).take(40) {
            let row = &self.steps.rows[*id as usize];
            let at = execution.model.blocks.map(|block| pc(row, block));
            text += &format!("  {id} at {at:?}: {row:?}\n");
        }
        text
    }

    /// Returns the views in which the next move of a process may be a step: if it is between two
    /// pauses, only the views that do not show its location.
    fn shows(&self, process: usize) -> Shows {
        let is_open = self.execution.doing[process].ghost.is_some();
        match () {
            () if !self.execution.is_in_transit(process) => Shows::All,
            () if is_open => Shows::Outside,
            () if self.execution.is_hidden(process) => Shows::All,
            () => Shows::None,
        }
    }

    /// Returns the views that a move may lead to: without a step, if the view does not show it, or
    /// by steps that end before an access.
    fn reached(&self, followed: &Followed, actor: Actor, shows: Shows) -> Vec<u32> {
        let place = match actor {
            Actor::I => I,
            Actor::J => J,
            Actor::Tracked => T,
            Actor::Another => OTHER,
        };
        let is_within = place == T || place == followed.tuple.tracked;
        match shows {
            Shows::All => {}
            Shows::Outside if !is_within => {}
            _ => return followed.views.clone(),
        }
        let crowd = followed.tuple.crowd();
        let mut reached = followed.views.clone();
        let mut frontier = followed.views.clone();
        for _ in 0..STEPS {
            let mut next = Vec::new();
            for id in frontier {
                for (of, to) in &self.steps.steps[id as usize] {
                    if *of == actor && !reached.contains(to) && !next.contains(to) {
                        next.push(*to);
                    }
                }
            }
            reached.extend(&next);
            next.retain(|id| {
                let row = &self.steps.rows[*id as usize];
                place != OTHER && is_between(self.execution.model, &crowd, row, place)
            });
            frontier = next;
        }
        reached.sort_unstable();
        reached
    }
}

/// Returns true if a process stands between two accesses: before or behind the call of a ghost
/// scan, or at its first instruction.
fn is_between(model: &Model, crowd: &Crowd, view: &[u8], place: u8) -> bool {
    let here = pc(view, model.blocks[usize::from(place)]);
    let instruction = &model.code[here];
    !Run { model, crowd, me: place, fresh: 0, deadline: Deadline::NEVER }
        .pauses_before(view, instruction)
}
