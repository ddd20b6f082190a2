//! Larger histories, at random.
//!
//! A [`Shape`] and a tape of bytes determine a run of an atomic object: the tape chooses the next
//! process and its action, and every operation takes effect at one instant between its invocation
//! and its response. So the history is linearizable and the order of effects proves it. Shrinking
//! the tape shrinks the run.
//!
//! A perturbed history is such a run with a few falsifications, after which it may or may not be
//! linearizable.

use proptest::collection::vec;
use proptest::prelude::*;
use snapshot_core::history::Writers;
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, OperationId};

use crate::judge::recording::{Letter, Recording};

/// The period of [`Values::Recurring`], in updates.
const PERIOD: i64 = 61;

/// The values of updates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Values {
    /// All different.
    Differentiated,
    /// Segments 0 and 1 switch once from 0 to 1; all other values are 0.
    Simple,
    /// From 0 to 2, in any order: repetitions, redundant updates.
    Few,
    /// All different for a period, then the same again.
    Recurring,
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub segments: usize,
    /// Number of processes that only scan, besides a writer for each segment.
    pub scanners: usize,
    pub values: Values,
    /// The processes that update each segment.
    pub writers: Writers,
    /// True if operations may fail.
    pub failures: bool,
    /// True if operations may have an unknown outcome.
    pub losses: bool,
}

/// All shapes.
pub fn shapes() -> impl Strategy<Value = Shape> {
    let values = prop_oneof![Just(Values::Differentiated), Just(Values::Simple), Just(Values::Few)];
    let writers = prop_oneof![3 => Just(Writers::Single), 1 => Just(Writers::Many)];
    (1..5_usize, 0..4_usize, values, writers, any::<bool>()).prop_map(
        |(segments, scanners, values, writers, faults)| Shape {
            segments,
            scanners,
            values,
            writers,
            failures: faults,
            losses: faults,
        },
    )
}

/// A run of an atomic object.
#[derive(Clone, Debug)]
pub struct Run {
    pub history: History<i64>,
    /// The order in which the operations took effect.
    pub effects: Linearization,
}

/// Shapes to which the linear-time conditions apply: the updates of a segment
/// do not overlap, and no value repeats.
pub fn differentiated() -> impl Strategy<Value = Shape> {
    shapes().prop_map(|shape| Shape {
        values: Values::Differentiated,
        writers: Writers::Single,
        failures: false,
        losses: false,
        ..shape
    })
}

/// Runs of at most `steps` acts: linearizable histories with their proofs.
pub fn runs(shapes: impl Strategy<Value = Shape>, steps: usize) -> impl Strategy<Value = Run> {
    (shapes, vec(any::<(u8, u8)>(), 0..=steps))
        .prop_map(|(shape, tape)| Simulation::new(shape).run(&tape))
}

/// Runs of `steps` acts. Either few scanners are slow, so that one scan is open while hundreds of
/// updates come and go, or many are, so that hundreds of scans are open together. One writer per
/// segment; no outcome is lost.
pub fn crowded_runs(
    values: impl Strategy<Value = Values>,
    steps: usize,
) -> impl Strategy<Value = Run> {
    let crowd = prop_oneof![(Just(64_u8), 1..4_usize), (1..4_u8, 100..240_usize)];
    let tape = vec(any::<(u8, u8, u8)>(), steps);
    (values, 1..4_usize, crowd, any::<bool>(), tape).prop_map(
        |(values, segments, (patience, scanners), failures, tape)| {
            let writers = Writers::Single;
            let shape = Shape { segments, scanners, values, writers, failures, losses: false };
            let act = |(actor, deed, turn): (u8, u8, u8)| {
                let is_slow = turn.is_multiple_of(patience);
                (if is_slow { actor } else { actor % segments as u8 }, deed)
            };
            Simulation::new(shape).run(&tape.into_iter().map(act).collect::<Vec<_>>())
        },
    )
}

/// Runs with up to three falsifications: histories of either kind.
pub fn perturbed(
    shapes: impl Strategy<Value = Shape>,
    steps: usize,
) -> impl Strategy<Value = History<i64>> {
    (runs(shapes, steps), vec(any::<(u8, u16, u16)>(), 1..4)).prop_map(|(run, falsifications)| {
        let mut recording = Recording::of(&run.history);
        for (kind, place, extent) in falsifications {
            recording.falsify(kind, usize::from(place), usize::from(extent));
        }
        recording.history()
    })
}

