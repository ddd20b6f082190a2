//! Random executions, each state of which must be covered by views.

use std::cell::RefCell;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_invariant::byte::{I, J, T};
use snapshot_invariant::claim::Aim;
use snapshot_invariant::layout::{Layout, at, op};
use snapshot_invariant::search::Family;
use snapshot_invariant::step::Planted;
use snapshot_semantics::interpret::{Client, Machine, Move, MoveKind, Scheduler, Values};

use super::execution::{Ended, Execution};
use super::follow::{Followed, Steps};
use super::histories::History;
use super::likeness::{Likeness, Tuple, standing};

/// Numbers of comparisons.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// States beside views.
    pub projections: usize,
    /// Known bytes.
    pub bytes: usize,
    /// States covered by a view that has a class flipped, and by none as it stands.
    pub flipped: usize,
    /// States covered by a view with bits whose class belongs to a round.
    pub rounds: usize,
    /// States covered by a view that shows an operation as not begun, or its ghost scan alone.
    pub late: usize,
    /// States covered by a view in which a loose loop is in the round of some process but t.
    pub loose: usize,
    /// States covered by a view with known links.
    pub links: usize,
    /// States covered by a view that relates a counter to the clock.
    pub counted: usize,
    /// States covered only by a view in which a lost process has moved on.
    pub lost: usize,
    /// Executions that ended with a violation.
    pub violations: usize,
    /// Moves that change the view of a tuple.
    pub changes: usize,
    /// Moves among `changes` by a process outside the tuple.
    pub joins: usize,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.projections += other.projections;
        self.bytes += other.bytes;
        self.flipped += other.flipped;
        self.rounds += other.rounds;
        self.late += other.late;
        self.loose += other.loose;
        self.links += other.links;
        self.counted += other.counted;
        self.lost += other.lost;
        self.violations += other.violations;
        self.changes += other.changes;
        self.joins += other.joins;
    }
}

/// Locations of the shown members.
type Key = Vec<u8>;

/// Views by the shown members, and their locations.
type Found<'a> = FxHashMap<(Vec<u8>, Key), Vec<&'a [u8]>>;

/// Views of a layout, by the locations of processes.
pub struct Views<'a> {
    pub layout: &'a Layout<'a>,
    /// Faults with which the family was made.
    planted: Planted,
    family: &'a Family,
    /// Per kind.
    found: RefCell<Vec<Found<'a>>>,
}

/// Views of a state in one of its histories, per tuple.
struct Covers<'a> {
    history: History,
    views: Vec<Vec<&'a [u8]>>,
}

impl<'a> Views<'a> {
    pub fn new(layout: &'a Layout<'a>, family: &'a Family, planted: Planted) -> Self {
        let found = RefCell::new(vec![Found::default(); family.kinds.len()]);
        Self { layout, planted, family, found }
    }

