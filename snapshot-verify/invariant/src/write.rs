//! From a proof to its certificate: the kept scalars are copied from the proof, and the set of
//! views is closed again, by the rules of this crate.

use std::cell::RefCell;
use std::io::{self, Write};

use rustc_hash::FxHashSet;
use snapshot_language::Span;
use snapshot_language::program::{Interface, Program, SharedId, independence};
use snapshot_semantics::interpret::code::Instruction;
use thiserror::Error;

use crate::asks::Asks;
use crate::byte::{I, J};
use crate::claim::{Claim, Ghosts, Obligation, Property, missing};
use crate::clock::Clock;
use crate::file::File;
use crate::flips::Bit;
use crate::layout::{Layout, Room, Scalar, Unsupported, add_name, may_fail};
use crate::rewriting::rewritten;
use crate::search::{Obstacle, close_within};
use crate::step::{Failure, InjectedFault, lost};
use crate::{Budget, Unfinished};

/// Part of a proof: a guess, which cannot make a wrong certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    pub obligation: Obligation,
    /// Names of the kept scalars; names unknown here are ignored.
    pub kept: Vec<String>,
    /// Number, in the order of the text, of the access of `update` at which it takes effect.
    pub point: Option<usize>,
    /// If ghost scans are rounds, the writes at which they begin and end: each a procedure, and an
    /// instruction in it.
    pub round: Option<[(usize, usize); 2]>,
    /// True if operations are to be shown late; ignored where they cannot be.
    pub late: bool,
    /// Loops of i and j in which only the round of t is distinguished: the owner, the procedure,
    /// and the number of the loop.
    pub loose: Vec<(u8, usize, usize)>,
    /// Scalars that are forgotten where a condition does not need them, by names.
    pub decided: Vec<DecidedName>,
    /// True if one list is to stand for all places of t among i and j.
    pub alike: bool,
    /// Fields that name a process, as certificates write them.
    pub names: Vec<String>,
    /// Cell that counters are compared with.
    pub clock: Option<Clock>,
    /// Counters that hold windows, by name, each with the number of places; those that cannot are
    /// ignored.
    pub windows: Vec<(String, usize)>,
    /// True if nesting is another part: then views that are read from shared memory are judged
    /// where they were made.
    pub nested: bool,
    /// Bits that are listed relative to each other, by names; names that are unknown here, or
    /// cannot be in a class, are ignored.
    pub classes: Vec<Vec<BitName>>,
}

/// A bit of a class: its name, and, if it belongs to the class in one round of a loop only, the
/// local that is the loop's variable, and the member of that round.
pub type BitName = (String, Option<(usize, u8)>);

/// A scalar by name, the procedure and the instruction of the condition, and the values of the loop
/// variables for which this applies.
pub type DecidedName = (String, (usize, usize), Vec<(usize, u8)>);

/// Summary of a written certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Obligations, each with its number of views.
    pub obligations: Vec<(Obligation, usize)>,
    pub bytes: u64,
}

impl Summary {
    /// Returns the number of views of all obligations.
    pub fn views(&self) -> usize {
        self.obligations.iter().map(|(_, views)| views).sum()
    }
}

/// Reason for the lack of a certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Simple executions are not representative.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    #[error("the proof is by rules that certificates for every n do not know")]
    NoParts,
    /// The proof lacks this obligation.
    #[error("of its parts, certificates for every n lack {}", .0.name())]
    Missing(Obligation),
    /// Unsupported construct.
    #[error("certificates for every n do not know {}", .0.0)]
    Unsupported(Unsupported),
    /// The rules of certificates do not exclude a failure that the proof excludes.
    #[error("{}: by the rules of certificates, {failure} cannot be excluded", .obligation.name())]
    Failure {
        obligation: Obligation,
        /// Failure that these rules do not exclude.
        failure: Failure,
    },
    /// The program is not rewritten as the claim says.
    #[error("the program is not rewritten so")]
    Rewritten,
    /// The budget.
    #[error("{} ran out", .0.name())]
    Unfinished(Unfinished),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl WriteError {
    /// Returns true if the rules of certificates do not exclude a failure that the proof excludes:
    /// either one of the two is wrong, or the rules here are less precise.
    pub const fn is_gap(&self) -> bool {
        matches!(self, Self::Failure { failure, .. } if !matches!(failure, Failure::TooMany))
    }

    /// Returns the location in the program's text.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Failure { failure, .. } => failure.span(),
            _ => None,
        }
    }
}

