//! Check of a certificate for every n. It searches nothing: it loops over the listed views, and
//! each successor must be listed, too.

mod head;
mod projected;

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, BufRead};

use rustc_hash::FxHashSet;
use snapshot_core::seeded::SeededMap;
use snapshot_language::Span;
use snapshot_language::program::{Interface, Program, independence};
use snapshot_semantics::certificate::lines::{LineError, Lines};
use thiserror::Error;

use crate::claim::{Claim, Obligation, Property, TITLE, missing};
use crate::interference::{Effect, Targets};
use crate::layout::{Layout, Unsupported, may_fail};
use crate::projection::{Coverage, Extent, Site, site};
use crate::recall::Recall;
use crate::rewriting::rewritten;
use crate::step::{Failure, InjectedFault, Kind};
use crate::text::Rows;
use crate::views::{Valid, centres, initial, lists};
use crate::{Budget, Unfinished};

/// Result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The certificate proves its claim.
    Accepted(Accepted),
    /// The certificate does not prove its claim.
    Refused(Refusal),
    /// The check did not finish.
    Unknown(Unfinished),
    /// The certificate proves its claim by the rules of this crate, but they are wrong: an execution
    /// contradicts it.
    Uncovered(Uncovered),
    /// The text is not a certificate of this kind and version.
    Foreign,
}

/// Theorem that a certificate proves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Accepted {
    pub claim: Claim,
    /// Obligations, each with its number of views.
    pub obligations: Vec<(Obligation, u64)>,
    /// Number of steps made, by processes and where views meet.
    pub steps: u64,
    /// Executions that were projected into the views, per obligation; empty if none was asked for.
    pub projected: Vec<Coverage>,
}

/// A state of an execution without a view in a list that is closed by the rules.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{}: an execution leaves the proved views: {state}", .obligation.name())]
pub struct Uncovered {
    pub obligation: Obligation,
    /// The state, or the execution.
    pub state: String,
}

impl Accepted {
    /// Returns the number of views of all obligations.
    pub fn views(&self) -> u64 {
        self.obligations.iter().map(|(_, views)| views).sum()
    }
}

#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Malformed line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The certificate is for another program.
    #[error("it is for {what} {claimed}, not {given}")]
    Other {
        /// Differing property.
        what: &'static str,
        /// Its value in the certificate.
        claimed: String,
        /// Its value in the program.
        given: String,
    },
    /// Simple executions are not representative.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    /// It is about a program that is rewritten in another way.
    #[error("the program is not rewritten as it says")]
    Rewritten,
    /// A construct.
    #[error("certificates for every n do not know {}", .0.0)]
    Unsupported(Unsupported),
    /// The proof lacks this obligation.
    #[error("it is no whole proof: {} is missing", .0.name())]
    Missing(Obligation),
    /// The obligations use different ghost scans.
    #[error("{} is of other ghost scans than {}", .0.name(), .1.name())]
    Guesses(Obligation, Obligation),
    /// Updates take effect at another access than in another obligation.
    #[error("{}: updates take effect elsewhere than for the obligations before", .0.name())]
    Points(Obligation),
    /// Rounds differ from another obligation's.
    #[error("{}: rounds are others than for the obligations before", .0.name())]
    Rounds(Obligation),
    #[error("{}: a view of the initial state is not listed", .0.name())]
    Initial(Obligation),
    #[error("{}: the view of line {line} leads to {failure}", .obligation.name())]
    Failure {
        obligation: Obligation,
        /// Line of the view.
        line: u64,
        failure: Failure,
    },
    /// A step leads to a view that is not listed.
    #[error("{}: the view of line {line} has {} that leads to a view that is not listed",
        .obligation.name(), if *.joined { "a step of another process" } else { "a step" })]
    Escape {
        obligation: Obligation,
        /// Line of the view.
        line: u64,
        /// True if another process makes the step, as shown by another view.
        joined: bool,
    },
}

impl Refusal {
    /// Returns the location in the program's text.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Failure { failure, .. } => failure.span(),
            _ => None,
        }
    }
}

enum Stop {
    Refused(Refusal),
    Unknown(Unfinished),
    Uncovered(Uncovered),
    Foreign,
    Io(io::Error),
}

