//! Certificates: the minimal states that lead to an error, and a check that errors lead nowhere else.
//!
//! The check makes all steps of one process by the interpreter, as the search does, and numbers the
//! states in the order in which it meets them. It shares nothing with the search backwards: it
//! confirms that the listed states cover every error, that each step from a state that is not
//! covered leads to none that is, and that no initial state is covered.

use std::fmt;

use thiserror::Error;

use super::backward::Upward;
use super::pairs::{Pairs, Transition};
use super::system::{GlobalId, LocalId, System};
use super::{Covered, Found, Unsuitable};
use crate::certificate::Budget;
use crate::program::Program;

/// First line of a certificate of linearizability for every n, of an object.
pub const TITLE: &str = "snapshot-coverability 1";

/// Most minimal states, and most processes in one, that are read.
const MOST: usize = 1 << 24;

/// Executions that a certificate is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    pub algorithm: String,
    pub bug: Option<String>,
    /// Digest of the text.
    pub digest: String,
    /// Value of `size`, if declared.
    pub size: Option<u32>,
    pub values: u32,
    /// Numbers of global and local states.
    pub states: [usize; 2],
}

/// Reason why a certificate is not accepted.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    #[error("line {0} is not that of a certificate")]
    Malformed(usize),
    #[error(
        "the certificate is for another text of the algorithm, which has changed since, or another size"
    )]
    OtherText,
    #[error("the program has {found:?} global and local states, and not {claimed:?}")]
    OtherStates { claimed: [usize; 2], found: [usize; 2] },
    #[error("an error of global state {} is not covered", .0.0)]
    Error(GlobalId),
    #[error("a step from global state {} to {} leads from a state that is not covered to one that is", .from.0, .to.0)]
    Open { from: GlobalId, to: GlobalId },
    #[error("the initial state of {0} processes is covered")]
    Initial(usize),
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
}

/// Formats the first lines.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}")?;
        writeln!(f, "algorithm {}", self.algorithm)?;
        if let Some(bug) = &self.bug {
            writeln!(f, "bug {bug}")?;
        }
        writeln!(f, "text {}", self.digest)?;
        if let Some(size) = self.size {
            writeln!(f, "size {size}")?;
        }
        writeln!(f, "values {}", self.values)?;
        let [globals, locals] = self.states;
        writeln!(f, "states {globals} {locals}")
    }
}

/// Returns a certificate as text.
#[must_use]
pub fn written(claim: &Claim, found: &Found) -> String {
    let minimal = found.upward.minimal();
    let mut text = format!("{claim}minimal {}\n", minimal.len());
    for (global, crowd) in minimal {
        let words: Vec<String> = std::iter::once(global.0)
            .chain(crowd.iter().map(|one| one.0))
            .map(|n| n.to_string())
            .collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text + "end\n"
}

/// Lines of a certificate, by number.
struct Lines<'a> {
    all: Vec<&'a str>,
    next: usize,
}

impl<'a> Lines<'a> {
    /// Reads the rest of a line that begins with a word.
    fn field(&mut self, word: &str) -> Option<&'a str> {
        let rest = self.all.get(self.next)?.strip_prefix(word)?.strip_prefix(' ')?;
        self.next += 1;
        Some(rest)
    }

    fn required(&mut self, word: &str) -> Result<&'a str, Refusal> {
        self.field(word).ok_or(self.malformed())
    }

    fn numbers(&self, words: &str) -> Result<Vec<u32>, Refusal> {
        let numbers = words.split(' ').map(|word| word.parse().map_err(|_| self.malformed()));
        numbers.collect()
    }

    const fn malformed(&self) -> Refusal {
        Refusal::Malformed(self.next + 1)
    }
}

