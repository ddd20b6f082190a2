//! From a program to an answer for every n: which obligations are tried, in which order.
//!
//! A program is proved with some kind of ghost scans if the views that its scans return are
//! those of ghost scans within them ([`Mode::Nested`]), and the vectors that ghost scans
//! put together themselves are right ([`Mode::Direct`]), by one specification or another.
//! A wrong guess can only fail. Faults are excluded with nesting, for all code.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use snapshot_language::deadline::Deadline;
use snapshot_language::program::{Program, independence};

use super::compile::compile_within;
use super::model::{Ghosts, Obligation, Part, Specification, Unsupported};
use super::prove::{Finding, Limits, Sabotage, prove};
use super::shape::{I, J, Mode, T};

/// What became of an obligation.
#[derive(Clone, Debug)]
pub struct Rung {
    /// Which.
    pub obligation: Obligation,
    /// How its proof went; or what is not modelled.
    pub finding: Result<Finding, Unsupported>,
}

impl Rung {
    /// Whether it was shown.
    pub fn holds(&self) -> bool {
        self.finding.as_ref().is_ok_and(Finding::holds)
    }
}

/// The answer for every n.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether all simple executions of all n >= 2 processes are linearizable, for all
    /// pairs, and no execution goes wrong.
    pub proved: bool,
    /// Whether the program looks at values, so that nothing was tried.
    pub looks_at_values: bool,
    /// What was tried, in order.
    pub rungs: Vec<Rung>,
}

/// Which rungs are tried.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rungs {
    /// Those that are left out.
    without: Vec<Obligation>,
}

/// There is no rung of this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownRung {
    /// The name.
    pub name: String,
}

impl Rungs {
    /// All rungs, in the order in which they are tried.
    pub fn all() -> Vec<Obligation> {
        let of = |ghosts| [nested(ghosts).to_vec(), direct(ghosts)].concat().concat();
        // Of rounds, whichever they are.
        let mut rounds = of(Ghosts::Rounds { begin: 0, end: 0 });
        rounds.retain(|rung| rung.mode == Mode::Direct || rung.part == Part::Tokens);
        [of(Ghosts::Scans), of(Ghosts::Calls), rounds].concat()
    }

    /// Whether a rung is tried.
    pub fn contains(&self, rung: Obligation) -> bool {
        !self.without.iter().any(|without| without.name() == rung.name())
    }
}

/// `all`, names apart by commas, or `no-NAME` for all but some.
impl std::str::FromStr for Rungs {
    type Err = UnknownRung;

    fn from_str(text: &str) -> Result<Self, UnknownRung> {
        if text == "all" {
            return Ok(Self::default());
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for name in text.split(',').map(str::trim) {
            let (list, name) = match name.strip_prefix("no-") {
                Some(name) => (&mut without, name),
                None => (&mut with, name),
            };
            let rung = Self::all().into_iter().find(|rung| rung.name() == name);
            list.push(rung.ok_or_else(|| UnknownRung { name: name.to_owned() })?);
        }
        if !with.is_empty() {
            without.extend(Self::all().into_iter().filter(|rung| !with.contains(rung)));
        }
        Ok(Self { without })
    }
}

impl Obligation {
    /// The name of the rung: of which ghost scans, and what is shown of them.
    pub fn name(self) -> String {
        let what = match (self.mode, self.part, self.specification) {
            (Mode::Nested, Part::Faults, _) => "faults",
            (Mode::Nested, Part::Tokens, _) => "nesting",
            (Mode::Nested, ..) => "faults+nesting",
            (Mode::Direct, _, Specification::Observer) => "observer",
            (Mode::Direct, Part::By(I), _) => "memory-i",
            (Mode::Direct, Part::By(J), _) => "memory-j",
            (Mode::Direct, ..) => "memory-t",
        };
        format!("{}.{what}", self.ghosts.name())
    }
}

impl Ghosts {
    /// The name of the guess.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scans => "scans",
            Self::Calls => "calls",
            Self::Rounds { .. } => "rounds",
        }
    }
}

/// What a proof may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// Bytes at most.
    pub bytes: usize,
    /// Views at most, of all rungs together.
    pub views: usize,
    /// When to stop.
    pub until: Option<Instant>,
    /// Stops it as soon as it is set.
    pub stop: Option<&'a AtomicBool>,
}

/// Without bound.
impl Default for Budget<'_> {
    fn default() -> Self {
        Self { bytes: usize::MAX, views: usize::MAX, until: None, stop: None }
    }
}