impl<E: Into<Refusal>> From<E> for Stop {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Checks a certificate of a program whose text has this digest.
///
/// # Errors
/// If the certificate cannot be read.
pub fn check(
    program: &Program,
    digest: &str,
    input: &mut impl BufRead,
    budget: &mut Budget<'_>,
) -> io::Result<Answer> {
    check_projecting(program, digest, input, budget, None)
}

/// As [`check()`], and projects executions into the views of each obligation, if an extent is given.
///
/// # Errors
/// As [`check()`].
pub fn check_projecting(
    program: &Program,
    digest: &str,
    input: &mut impl BufRead,
    budget: &mut Budget<'_>,
    extent: Option<Extent>,
) -> io::Result<Answer> {
    let memory = budget.memory;
    // The layout calls the budget, too, within steps.
    let proceed = RefCell::new(&mut *budget.proceed);
    let proceed = || (proceed.borrow_mut())();
    let lines = Lines::new(input);
    let mut head = Check {
        program,
        lines,
        memory,
        proceed: &proceed,
        steps: 0,
        extent,
        projected: Vec::new(),
    };
    let checked = head.head(digest).and_then(|(claim, program)| {
        let mut check = Check { program: &program, lines: head.lines, ..head };
        check.run(claim)
    });
    match checked {
        Ok(accepted) => Ok(Answer::Accepted(accepted)),
        Err(Stop::Refused(refusal)) => Ok(Answer::Refused(refusal)),
        Err(Stop::Unknown(unfinished)) => Ok(Answer::Unknown(unfinished)),
        Err(Stop::Uncovered(uncovered)) => Ok(Answer::Uncovered(uncovered)),
        Err(Stop::Foreign) => Ok(Answer::Foreign),
        Err(Stop::Io(error)) => Err(error),
    }
}

struct Check<'p, 'l, R> {
    program: &'p Program,
    lines: Lines<'l, R>,
    memory: u64,
    proceed: &'p dyn Fn() -> bool,
    steps: u64,
    extent: Option<Extent>,
    projected: Vec<Coverage>,
}

/// Views with one centre, each with the number of its list; and the interference of their steps.
type SharedPartEntry<'v> = (Vec<(usize, &'v [u8])>, FxHashSet<Effect>);

/// Views of a list, each with its line.
type Listed = SeededMap<Box<[u8]>, u64>;