/// These runs with one or two falsifications that are hard to find.
pub fn nudged(runs: impl Strategy<Value = Run>) -> impl Strategy<Value = History<i64>> {
    (runs, vec(any::<(u8, u16, u16)>(), 1..3)).prop_map(|(run, nudges)| {
        let mut recording = Recording::of(&run.history);
        for (kind, place, extent) in nudges {
            recording.nudge(kind, usize::from(place), usize::from(extent));
        }
        recording.history()
    })
}

/// An operation in progress.
#[derive(Clone, Copy)]
struct Open {
    id: OperationId,
    /// Segment and value of an update.
    written: Option<(usize, i64)>,
    has_effect: bool,
}

struct Simulation {
    shape: Shape,
    recording: Recording,
    operations: usize,
    open: Vec<Option<Open>>,
    /// The values that each open scan has seen.
    seen: Vec<Vec<i64>>,
    /// Updates of unknown outcome that may still take effect.
    lingering: Vec<Open>,
    state: Vec<i64>,
    /// Number of updates so far.
    updates: i64,
    /// For each segment, true if it has switched.
    switched: Vec<bool>,
    effects: Vec<OperationId>,
}

impl Simulation {
    fn new(shape: Shape) -> Self {
        let processes = shape.segments + shape.scanners;
        Self {
            shape,
            recording: Recording::new(shape.segments, processes, shape.writers),
            operations: 0,
            open: vec![None; processes],
            seen: vec![Vec::new(); processes],
            lingering: Vec::new(),
            state: vec![0; shape.segments],
            updates: 0,
            switched: vec![false; shape.segments],
            effects: Vec::new(),
        }
    }

    /// Performs the acts of a tape, each two bytes: the process, and its action.
    fn run(mut self, tape: &[(u8, u8)]) -> Run {
        for &(actor, deed) in tape {
            let process = usize::from(actor) % self.open.len();
            match self.open[process] {
                None => self.invoke(process, deed),
                Some(open) if !open.has_effect => self.take_effect_or_fault(process, open, deed),
                Some(open) => self.respond(process, open, deed),
            }
        }
        let history = self.recording.history();
        let is_included = |id: &OperationId| {
            history.operation(*id).is_complete() || !history.operation(*id).is_scan()
        };
        let effects =
            Linearization { order: self.effects.into_iter().filter(is_included).collect() };
        Run { history, effects }
    }

    fn invoke(&mut self, process: usize, what: u8) {
        let may_update = self.shape.writers == Writers::Many || process < self.shape.segments;
        let id = OperationId::from_index(self.operations);
        self.operations += 1;
        let written = (may_update && !what.is_multiple_of(3)).then(|| {
            let segment = match self.shape.writers {
                Writers::Single => process,
                Writers::Many => usize::from(what / 3) % self.shape.segments,
            };
            (segment, self.next_value(segment, what))
        });
        self.open[process] = Some(Open { id, written, has_effect: false });
        let letter = match written {
            Some((segment, value)) => Letter::InvokeUpdate { segment, value },
            None => Letter::InvokeScan,
        };
        self.recording.push(process, letter);
    }

    fn next_value(&mut self, segment: usize, what: u8) -> i64 {
        self.updates += 1;
        match self.shape.values {
            Values::Differentiated => self.updates,
            Values::Recurring => self.updates % PERIOD,
            Values::Few => i64::from(what / 32 % 3),
            Values::Simple => {
                self.switched[segment] |= segment < 2 && what >= 128;
                i64::from(self.switched[segment])
            }
        }
    }

    fn take_effect(&mut self, open: Open) {
        self.effects.push(open.id);
        if let Some((segment, value)) = open.written {
            self.state[segment] = value;
        }
    }

    fn take_effect_or_fault(&mut self, process: usize, open: Open, what: u8) {
        if self.shape.failures && what < 16 {
            self.open[process] = None;
            self.recording.push(process, Letter::Fail);
        } else if self.shape.losses && what < 40 {
            self.open[process] = None;
            self.lingering.extend(open.written.map(|_| open));
            self.recording.push(process, Letter::Unknown);
        } else if what < 80 && !self.lingering.is_empty() {
            let late = self.lingering.swap_remove(usize::from(what) % self.lingering.len());
            self.take_effect(late);
        } else {
            self.take_effect(open);
            self.seen[process].clone_from(&self.state);
            self.open[process] = Some(Open { has_effect: true, ..open });
        }
    }

    fn respond(&mut self, process: usize, open: Open, what: u8) {
        let letter = match open.written {
            _ if self.shape.losses && what < 16 => Letter::Unknown,
            Some(_) => Letter::RespondUpdate,
            None => Letter::RespondScan { values: self.seen[process].clone() },
        };
        self.open[process] = None;
        self.recording.push(process, letter);
    }
}
