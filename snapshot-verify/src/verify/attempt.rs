//! Attempts at a proof for every n of one program: first the prover's ladder, then, where no way
//! of it leads to one, sets of views that the rules of certificates close without any hint.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use snapshot_everyn::ladder::{Answer, Budget, Climb, Ladder, Models, Rungs};
use snapshot_everyn::prove::VIEWS;
use snapshot_invariant::check::Uncovered;
use snapshot_invariant::guess::guesses;
use snapshot_invariant::write::Part;

use super::Watch;
use super::confirmation::{Closed, Closing, Confirmation, Limits, close, confirm};
use super::subject::Subject;

/// How many views of a part that keeps everything are closed at most. Where it takes more, the program has
/// variables that matter to nothing, and what should be left out is for the prover to find.
const CLOSED: usize = 200_000;

/// The attempts at a proof of one program.
pub(super) struct Attempt<'m> {
    pub subject: &'m Subject<'m>,
    ladder: Ladder<'m>,
    /// Whether the ladder has ways left.
    climbs: bool,
    /// The ways without hints that have not failed.
    ways: VecDeque<Vec<Part>>,
    /// What came of these.
    pub closed: Option<Closed>,
    /// What the check says of the proof, if there is one.
    pub confirmation: Option<Confirmation>,
    /// The budget that was short.
    short: Option<&'static str>,
}

/// What an attempt may take.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    pub views: usize,
    pub memory: u64,
    pub began: Instant,
    pub time: Option<Duration>,
}

impl Allowance {
    fn limits(self) -> Limits {
        Limits { memory: self.memory, time: self.time.map(|time| (self.began, time)) }
    }
}

impl<'m> Attempt<'m> {
    /// Of a program, by some rungs. Without any rung left out, also without hints.
    pub fn new(subject: &'m Subject<'m>, rungs: &Rungs, models: &'m Models) -> Self {
        let ladder = Ladder::new(&subject.program, rungs, models);
        let is_whole = *rungs == Rungs::default() && !ladder.answer().looks_at_values;
        let ways = if is_whole { guesses(&subject.program).into() } else { VecDeque::new() };
        let (closed, confirmation) = (None, None);
        Self { subject, ladder, climbs: true, ways, closed, confirmation, short: None }
    }

    /// What the prover has found.
    pub fn answer(&self) -> Answer {
        let answer = self.ladder.answer();
        Answer { short: answer.short.or(self.short), ..answer }
    }

    /// Whether a proof rests on one engine alone, or on a program that is not the one of the text.
    pub const fn stands_alone(&self) -> bool {
        self.closed.is_some() || !self.subject.changes.is_empty()
    }

    /// An execution that contradicts a proof that the check accepts.
    pub fn uncovered(&self) -> Option<&Uncovered> {
        self.confirmation.as_ref()?.uncovered.as_ref()
    }

    /// Whether something is left to try.
    pub fn is_open(&self) -> bool {
        self.climbs || !self.ways.is_empty()
    }

    /// Goes on; whether there is a proof in which the check finds no gap.
    pub fn go_on(&mut self, may: Allowance, watch: &'m dyn Watch) -> bool {
        if self.climbs {
            let budget = Budget {
                bytes: usize::try_from(may.memory).unwrap_or(usize::MAX),
                views: may.views,
                until: may.time.and_then(|time| may.began.checked_add(time)),
                stop: Some(watch.stop()),
            };
            let climb = self.ladder.climb(budget, &mut |rung| watch.prove(&rung.name()));
            self.climbs = climb == Climb::Short(VIEWS);
            match climb {
                Climb::Proved => {
                    let answer = self.ladder.answer();
                    let found = confirm(self.subject, &answer, may.limits(), watch);
                    let (counts, is_ours) = (!found.finds_gap(), found.uncovered.is_some());
                    self.confirmation = Some(found);
                    if counts || is_ours {
                        return counts;
                    }
                }
                Climb::Short(_) => return false,
                Climb::Failed => {}
            }
        }
        self.close(may, watch)
    }

    /// Tries the ways without hints.
    fn close(&mut self, may: Allowance, watch: &dyn Watch) -> bool {
        let views = may.views.min(CLOSED);
        for _ in 0..self.ways.len() {
            let Some(way) = self.ways.pop_front() else { break };
            if let Some(last) = way.last() {
                watch.prove(&last.obligation.name());
            }
            match close(self.subject, way.clone(), views, may.limits(), watch) {
                Closing::Closed(closed, confirmation) => {
                    let counts = !confirmation.finds_gap();
                    let is_ours = confirmation.uncovered.is_some();
                    (self.closed, self.confirmation) = (Some(*closed), Some(confirmation));
                    if counts || is_ours {
                        return counts;
                    }
                    self.closed = None;
                }
                Closing::Short(VIEWS) if views < CLOSED => self.ways.push_back(way),
                Closing::Short(VIEWS) | Closing::Fails => {}
                Closing::Short(which) => {
                    self.short = Some(which);
                    self.ways.clear();
                }
            }
        }
        false
    }
}