impl<'p, R: BufRead> Check<'p, '_, R> {
    fn field(&mut self, name: &str) -> Result<String, Stop> {
        Ok(self.lines.field(name).map_err(Stop::Io)?.map(str::to_owned)?)
    }

    fn count(&mut self, name: &str) -> Result<u64, Stop> {
        Ok(self.lines.count(name).map_err(Stop::Io)??)
    }

    fn line(&mut self, expected: &str) -> Result<String, Stop> {
        Ok(self.lines.expect_line(expected).map_err(Stop::Io)?.map(str::to_owned)?)
    }

    fn expected(&self, expected: &str) -> Stop {
        Stop::Refused(self.lines.expected(expected).into())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        let mut proceed = self.proceed;
        let mut budget = Budget { memory: self.memory, proceed: &mut proceed };
        budget.spend(bytes).map_err(Stop::Unknown)
    }

    /// The claim, and the program that it is about.
    fn head(&mut self, digest: &str) -> Result<(Claim, Cow<'p, Program>), Stop> {
        if self.lines.next_line().map_err(Stop::Io)? != Ok(Some(TITLE)) {
            return Err(Stop::Foreign);
        }
        let claim = self.claim(digest)?;
        if !matches!(self.program.interface, Interface::Snapshot { .. }) {
            return Err(Refusal::Unsupported(Unsupported("objects other than the snapshot")).into());
        }
        if independence::check(self.program).is_err() {
            return Err(Refusal::LooksAtValues.into());
        }
        let program = rewritten(self.program, &claim.rewritten);
        let program = program.ok_or(Refusal::Rewritten)?;
        Ok((claim, program))
    }

    fn run(&mut self, claim: Claim) -> Result<Accepted, Stop> {
        let mut obligations: Vec<(Obligation, u64)> = Vec::new();
        let (mut point, mut round) = (None, None);
        let count = self.count("obligations")?;
        for _ in 0..count {
            let name = self.field("obligation")?;
            let obligation = Obligation::from_name(&name)
                .ok_or_else(|| self.expected("`obligation` and the name of one"))?;
            if let Some((first, _)) = obligations.first()
                && first.ghosts != obligation.ghosts
            {
                return Err(Refusal::Guesses(obligation, *first).into());
            }
            let is_nesting = |(one, _): &(Obligation, u64)| one.property == Property::Nesting;
            let layout = self.layout(obligation, obligations.iter().any(is_nesting))?;
            // All obligations share the memory's history: updates take effect in one place.
            if matches!(obligation.property, Property::Memory(_)) {
                let first = *point.get_or_insert(layout.point);
                if first != layout.point {
                    return Err(Refusal::Points(obligation).into());
                }
            }
            // The same applies to rounds.
            let first = *round.get_or_insert(layout.round);
            if first != layout.round {
                return Err(Refusal::Rounds(obligation).into());
            }
            let views = self.obligation(&layout)?;
            obligations.push((obligation, views));
        }
        self.lines.end().map_err(Stop::Io)??;
        let names: Vec<Obligation> = obligations.iter().map(|(one, _)| *one).collect();
        match missing(&names, may_fail(self.program)) {
            Some(missing) => Err(Refusal::Missing(missing).into()),
            None => {
                let projected = std::mem::take(&mut self.projected);
                Ok(Accepted { claim, obligations, steps: self.steps, projected })
            }
        }
    }

    fn claim(&mut self, digest: &str) -> Result<Claim, Stop> {
        let algorithm = self.field("algorithm")?;
        let bug = self.field("bug")?;
        let text = self.field("text")?;
        let given_bug = self.program.bug.as_deref().unwrap_or("-");
        let pairs = [
            ("the algorithm", &algorithm, self.program.name.as_str()),
            ("the bug", &bug, given_bug),
            (
                "another text of the algorithm, which has changed since: that with SHA-256",
                &text,
                digest,
            ),
        ];
        for (what, claimed, given) in pairs {
            if claimed != given {
                let name = |name: &str| if name == "-" { "none" } else { name }.to_owned();
                let (claimed, given) = (name(claimed), name(given));
                return Err(Refusal::Other { what, claimed, given }.into());
            }
        }
        let mut rewritten = Vec::new();
        for _ in 0..self.count("rewritten")? {
            rewritten.push(self.line("a form of rewriting, and a variable")?);
            // There are no more than this.
            if rewritten.len() > self.program.shared.len() + self.program.private.len() {
                return Err(self.expected("fewer variables"));
            }
        }
        Ok(Claim { algorithm, bug: self.program.bug.clone(), digest: text, rewritten })
    }

    /// Stops if the budget is exhausted: results found since the last question would be incomplete.
    fn in_time(&self, layout: &Layout<'_>) -> Result<(), Stop> {
        match layout.asks.go_on(0) {
            true => Ok(()),
            false => Err(Stop::Unknown(Unfinished::Ended)),
        }
    }

    fn obligation(&mut self, layout: &Layout<'_>) -> Result<u64, Stop> {
        let lists = lists(layout);
        let mut all: Vec<Listed> = Vec::new();
        let mut bytes = 0;
        for kinds in &lists {
            all.push(self.views(layout, kinds, &mut bytes)?);
        }
        for (kinds, listed) in lists.iter().zip(&all) {
            let is_listed = |view: &Vec<u8>| listed.contains_key(view.as_slice());
            let are_listed =
                |kind: &Kind| initial(layout, kind).is_ok_and(|first| first.iter().all(is_listed));
            let are_listed = kinds.iter().all(are_listed);
            self.in_time(layout)?;
            if !are_listed {
                return Err(Refusal::Initial(layout.obligation).into());
            }
        }
        let sites = self.closed(layout, &lists, &all, bytes)?;
        self.in_time(layout)?;
        self.projected(layout, lists, &all, &sites)?;
        Ok(all.iter().map(|listed| listed.len() as u64).sum())
    }

    /// Reads the views of a list.
    fn views(
        &mut self,
        layout: &Layout<'_>,
        kinds: &[Kind],
        bytes: &mut usize,
    ) -> Result<Listed, Stop> {
        let mut listed = Listed::default();
        let mut rows = Rows::new(layout);
        // The kinds of a list differ in the order of their members, and views do not depend on it.
        let valid = kinds.first().map(|kind| Valid::new(layout, kind));
        for _ in 0..self.count("views")? {
            let line = self.line("a view")?;
            let view = rows
                .view(&line)
                .filter(|view| valid.as_ref().is_none_or(|valid| valid.has(layout, view)));
            layout.asks.note(layout.slots.len());
            self.in_time(layout)?;
            let view = view.ok_or_else(|| self.expected("a view, as it is written"))?;
            *bytes += view.len() + 64;
            if listed.len().is_multiple_of(PERIOD) {
                self.spend(*bytes)?;
            }
            if listed.insert(view.into(), self.lines.number()).is_some() {
                return Err(self.expected("another view than before"));
            }
        }
        Ok(listed)
    }

    /// Checks that all views lead to listed views only: first by the steps that they show, then by
    /// the steps of others with the same centre. Returns the sites of these steps.
    fn closed(
        &mut self,
        layout: &Layout<'_>,
        lists: &[Vec<Kind>],
        all: &[Listed],
        mut bytes: usize,
    ) -> Result<FxHashSet<Site>, Stop> {
        let mut sites = FxHashSet::default();
        let obligation = layout.obligation;
        let planted = InjectedFault::default();
        let mut numbers: SeededMap<Vec<u8>, usize> = SeededMap::default();
        let mut homes: Vec<SharedPartEntry<'_>> = Vec::new();
        for (number, (kinds, listed)) in lists.iter().zip(all).enumerate() {
            let mut recall = Recall::new(layout, kinds, planted);
            // The refusal names the first wrong line, whatever the order of a table. A list has a
            // view in each of its lines.
            let first = listed.values().copied().min().unwrap_or_default();
            let mut views: Vec<(u64, &[u8])> = vec![(first, &[]); listed.len()];
            for (view, &line) in listed {
                views[(line - first) as usize] = (line, view);
            }
            for (done, (line, view)) in views.into_iter().enumerate() {
                let failed = |failure| failed(obligation, line, failure);
                let steps = recall.steps(layout, view).map_err(failed)?;
                self.steps += steps.views.len() as u64;
                if let Some(kind) = kinds.first().filter(|_| !steps.effects.is_empty()) {
                    sites.insert(site(layout, kind, view));
                }
                if !steps.views.iter().all(|next| listed.contains_key(next.as_slice())) {
                    return Err(Refusal::Escape { obligation, line, joined: false }.into());
                }
                for centre in centres(layout, kinds, view) {
                    bytes += 40;
                    let home = *numbers.entry(centre).or_insert_with_key(|centre| {
                        bytes += centre.len() + 128;
                        homes.push(SharedPartEntry::default());
                        homes.len() - 1
                    });
                    let home = &mut homes[home];
                    home.0.push((number, view));
                    for effect in &steps.effects {
                        if !home.1.contains(effect) {
                            bytes += 200;
                            home.1.insert(effect.clone());
                        }
                    }
                }
                if done.is_multiple_of(PERIOD) {
                    self.spend(bytes + recall.bytes)?;
                }
            }
        }
        let mut applied = 0_usize;
        for (views, effects) in &homes {
            // The interference of a step depends on which members are present, not on their order.
            let kinds = lists.iter().filter_map(|kinds| kinds.first());
            let of = |kind: &Kind| effects.iter().map(|one| one.targets(layout, kind)).collect();
            let targets: Vec<Vec<Targets>> = kinds.map(of).collect();
            for &(number, view) in views {
                let (kinds, listed) = (&lists[number], &all[number]);
                let line = || listed[view];
                let Some(kind) = kinds.first() else { continue };
                for (effect, targets) in effects.iter().zip(&targets[number]) {
                    let made = effect.apply_to(layout, kind, targets, view, planted);
                    let made = made.map_err(|failure| failed(obligation, line(), failure))?;
                    self.steps += made.len() as u64;
                    if !made.iter().all(|next| listed.contains_key(next.as_slice())) {
                        let line = line();
                        return Err(Refusal::Escape { obligation, line, joined: true }.into());
                    }
                    applied += 1;
                    if applied.is_multiple_of(PERIOD) {
                        self.spend(bytes)?;
                    }
                }
            }
        }
        Ok(sites)
    }
}

/// Turns a failure of a view into a refusal.
fn failed(obligation: Obligation, line: u64, failure: Failure) -> Stop {
    match failure {
        Failure::Ended => Stop::Unknown(Unfinished::Ended),
        failure => Stop::Refused(Refusal::Failure { obligation, line, failure }),
    }
}

/// Views between two calls of the budget.
const PERIOD: usize = 64;