/// Tries to prove a program for every n. `progress` is asked before each obligation
/// whether to go on.
pub fn prove_all(
    program: &Program,
    budget: Budget<'_>,
    progress: &mut dyn FnMut(Obligation) -> bool,
) -> Answer {
    let mut answer = Answer { proved: false, looks_at_values: false, rungs: Vec::new() };
    if independence::check(program).is_err() {
        answer.looks_at_values = true;
        return answer;
    }
    let mut tries = Tries { program, budget, progress, rungs: &mut answer.rungs };
    // The small ways to show nesting first, of each guess: the large ones take much longer.
    let guesses = [Ghosts::Scans, Ghosts::Calls];
    let [small, large] = [0, 1].map(|way| guesses.map(|ghosts| (ghosts, way)));
    answer.proved = small.into_iter().chain(large).any(|(ghosts, way)| {
        tries.all(&nested(ghosts)[way]) && direct(ghosts).iter().any(|parts| tries.all(parts))
    });
    if !answer.proved {
        answer.proved = by_rounds(program, budget, progress, &mut answer.rungs);
    }
    answer
}

/// Rounds of several processes, once faults are excluded: for nesting and vectors it is the same
/// what ghost scans are.
fn by_rounds(
    program: &Program,
    budget: Budget<'_>,
    progress: &mut dyn FnMut(Obligation) -> bool,
    rungs: &mut Vec<Rung>,
) -> bool {
    let is_safe = rungs.iter().any(|rung| {
        let Obligation { mode, part, .. } = rung.obligation;
        rung.holds() && mode == Mode::Nested && part != Part::Tokens
    });
    let deadline = Deadline::new(budget.until, budget.stop);
    let candidates = super::rounds::candidates_within(program, deadline);
    let Ok(candidates) = candidates else { return false };
    let mut tries = Tries { program, budget, progress, rungs };
    is_safe
        && candidates.into_iter().take_while(|_| !deadline.is_over()).any(|ghosts| {
            let [parts, _] = nested(ghosts);
            tries.all(&parts[1..]) && direct(ghosts).iter().any(|parts| tries.all(parts))
        })
}

/// The ways to show nesting: by parts, which are small; or all at once, where nothing that
/// may matter is left out.
fn nested(ghosts: Ghosts) -> [Vec<Obligation>; 2] {
    let of = |part| {
        let specification = Specification::Observer;
        Obligation { mode: Mode::Nested, ghosts, specification, part }
    };
    [vec![of(Part::Faults), of(Part::Tokens)], vec![of(Part::Whole)]]
}

/// The ways to show that vectors are right.
fn direct(ghosts: Ghosts) -> Vec<Vec<Obligation>> {
    let of = |specification, part| Obligation { mode: Mode::Direct, ghosts, specification, part };
    let observer = vec![of(Specification::Observer, Part::Whole)];
    let local = [T, I, J].map(|member| of(Specification::Local, Part::By(member))).to_vec();
    match ghosts {
        Ghosts::Scans => vec![observer, local],
        Ghosts::Calls => vec![local, observer],
        Ghosts::Rounds { .. } => vec![observer],
    }
}

/// Attempts, one after the other.
struct Tries<'a> {
    program: &'a Program,
    budget: Budget<'a>,
    progress: &'a mut dyn FnMut(Obligation) -> bool,
    rungs: &'a mut Vec<Rung>,
}

impl Tries<'_> {
    /// Whether all of them hold.
    fn all(&mut self, obligations: &[Obligation]) -> bool {
        obligations.iter().all(|obligation| self.attempt(*obligation))
    }

    fn attempt(&mut self, obligation: Obligation) -> bool {
        if let Some(known) = self.rungs.iter().find(|rung| rung.obligation == obligation) {
            return known.holds();
        }
        if !(self.progress)(obligation) {
            return false;
        }
        // Half of what is left: there may be other ways.
        let now = Instant::now();
        let until = self.budget.until.map(|until| now + until.saturating_duration_since(now) / 2);
        let views = |rung: &Rung| rung.finding.as_ref().map_or(0, Finding::views);
        let taken: usize = self.rungs.iter().map(views).sum();
        let Budget { bytes, views, stop, .. } = self.budget;
        let limits = Limits { views: views.saturating_sub(taken), bytes, until, stop };
        let finding = match compile_within(self.program, obligation, limits.deadline()) {
            Ok(model) => Ok(prove(&model, limits, Sabotage::default()).finding),
            Err(unsupported) => match limits.deadline().check() {
                Ok(()) => Err(unsupported),
                Err(stopped) => Ok(Finding::stopped(stopped, now.elapsed())),
            },
        };
        let rung = Rung { obligation, finding };
        let holds = rung.holds();
        self.rungs.push(rung);
        holds
    }
}