    /// Returns the views of a kind in which these members are at these locations.
    fn at(&self, kind: usize, shown: &[u8], key: Key) -> Vec<&'a [u8]> {
        let mut found = self.found.borrow_mut();
        let of = &mut found[kind];
        if !of.keys().any(|(members, _)| members == shown) {
            for view in self.family.views[kind].iter() {
                let key = self.key_of(view, shown);
                of.entry((shown.to_vec(), key)).or_default().push(view);
            }
        }
        of.get(&(shown.to_vec(), key)).cloned().unwrap_or_default()
    }

    fn key_of(&self, view: &[u8], shown: &[u8]) -> Key {
        let mut key = Key::new();
        for member in shown {
            let block = self.layout.blocks[usize::from(*member)];
            key.extend([view[block + at::OP], view[block + at::GHOST]]);
            key.extend(self.layout.frames.iter().map(|frame| view[block + frame.at]));
        }
        key
    }

    /// Finds the views of a state for all tuples, in each of its histories that has views.
    fn cover(
        &self,
        execution: &Execution<'_>,
        tuples: &[Tuple],
    ) -> Result<(Counts, Vec<Covers<'a>>), String> {
        // A lost process stands where it tests its link again.
        let gone_on = |tuple: &Tuple| match self.layout.lost.is_empty() {
            true => vec![execution.clone()],
            false => execution.gone_on(&tuple.all()),
        };
        let all: Vec<Vec<Execution<'_>>> = tuples.iter().map(gone_on).collect();
        let (mut total, mut found, mut missing) = (None, Vec::new(), None);
        for history in &execution.histories {
            let (mut counts, mut covers) = (Counts::default(), Vec::new());
            for (tuple, all) in tuples.iter().zip(&all) {
                match self.cover_by(all, history, tuple) {
                    Ok((now, views)) => {
                        counts.add(now);
                        covers.push(views);
                    }
                    Err(text) => {
                        missing = missing.or(Some(text));
                        break;
                    }
                }
            }
            if covers.len() == tuples.len() {
                total.get_or_insert(counts);
                found.push(Covers { history: history.clone(), views: covers });
            }
        }
        total.map(|total| (total, found)).ok_or_else(|| missing.expect("of the last history"))
    }

    /// Returns the views of a tuple in which processes that may be lost are at any location where
    /// they may test their link.
    fn may_be(&self, execution: &Execution<'_>, tuple: &Tuple) -> Vec<&'a [u8]> {
        let mut all = Vec::new();
        for one in execution.put_forward(&tuple.all()).iter().skip(1) {
            for history in &one.histories {
                let found = self.cover_as_is(one, history, tuple);
                all.extend(found.into_iter().flat_map(|(_, views)| views));
            }
        }
        all
    }

    /// As [`Self::cover`], for a tuple and a history, of an execution and its copies in which
    /// processes have moved on.
    fn cover_by(
        &self,
        all: &[Execution<'_>],
        history: &History,
        tuple: &Tuple,
    ) -> Result<(Counts, Vec<&'a [u8]>), String> {
        let (mut counts, mut covers) = (None, Vec::new());
        let mut missing = format!("nowhere to go on to by {history:?}");
        for (number, one) in all.iter().enumerate().rev() {
            if !one.histories.contains(history) {
                continue;
            }
            match self.cover_as_is(one, history, tuple) {
                Ok((found, all)) => {
                    let lost = usize::from(number > 0);
                    counts = Some(Counts { lost, ..found });
                    covers.extend(all);
                }
                Err(text) => missing = text,
            }
        }
        counts.map(|counts| (counts, covers)).ok_or(missing)
    }

    fn cover_as_is(
        &self,
        execution: &Execution<'_>,
        history: &History,
        tuple: &Tuple,
    ) -> Result<(Counts, Vec<&'a [u8]>), String> {
        let kind = tuple.kind();
        let number = self.family.kinds.iter().position(|one| *one == kind).expect("a kind");
        let process = |member: &u8| tuple.process(*member).expect("a member that is there");
        let mut shown = kind.members.clone();
        // An operation that is not shown yet counts as not begun at any location.
        let is_hidden = |member: u8| {
            let standing = standing(execution, tuple, member);
            standing.is_hidden && standing.operation == op::IDLE
        };
        shown.retain(|one| !execution.is_in_transit(process(one)) || is_hidden(*one));
        let mut key = Key::new();
        for member in &shown {
            let standing = standing(execution, tuple, *member);
            key.extend([standing.operation, u8::from(standing.ghost)]);
            key.extend(standing.stands(self.layout));
        }
        let views = self.at(number, &shown, key);
        let (mut counts, mut covers): (Option<Counts>, _) = (None, Vec::new());
        for view in &views {
            let mut likeness = Likeness::new(execution, history, tuple, view);
            if !likeness.holds(&shown) {
                continue;
            }
            let is_late = |member: &u8| {
                let operation = execution.doing[process(member)].operation;
                let shows = standing(execution, tuple, *member).operation;
                let is_update = operation == op::UPDATES || operation == op::SWITCHES;
                shows >= op::GHOSTS || (is_update && shows == op::IDLE)
            };
            let now = Counts {
                projections: 1,
                bytes: likeness.told,
                flipped: usize::from(likeness.flips.values().any(|flipped| *flipped)),
                rounds: usize::from(likeness.rounds > 0),
                late: usize::from(shown.iter().any(is_late)),
                loose: usize::from(likeness.loose > 0),
                links: usize::from(likeness.links > 0),
                counted: usize::from(likeness.counted > 0),
                ..Counts::default()
            };
            covers.push(*view);
            if counts.is_none_or(|before| now.flipped < before.flipped) {
                counts = Some(now);
            }
        }
        match counts {
            Some(counts) => Ok((counts, covers)),
            None => Err(self.missing(execution, tuple, &shown, &views)),
        }
    }

    /// Describes the mistake for a human reader.
    fn missing(
        &self,
        execution: &Execution<'_>,
        tuple: &Tuple,
        shown: &[u8],
        views: &[&[u8]],
    ) -> String {
        let mut text = format!(
            "{} {}, n = {}, pair {:?}: no view of {tuple:?}, shown {shown:?}.\nNow {:?}:\n",
            self.layout.program.name,
            self.layout.obligation.name(),
            execution.machine.processes(),
            execution.pair,
            execution.histories,
        );
        for holding in execution.machine.holdings(&execution.state) {
            text += &format!("  {}: {} = {}\n", holding.owner, holding.name, holding.held);
        }
        for (process, doing) in execution.doing.iter().enumerate() {
            let at: Vec<_> = execution
                .open_calls(process)
                .iter()
                .map(|call| (call.procedure, call.at))
                .collect();
            text += &format!("  p{process} at {at:?}: {doing:?}\n");
        }
        text += &format!("{} views where they stand, some of them:\n", views.len());
        for view in views.iter().take(4) {
            for (slot, byte) in self.layout.slots.iter().zip(*view) {
                if *byte != 0 {
                    text += &format!(" {:?}:{}={byte}", slot.owner, slot.name);
                }
            }
            text += "\n";
        }
        text
    }
}

fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    random.next_u32() as usize % limit
}