/// Writes the certificate of a program that is proved by these parts. The program is the one of the text; the
/// parts are about the one that the claim rewrites it to.
///
/// # Errors
/// If the parts do not make a proof by the rules of this crate, or the budget runs out.
pub fn write(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    output: &mut dyn Write,
    budget: &mut Budget<'_>,
) -> Result<Summary, WriteError> {
    let rewritten = rewritten(program, &claim.rewritten).ok_or(WriteError::Rewritten)?;
    let program = &*rewritten;
    let obligations: Vec<Obligation> = parts.iter().map(|part| part.obligation).collect();
    if obligations.is_empty() {
        return Err(WriteError::NoParts);
    }
    if let Some(missing) = missing(&obligations, may_fail(program)) {
        return Err(WriteError::Missing(missing));
    }
    write_how(program, claim, parts, output, budget, InjectedFault::default())
}

/// As [`write()`], with faults injected in the search: for tests of the check.
///
/// # Errors
/// As [`write()`].
#[doc(hidden)]
pub fn write_planted(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    output: &mut dyn Write,
    budget: &mut Budget<'_>,
    planted: InjectedFault,
) -> Result<Summary, WriteError> {
    let rewritten = rewritten(program, &claim.rewritten).ok_or(WriteError::Rewritten)?;
    write_how(&rewritten, claim, parts, output, budget, planted)
}

fn write_how(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    output: &mut dyn Write,
    budget: &mut Budget<'_>,
    planted: InjectedFault,
) -> Result<Summary, WriteError> {
    fits(program)?;
    let memory = budget.memory;
    // The layout calls the budget, too, within steps.
    let proceed = RefCell::new(&mut *budget.proceed);
    let proceed = || (proceed.borrow_mut())();
    let mut asked = &proceed;
    let budget = &mut Budget { memory, proceed: &mut asked };
    let mut file = File::begin(claim, parts.len(), output)?;
    for part in parts {
        let asks = Asks::new(&proceed);
        let mut layout = lay_out_within(program, part, asks).map_err(WriteError::Unsupported)?;
        let mut closed = close_within(&layout, planted, usize::MAX, budget);
        if layout.alike && matches!(closed, Err(Obstacle::Failure(_))) {
            layout = apart(layout);
            closed = close_within(&layout, planted, usize::MAX, budget);
        }
        let family = closed.map_err(|obstacle| match obstacle {
            Obstacle::Failure(Failure::Unsupported(construct)) => {
                WriteError::Unsupported(Unsupported(construct))
            }
            Obstacle::Failure(failure) => {
                WriteError::Failure { obligation: part.obligation, failure }
            }
            Obstacle::Views => WriteError::Unfinished(Unfinished::Ended),
            Obstacle::Unfinished(unfinished) => WriteError::Unfinished(unfinished),
        })?;
        file.add(&layout, &family)?;
    }
    file.end()
}

/// Returns a layout in which each place of t has a list of its own: if loops show the place of t, one
/// list for all its places is too coarse.
pub fn apart(layout: Layout<'_>) -> Layout<'_> {
    Layout { alike: false, ends: RefCell::default(), ..layout }
}

/// Tests that there are certificates of a program.
///
/// # Errors
/// The reason why there are none.
pub fn fits(program: &Program) -> Result<(), WriteError> {
    if !matches!(program.interface, Interface::Snapshot { .. }) {
        return Err(WriteError::Unsupported(Unsupported("objects other than the snapshot")));
    }
    independence::check(program).map_err(|_| WriteError::LooksAtValues)
}

/// Returns the layout of a part: its kept and its forgotten scalars.
pub fn lay_out<'p>(program: &'p Program, part: &Part) -> Result<Layout<'p>, Unsupported> {
    lay_out_within(program, part, Asks::default())
}