/// Reads a certificate.
///
/// # Errors
/// If the text is no certificate.
pub fn read(text: &str) -> Result<(Claim, Upward), Refusal> {
    let mut lines = Lines { all: text.lines().collect(), next: 0 };
    if lines.all.first() != Some(&TITLE) {
        return Err(lines.malformed());
    }
    lines.next = 1;
    let algorithm = lines.required("algorithm")?.to_owned();
    let bug = lines.field("bug").map(str::to_owned);
    let digest = lines.required("text")?.to_owned();
    let size = lines.field("size").map(|size| lines.numbers(size)).transpose()?;
    let values = lines.required("values")?;
    let [values] = lines.numbers(values)?[..] else { return Err(lines.malformed()) };
    let states = lines.required("states")?;
    let [globals, locals] = lines.numbers(states)?[..] else { return Err(lines.malformed()) };
    let count = lines.required("minimal")?;
    let [count] = lines.numbers(count)?[..] else { return Err(lines.malformed()) };
    if values == 0 || count as usize > MOST {
        return Err(lines.malformed());
    }
    let mut upward = Upward::default();
    for _ in 0..count {
        let line = lines.all.get(lines.next).ok_or(lines.malformed())?;
        let numbers = lines.numbers(line)?;
        let (global, crowd) = numbers.split_first().ok_or(lines.malformed())?;
        if *global >= globals || crowd.iter().any(|one| *one >= locals) || !crowd.is_sorted() {
            return Err(lines.malformed());
        }
        upward.insert(GlobalId(*global), crowd.iter().copied().map(LocalId).collect());
        lines.next += 1;
    }
    if lines.all.get(lines.next) != Some(&"end") || lines.all.len() != lines.next + 1 {
        return Err(lines.malformed());
    }
    let states = [globals as usize, locals as usize];
    let size = size.and_then(|size| size.first().copied());
    Ok((Claim { algorithm, bug, digest, size, values, states }, upward))
}

/// Checks a certificate against the program of an algorithm, whose text has this digest and whose
/// `size` has this value.
///
/// # Errors
/// If it proves nothing.
pub fn check(
    program: &Program,
    (digest, size): (&str, Option<u32>),
    (claim, covered): (&Claim, &Upward),
    budget: &mut Budget<'_>,
) -> Result<(), Refusal> {
    if claim.digest != digest || claim.bug != program.bug || claim.size != size {
        return Err(Refusal::OtherText);
    }
    let mut system = System::new(program, claim.values)?;
    let pairs = Pairs::new(&mut system, budget)?;
    let found = [system.globals(), system.locals()];
    if found != claim.states {
        return Err(Refusal::OtherStates { claimed: claim.states, found });
    }
    for (global, uses, _) in pairs.mistakes() {
        let crowd: Vec<LocalId> = uses.iter().copied().collect();
        if !covered.contains(*global, &crowd) {
            return Err(Refusal::Error(*global));
        }
    }
    let minimal = covered.minimal();
    for step in pairs.transitions() {
        budget.spend(0).map_err(Unsuitable::from)?;
        let first = minimal.partition_point(|(global, _)| *global < step.to);
        let into = minimal[first..].iter().take_while(|(global, _)| *global == step.to);
        for (_, crowd) in into {
            let least = least_before(step, crowd);
            if pairs.may_be(step.from, &least) && !covered.contains(step.from, &least) {
                return Err(Refusal::Open { from: step.from, to: step.to });
            }
        }
    }
    match covered.initial(&system) {
        Covered::Not => Ok(()),
        Covered::By(processes) => Err(Refusal::Initial(processes)),
    }
}

/// Returns the fewest processes beside which a step leads to a state with all of `crowd`.
fn least_before(step: &Transition, crowd: &[LocalId]) -> Vec<LocalId> {
    let mut given = step.gives;
    let stay = crowd.iter().filter(|one| {
        let is_given = given == Some(**one);
        if is_given {
            given = None;
        }
        !is_given
    });
    let mut least: Vec<LocalId> = stay.copied().chain(step.uses).collect();
    least.sort_unstable();
    least
}