/// Returns all tuples of n processes for a pair.
fn tuples(n: usize, pair: [usize; 2], has_tokens: bool) -> Vec<Tuple> {
    let [i, j] = [Some(pair[0]), Some(pair[1]).filter(|_| !has_tokens)];
    let with = |t, followed| Tuple { members: [i, j, t], followed };
    let others = (0..n).map(Some).filter(|process| *process != i && *process != j);
    let mut tuples: Vec<Tuple> = others.map(|process| with(process, T)).collect();
    tuples.push(with(None, I));
    if !has_tokens {
        tuples.push(with(None, J));
    }
    tuples
}

/// Runs one execution of n processes of very different speed.
///
/// # Errors
/// If a state has no view.
pub fn walk(views: &Views<'_>, n: usize, seed: u64, moves: usize) -> Result<Counts, String> {
    let layout = views.layout;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let machine = Machine::new(layout.program, n).map_err(|error| error.to_string())?;
    let i = below(&mut random, n - 1);
    let j = i + 1 + below(&mut random, n - 1 - i);
    let is_turned = layout.tokens() && random.next_u32() & 1 == 1;
    let mut execution = Execution::new(&machine, layout, if is_turned { [j, i] } else { [i, j] });
    // Views report the end of an operation without further pauses to the observer earlier.
    execution.fine = seed % 8 >= 4 && layout.obligation.aim != Aim::Observer;
    let tuples = tuples(n, execution.pair, layout.tokens());
    let mut counts = Counts::default();
    let steps = Steps::new(layout, views.planted);
    let mut followed: Option<Followed<'_, '_>> = None;
    let mut compare = |execution: &Execution<'_>, process: usize| -> Result<Vec<History>, String> {
        let (found, all) = views.cover(execution, &tuples)?;
        counts.add(found);
        let histories = all.iter().map(|covers| covers.history.clone()).collect();
        let mut of = all.into_iter().map(|covers| covers.views);
        let mut covers = of.next().expect("one history has views");
        for more in of {
            covers.iter_mut().zip(more).for_each(|(covers, more)| covers.extend(more));
        }
        let may_be = |tuple| views.may_be(execution, tuple);
        let more: Option<Vec<Vec<&[u8]>>> =
            execution.may_any_be_lost().then(|| tuples.iter().map(may_be).collect());
        // Nothing is shown between two pauses.
        match &mut followed {
            _ if execution.fine => {}
            None => followed = Some(Followed::new(&steps, &tuples, &covers)),
            Some(followed) => {
                followed.step(process, &covers, more.as_deref()).map_err(|number| {
                    let text = views.missing(execution, &tuples[number], &[], &covers[number]);
                    format!("no step of p{process} leads there: {text}")
                })?
            }
        }
        Ok(histories)
    };
    compare(&execution, 0)?;
    let values = Values::Simple(Process::from_index(i), Process::from_index(j));
    let mut scheduler = Scheduler::new(Client::unbounded(values), n, seed);
    for _ in 0..moves {
        let current = &execution;
        let calls = |process: Process| current.calls(process.index());
        let next = scheduler.next_by(&current.state, |_, _, process| calls(process));
        let Some(Move { process, kind }) = next else { break };
        let process = process.index();
        let call = match kind {
            MoveKind::Begin(call) => Some(call),
            MoveKind::Step | MoveKind::Take(_) => None,
        };
        if execution.approach(process) {
            compare(&execution, process)?;
        }
        match execution.go(process, call) {
            Ended::Well => {
                let histories = compare(&execution, process)?;
                // Choices for other processes do not happen.
                if !execution.pair.iter().any(|process| execution.may_be_lost(*process)) {
                    execution.histories = histories;
                }
            }
            Ended::Violation => {
                counts.violations += 1;
                break;
            }
            Ended::Fault | Ended::Never => break,
        }
    }
    let followed = followed.map_or((0, 0), |one| (one.changes, one.joins));
    counts.add(Counts { changes: followed.0, joins: followed.1, ..Counts::default() });
    Ok(counts)
}
