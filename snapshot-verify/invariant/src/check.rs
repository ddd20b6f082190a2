//! The check of a certificate for every n. It searches nothing: loops over the views that
//! are listed, and all that they lead to must be listed, too.

use std::io::{self, BufRead};

use rustc_hash::FxHashSet;
use snapshot_core::seeded::SeededMap;
use snapshot_language::Span;
use snapshot_language::program::{Interface, Program, SharedId, independence};
use snapshot_semantics::certificate::lines::{LineError, Lines};
use thiserror::Error;

use crate::claim::{Aim, Claim, Ghosts, Obligation, TITLE, missing};
use crate::flips::{self, Bit};
use crate::join::Effect;
use crate::layout::{Layout, Unfit, may_fail};
use crate::names::{self, Name};
use crate::recall::Recall;
use crate::step::{Failure, Kind, Planted, late, lost};
use crate::text::Rows;
use crate::views::{MOST_VERSIONS, centres, initial, is_view, lists};
use crate::{Budget, Unfinished};

/// What came of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It proves its claim.
    Accepted(Accepted),
    /// It does not.
    Refused(Refusal),
    /// It was not checked to its end.
    Unknown(Unfinished),
    /// It is no certificate of this kind and version.
    Foreign,
}

/// What a certificate proves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Accepted {
    /// Its claim.
    pub claim: Claim,
    /// The obligations, and the number of views of each.
    pub obligations: Vec<(Obligation, u64)>,
    /// How many steps were made, of processes and of views that meet.
    pub steps: u64,
}

impl Accepted {
    /// The views of all obligations.
    pub fn views(&self) -> u64 {
        self.obligations.iter().map(|(_, views)| views).sum()
    }
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A line is not as it must be.
    #[error(transparent)]
    Line(#[from] LineError),
    /// It is for another program.
    #[error("it is for {what} {claimed}, not {given}")]
    Other {
        /// What differs.
        what: &'static str,
        /// In the certificate.
        claimed: String,
        /// Of the program.
        given: String,
    },
    /// Simple executions do not speak for the others.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    /// A construct.
    #[error("certificates for every n do not know {}", .0.0)]
    Unfit(Unfit),
    /// It is half a proof.
    #[error("it is no whole proof: {} is missing", .0.name())]
    Missing(Obligation),
    /// Obligations of different ghost scans.
    #[error("{} is of other ghost scans than {}", .0.name(), .1.name())]
    Guesses(Obligation, Obligation),
    /// Updates take effect elsewhere than for another obligation.
    #[error("{}: updates take effect elsewhere than for the obligations before", .0.name())]
    Points(Obligation),
    /// Rounds are others than for another obligation.
    #[error("{}: rounds are others than for the obligations before", .0.name())]
    Rounds(Obligation),
    /// A view of the initial state is not listed.
    #[error("{}: a view of the initial state is not listed", .0.name())]
    Initial(Obligation),
    /// A step goes wrong.
    #[error("{}: the view of line {line} leads to {failure}", .obligation.name())]
    Failure {
        /// The obligation.
        obligation: Obligation,
        /// The line of the view.
        line: u64,
        /// What goes wrong.
        failure: Failure,
    },
    /// A step leads out of the list.
    #[error("{}: the view of line {line} has {} that leads to a view that is not listed",
        .obligation.name(), if *.joined { "a step of another process" } else { "a step" })]
    Escape {
        /// The obligation.
        obligation: Obligation,
        /// The line of the view.
        line: u64,
        /// Whether the step is that of another process, which another view shows.
        joined: bool,
    },
}

impl Refusal {
    /// Where in the program's text.
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
    Foreign,
    Io(io::Error),
}