/// As [`lay_out`], with a budget; once the budget is exhausted, the result is meaningless.
pub fn lay_out_within<'p>(
    program: &'p Program,
    part: &Part,
    asks: Asks<'p>,
) -> Result<Layout<'p>, Unsupported> {
    let tokens = part.obligation.has_tokens();
    let mut named = Vec::new();
    for line in &part.names {
        add_name(program, tokens, &mut named, line);
    }
    let mut layout = Layout::with_names(program, part.obligation, named)?;
    layout.asks = asks;
    layout.nested = part.nested;
    part.clock.map(|clock| layout.set_clock(clock));
    part.windows.iter().for_each(|(name, width)| _ = layout.set_window(name, *width));
    let known: FxHashSet<&str> = layout.names().collect();
    let is_known = |name: &&String| known.contains(name.as_str());
    let mut names: FxHashSet<String> = part.kept.iter().filter(is_known).cloned().collect();
    // Borrowed views are borrowed for each process, even if the proof keeps only some.
    let views = layout.slots.iter().filter(|slot| {
        let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
        slot.frame.is_some() && slot.path.len() > 1 && is_view && names.contains(&slot.name)
    });
    let mut like = FxHashSet::default();
    for slot in views {
        // Behind the number of the local, whose name may be any text.
        let number = slot.name.rfind('#').unwrap_or_default();
        let Some(at) = slot.name[number..].find('[').map(|at| number + at) else { continue };
        for member in ["[i]", "[j]", "[t]"] {
            let name = format!("{}{member}{}", &slot.name[..at], &slot.name[at + 3..]);
            if known.contains(name.as_str()) {
                like.insert(name);
            }
        }
    }
    names.extend(like);
    names.extend(layout.with_named_rows(&names));
    layout.keep(&names).map_err(|_| Unsupported("names that stand for two variables"))?;
    if !layout.are_names_kept() {
        return Err(Unsupported("names that are not kept"));
    }
    if let (Some(number), Property::Memory(_)) = (part.point, part.obligation.property) {
        let code = layout.code[program.update().0 as usize].instructions.iter().enumerate();
        let mut accesses = code.filter(|(_, one)| matches!(one, Instruction::Access { .. }));
        let at = accesses.nth(number).map(|(at, _)| at);
        at.map(|at| layout.set_point(at));
    }
    if part.obligation.ghosts == Ghosts::Rounds {
        let is_set = part.round.is_some_and(|round| layout.set_round(round));
        is_set.then_some(()).ok_or(Unsupported("rounds of this kind"))?;
    }
    crate::liveness::forget(&mut layout);
    // Guesses that do not fit are left out.
    if part.late {
        layout.set_late();
    }
    let mut loose = part.loose.clone();
    loose.sort_unstable();
    loose.into_iter().for_each(|one| _ = layout.add_loose(one));
    layout.alike = part.alike;
    if lost::may_be(part.obligation) && !layout.named.is_empty() {
        (0..program.shared.len() as u32).for_each(|at| _ = layout.add_lost(SharedId(at)));
        let calls = crate::liveness::alike_calls(&layout);
        calls.into_iter().for_each(|calls| _ = layout.add_calls(calls));
    }
    for (name, at, rounds) in &part.decided {
        let one = layout.decided(name, *at, rounds);
        one.map(|one| layout.add_decided(one));
    }
    layout.complete()?;
    for class in &part.classes {
        let bits = class.iter().filter_map(|(name, round)| layout.bit(name, *round));
        let bits = bits.map(|bit| layout.loosened(bit));
        let is_listed = |bit: &Bit| layout.slots[bit.at].kept && !is_passing(&layout, bit.at);
        let bits = bits.filter(is_listed).collect::<Vec<_>>();
        if !bits.is_empty() {
            layout.add_class(bits);
        }
    }
    layout.index();
    // Classes that do not fit are dropped.
    if crate::flips::check(&layout).is_err() || !layout.are_names_kept() {
        layout.classes.clear();
        layout.index();
    }
    Ok(layout)
}

/// Returns true if a local of i or j is forgotten wherever its process may pause: no centre shows
/// it.
fn is_passing(layout: &Layout<'_>, at: usize) -> bool {
    let slot = &layout.slots[at];
    let (Some(owner @ (I | J)), Some(procedure)) = (slot.owner, slot.frame) else { return false };
    let offset = at - layout.blocks[usize::from(owner)];
    let mut locals = layout.frames[procedure].locals.iter();
    let is_in = |room: &Room| (room.base..room.base + room.size).contains(&offset);
    let Some(local) = locals.position(is_in) else { return false };
    let code = layout.code[procedure].instructions.iter().zip(&layout.forgotten[procedure]);
    code.enumerate().all(|(at, (one, forgotten))| {
        let before = at.checked_sub(1).map(|at| layout.code[procedure].instructions[at]);
        let is_call = |one: &Instruction<'_>| matches!(one, Instruction::Call { .. });
        let is_pause = matches!(one, Instruction::Access { .. } | Instruction::BeginAtomic { .. });
        let may_stand = is_pause || is_call(one) || before.as_ref().is_some_and(is_call);
        !may_stand || forgotten.contains(&local)
    })
}