impl<E: Into<Refusal>> From<E> for Stop {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Checks a certificate of a program, whose text has this digest.
///
/// # Errors
/// If it cannot be read.
pub fn check(
    program: &Program,
    digest: &str,
    input: &mut impl BufRead,
    budget: &mut Budget<'_>,
) -> io::Result<Answer> {
    let mut spend = |bytes| budget.spend(bytes);
    let mut check = Check { program, lines: Lines::new(input), budget: &mut spend, steps: 0 };
    match check.run(digest) {
        Ok(accepted) => Ok(Answer::Accepted(accepted)),
        Err(Stop::Refused(refusal)) => Ok(Answer::Refused(refusal)),
        Err(Stop::Unknown(unfinished)) => Ok(Answer::Unknown(unfinished)),
        Err(Stop::Foreign) => Ok(Answer::Foreign),
        Err(Stop::Io(error)) => Err(error),
    }
}

struct Check<'p, 'l, 'b, R> {
    program: &'p Program,
    lines: Lines<'l, R>,
    budget: &'b mut dyn FnMut(usize) -> Result<(), Unfinished>,
    steps: u64,
}

/// Views with one centre, each with the number of its list; and what their steps are to others.
type Home<'v> = (Vec<(usize, &'v [u8])>, FxHashSet<Effect>);

/// The views of a list, each with its line.
type Listed = SeededMap<Box<[u8]>, u64>;

impl<'p, R: BufRead> Check<'p, '_, '_, R> {
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
        (self.budget)(bytes).map_err(Stop::Unknown)
    }

    fn run(&mut self, digest: &str) -> Result<Accepted, Stop> {
        if self.lines.next_line().map_err(Stop::Io)? != Ok(Some(TITLE)) {
            return Err(Stop::Foreign);
        }
        let claim = self.claim(digest)?;
        if !matches!(self.program.interface, Interface::Snapshot { .. }) {
            return Err(Refusal::Unfit(Unfit("objects other than the snapshot")).into());
        }
        if independence::check(self.program).is_err() {
            return Err(Refusal::LooksAtValues.into());
        }
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
            let is_nesting = |(one, _): &(Obligation, u64)| one.aim == Aim::Nesting;
            let layout = self.layout(obligation, obligations.iter().any(is_nesting))?;
            // What was in memory is the same for all: updates take effect in one place.
            if matches!(obligation.aim, Aim::Memory(_)) {
                let first = *point.get_or_insert(layout.point);
                if first != layout.point {
                    return Err(Refusal::Points(obligation).into());
                }
            }
            // So are rounds.
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
            None => Ok(Accepted { claim, obligations, steps: self.steps }),
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
            ("the text with the digest", &text, digest),
        ];
        for (what, claimed, given) in pairs {
            if claimed != given {
                let name = |name: &str| if name == "-" { "none" } else { name }.to_owned();
                let (claimed, given) = (name(claimed), name(given));
                return Err(Refusal::Other { what, claimed, given }.into());
            }
        }
        Ok(Claim { algorithm, bug: self.program.bug.clone(), digest: text })
    }

    /// The fields that name a process.
    fn names(&mut self, obligation: Obligation) -> Result<Vec<Name>, Stop> {
        let mut named = Vec::new();
        for _ in 0..self.count("names")? {
            let line = self.line("a field that names a process")?;
            let name = names::of_line(self.program, obligation.has_tokens(), &line);
            let name = name.filter(|name| !named.contains(name));
            named.push(name.ok_or_else(|| {
                self.expected("a field, when it is in force, and the arrays whose rows it names")
            })?);
        }
        Ok(named)
    }

    /// What an obligation keeps, and forgets where.
    fn layout(&mut self, obligation: Obligation, nested: bool) -> Result<Layout<'p>, Stop> {
        let named = self.names(obligation)?;
        let mut layout =
            Layout::with_names(self.program, obligation, named).map_err(Refusal::Unfit)?;
        layout.nested = nested;
        let update = self.program.update().0 as usize;
        let point = self.field("point")?;
        if point != "-" {
            let count = layout.code[update].instructions.len();
            let at = point.parse().ok().filter(|at| *at < count);
            let at = at.ok_or_else(|| self.expected("`point` and an instruction of the update"))?;
            layout.point = Some(at);
        }
        if obligation.ghosts == Ghosts::Rounds {
            let round = match numbers(&self.field("round")?).as_deref() {
                Some([procedure, begin, other, end]) => {
                    Some([(*procedure, *begin), (*other, *end)])
                }
                _ => None,
            };
            let round = round.filter(|round| layout.may_be_round(*round));
            layout.round = Some(round.ok_or_else(|| {
                self.expected("`round`, and the writes at which rounds begin and end")
            })?);
        }
        let mut names = FxHashSet::default();
        for _ in 0..self.count("kept")? {
            let name = self.line("the name of a scalar")?;
            if !names.insert(name) {
                return Err(self.expected("another name than before"));
            }
            // There are no more than this.
            if names.len() > layout.slots.len() {
                return Err(self.expected("fewer names"));
            }
        }
        layout.keep(&names).map_err(|name| self.expected(&format!("no name like `{name}`")))?;
        match self.field("late")?.as_str() {
            "0" => {}
            "1" if late::may_be(&layout) => layout.late = true,
            _ => return Err(self.expected("`late 0`, or `late 1` where it can be")),
        }
        for _ in 0..self.count("loose")? {
            let line = self.line("a process, a procedure and a loop")?;
            let words: Vec<&str> = line.split(' ').collect();
            let loose = match words.as_slice() {
                [owner, procedure, number] => ["i", "j"]
                    .iter()
                    .position(|name| name == owner)
                    .zip(procedure.parse().ok().zip(number.parse().ok()))
                    .map(|(owner, (procedure, number))| (owner as u8, procedure, number)),
                _ => None,
            };
            let loose = loose.filter(|one| layout.bytes_of_loose(*one).is_some());
            let loose = loose.filter(|one| !layout.loose.contains(one));
            let loose = loose.ok_or_else(|| self.expected("i or j, and a loop over processes"))?;
            layout.loose.push(loose);
        }
        layout.alike = match self.field("alike")?.as_str() {
            "0" => false,
            "1" => true,
            _ => return Err(self.expected("`alike 0` or `alike 1`")),
        };
        for _ in 0..self.count("lost")? {
            let name = self.line("an LL/SC cell")?;
            let all = self.program.shared.iter().zip(0..);
            let variable =
                all.filter(|(one, _)| one.name == name).map(|(_, id)| SharedId(id)).next();
            let is_new = |id: &SharedId| layout.may_lose(*id) && !layout.lost.contains(id);
            let variable = variable.filter(|id| lost::may_be(obligation) && is_new(id));
            let variable = variable
                .ok_or_else(|| self.expected("an LL/SC cell, where vectors of rounds are shown"))?;
            layout.lost.push(variable);
        }
        for _ in 0..self.count("calls")? {
            let line = self.line("a procedure, and calls that it makes")?;
            let calls = numbers(&line).and_then(|numbers| {
                let (procedure, calls) = numbers.split_first()?;
                Some((*procedure, calls.to_vec())).filter(|calls| layout.may_be_alike(calls))
            });
            let calls = calls.ok_or_else(|| self.expected("calls of one procedure by another"))?;
            layout.calls.push(calls);
        }
        for _ in 0..self.count("decided")? {
            let line = self.line("a scalar, and a condition")?;
            let one = layout.decided_of_line(&line).filter(|one| !layout.decided.contains(one));
            let one = one.ok_or_else(|| self.expected("a scalar that is kept, and a condition"))?;
            layout.decided.push(one);
        }
        for _ in 0..self.count("classes")? {
            let line = self.line("bits, by name")?;
            let bits: Option<Vec<Bit>> =
                line.split(' ').map(|word| layout.bit_of_name(word)).collect();
            let bits = bits.ok_or_else(|| self.expected("bits, by name"))?;
            layout.classes.push(bits);
            if layout.classes.len() > flips::MOST {
                return Err(self.expected("no more classes of bits"));
            }
        }
        let forgotten = self.by_instruction("forgotten", &layout, |procedure, local| {
            let count = layout.frames[procedure].locals.len();
            local < count && layout.may_forget(procedure, local)
        })?;
        let is_linked = |_, variable: usize| matches!(layout.links.get(variable), Some(Some(_)));
        layout.unlinked = self.by_instruction("unlinked", &layout, is_linked)?;
        layout.forgotten = forgotten;
        layout.index();
        flips::check(&layout).map_err(|expected| self.expected(expected))?;
        if !layout.are_names_kept() {
            return Err(self.expected("names that are kept, and what tells when they are in force"));
        }
        if layout.versions.len() > MOST_VERSIONS {
            return Err(Refusal::Unfit(Unfit("as many versions that are kept")).into());
        }
        Ok(layout)
    }

    /// Lines of a procedure, an instruction, and what is forgotten on arrival, by number.
    fn by_instruction(
        &mut self,
        title: &str,
        layout: &Layout<'_>,
        may_be: impl Fn(usize, usize) -> bool,
    ) -> Result<Vec<Vec<Vec<usize>>>, Stop> {
        let code = layout.code.iter();
        let mut all: Vec<Vec<Vec<usize>>> =
            code.map(|code| vec![Vec::new(); code.instructions.len()]).collect();
        for _ in 0..self.count(title)? {
            let line = self.line("a procedure, an instruction, and what is forgotten there")?;
            let read = numbers(&line).as_deref().and_then(|numbers| match numbers {
                [procedure, at, forgotten @ ..] => {
                    let to = all.get_mut(*procedure)?.get_mut(*at)?;
                    let fits = forgotten.iter().all(|one| may_be(*procedure, *one));
                    fits.then(|| *to = forgotten.to_vec())
                }
                _ => None,
            });
            if read.is_none() {
                return Err(self.expected(
                    "a procedure, an instruction, and what is forgotten there, by number",
                ));
            }
        }
        Ok(all)
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
            if !kinds.iter().all(are_listed) {
                return Err(Refusal::Initial(layout.obligation).into());
            }
        }
        self.closed(layout, &lists, &all, bytes)?;
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
        for _ in 0..self.count("views")? {
            let line = self.line("a view")?;
            let view = rows
                .view(&line)
                .filter(|view| kinds.iter().all(|kind| is_view(layout, kind, view)));
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

    /// That all views lead to listed views only: first by the steps that they show, then by
    /// those of others, with the same centre.
    fn closed(
        &mut self,
        layout: &Layout<'_>,
        lists: &[Vec<Kind>],
        all: &[Listed],
        mut bytes: usize,
    ) -> Result<(), Stop> {
        let obligation = layout.obligation;
        let planted = Planted::default();
        let mut numbers: SeededMap<Vec<u8>, usize> = SeededMap::default();
        let mut homes: Vec<Home<'_>> = Vec::new();
        for (number, (kinds, listed)) in lists.iter().zip(all).enumerate() {
            let mut recall = Recall::new(layout, kinds, planted);
            // The first line that is wrong is named, whatever the order of a table.
            let mut views: Vec<(u64, &[u8])> =
                listed.iter().map(|(view, &line)| (line, &**view)).collect();
            views.sort_unstable();
            for (done, (line, view)) in views.into_iter().enumerate() {
                let failed = |failure| Refusal::Failure { obligation, line, failure };
                let steps = recall.steps(view).map_err(failed)?;
                self.steps += steps.views.len() as u64;
                if !steps.views.iter().all(|next| listed.contains_key(next.as_slice())) {
                    return Err(Refusal::Escape { obligation, line, joined: false }.into());
                }
                for centre in centres(layout, kinds, view) {
                    bytes += 40;
                    let home = *numbers.entry(centre).or_insert_with_key(|centre| {
                        bytes += centre.len() + 128;
                        homes.push(Home::default());
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
            for &(number, view) in views {
                let (kinds, listed) = (&lists[number], &all[number]);
                let line = listed[view];
                // What a step is to others depends on which members are there, in whichever order.
                let Some(kind) = kinds.first() else { continue };
                for effect in effects {
                    let failed = |failure| Refusal::Failure { obligation, line, failure };
                    let made = effect.apply(layout, kind, view, planted).map_err(failed)?;
                    self.steps += made.len() as u64;
                    if !made.iter().all(|next| listed.contains_key(next.as_slice())) {
                        return Err(Refusal::Escape { obligation, line, joined: true }.into());
                    }
                    applied += 1;
                    if applied.is_multiple_of(PERIOD) {
                        self.spend(bytes)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The numbers of a line.
fn numbers(line: &str) -> Option<Vec<usize>> {
    line.split(' ').map(|number| number.parse().ok()).collect()
}

/// How often the budget is asked.
const PERIOD: usize = 64;
