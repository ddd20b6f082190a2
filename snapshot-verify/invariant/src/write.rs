//! From a proof to its certificate: the kept scalars are copied from the proof, and the set of
//! views is closed again, by the rules of this crate.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use snapshot_language::Span;
use snapshot_language::program::{Interface, Program, SharedId, independence};
use snapshot_semantics::certificate::hexadecimal;
use snapshot_semantics::certificate::lines::LONGEST;
use snapshot_semantics::interpret::code::Instruction;
use thiserror::Error;

use crate::asks::Asks;
use crate::byte::{I, J};
use crate::claim::{Aim, Claim, Ghosts, Obligation, missing};
use crate::clock::{self, Clock};
use crate::flips::Bit;
use crate::layout::{Layout, Room, Scalar, Unfit, add_name, may_fail};
use crate::names;
use crate::rewriting::rewritten;
use crate::search::{Family, Obstacle, close_within};
use crate::step::{Failure, Planted, lost};
use crate::text::Rows;
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
    Unfit(Unfit),
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
    /// There are more views than it may have.
    #[error("there are more views than it may have")]
    Views,
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
    write_within(program, claim, parts, output, budget, usize::MAX)
}

/// As [`write()`], with no more than so many views.
///
/// # Errors
/// As [`write()`].
pub fn write_within(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    output: &mut dyn Write,
    budget: &mut Budget<'_>,
    views: usize,
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
    let how = How { planted: Planted::default(), views };
    write_how(program, claim, parts, output, budget, how)
}

/// How the views are closed.
#[derive(Clone, Copy)]
struct How {
    planted: Planted,
    /// Of all obligations together.
    views: usize,
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
    planted: Planted,
) -> Result<Summary, WriteError> {
    let rewritten = rewritten(program, &claim.rewritten).ok_or(WriteError::Rewritten)?;
    let how = How { planted, views: usize::MAX };
    write_how(&rewritten, claim, parts, output, budget, how)
}

fn write_how(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    output: &mut dyn Write,
    budget: &mut Budget<'_>,
    how: How,
) -> Result<Summary, WriteError> {
    if !matches!(program.interface, Interface::Snapshot { .. }) {
        return Err(WriteError::Unfit(Unfit("objects other than the snapshot")));
    }
    if independence::check(program).is_err() {
        return Err(WriteError::LooksAtValues);
    }
    let memory = budget.memory;
    // The layout calls the budget, too, within steps.
    let proceed = RefCell::new(&mut *budget.proceed);
    let proceed = || (proceed.borrow_mut())();
    let mut asked = &proceed;
    let budget = &mut Budget { memory, proceed: &mut asked };
    let mut output = Sealed { output, hash: Sha256::new(), bytes: 0, line: 0, is_too_long: false };
    write!(output, "{claim}")?;
    writeln!(output, "obligations {}", parts.len())?;
    let mut summary = Summary { obligations: Vec::new(), bytes: 0 };
    for part in parts {
        let asks = Asks::new(&proceed);
        let mut layout = lay_out_within(program, part, asks).map_err(WriteError::Unfit)?;
        let left = how.views.saturating_sub(summary.views());
        let mut closed = close_within(&layout, how.planted, left, budget);
        if layout.alike && matches!(closed, Err(Obstacle::Failure(_))) {
            // If loops show the place of t, one list for all its places is too coarse.
            layout.alike = false;
            layout.ends = RefCell::default();
            closed = close_within(&layout, how.planted, left, budget);
        }
        let family = closed.map_err(|obstacle| match obstacle {
            Obstacle::Failure(Failure::Unfit(construct)) => WriteError::Unfit(Unfit(construct)),
            Obstacle::Failure(failure) => {
                WriteError::Failure { obligation: part.obligation, failure }
            }
            Obstacle::Views => WriteError::Views,
            Obstacle::Unfinished(unfinished) => WriteError::Unfinished(unfinished),
        })?;
        section(&mut output, &layout, &family)?;
        if !layout.asks.go_on(0) {
            return Err(WriteError::Unfinished(Unfinished::Ended));
        }
        if output.is_too_long {
            return Err(WriteError::Unfit(Unfit("lines of as many bytes")));
        }
        summary.obligations.push((part.obligation, family.len()));
    }
    let seal = hexadecimal(output.hash.clone());
    writeln!(output, "end {seal}")?;
    summary.bytes = output.bytes;
    output.output.flush()?;
    Ok(summary)
}

/// Returns the layout of a part: its kept and its forgotten scalars.
pub fn lay_out<'p>(program: &'p Program, part: &Part) -> Result<Layout<'p>, Unfit> {
    lay_out_within(program, part, Asks::default())
}

/// As [`lay_out`], with a budget; once the budget is exhausted, the result is meaningless.
fn lay_out_within<'p>(
    program: &'p Program,
    part: &Part,
    asks: Asks<'p>,
) -> Result<Layout<'p>, Unfit> {
    let tokens = part.obligation.has_tokens();
    let mut named = Vec::new();
    for line in &part.names {
        add_name(program, tokens, &mut named, line);
    }
    let mut layout = Layout::with_names(program, part.obligation, named)?;
    layout.asks = asks;
    layout.nested = part.nested;
    part.clock.map(|clock| layout.set_clock(clock));
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
    layout.keep(&names).map_err(|_| Unfit("names that stand for two variables"))?;
    if !layout.are_names_kept() {
        return Err(Unfit("names that are not kept"));
    }
    if let (Some(number), Aim::Memory(_)) = (part.point, part.obligation.aim) {
        let code = layout.code[program.update().0 as usize].instructions.iter().enumerate();
        let mut accesses = code.filter(|(_, one)| matches!(one, Instruction::Access { .. }));
        let at = accesses.nth(number).map(|(at, _)| at);
        at.map(|at| layout.set_point(at));
    }
    if part.obligation.ghosts == Ghosts::Rounds {
        let is_set = part.round.is_some_and(|round| layout.set_round(round));
        is_set.then_some(()).ok_or(Unfit("rounds of this kind"))?;
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

fn section(output: &mut dyn Write, layout: &Layout<'_>, family: &Family) -> io::Result<()> {
    writeln!(output, "obligation {}", layout.obligation.name())?;
    writeln!(output, "names {}", layout.named.len())?;
    for name in &layout.named {
        writeln!(output, "{}", names::line(layout.program, layout.tokens(), name))?;
    }
    writeln!(output, "clocks {}", u8::from(layout.clock.is_some()))?;
    if let Some(clock) = layout.clock {
        writeln!(output, "{}", clock::line(layout.program, clock))?;
    }
    match layout.point {
        Some(at) => writeln!(output, "point {at}")?,
        None => writeln!(output, "point -")?,
    }
    if let Some([(procedure, begin), (other, end)]) = layout.round {
        writeln!(output, "round {procedure} {begin} {other} {end}")?;
    }
    let kept = layout.slots.iter().filter(|slot| slot.kept && !slot.name.is_empty());
    let mut kept: Vec<&str> = kept.map(|slot| slot.name.as_str()).collect();
    kept.sort_unstable();
    writeln!(output, "kept {}", kept.len())?;
    for name in kept {
        writeln!(output, "{name}")?;
    }
    writeln!(output, "late {}", u8::from(layout.late))?;
    writeln!(output, "loose {}", layout.loose.len())?;
    for (owner, procedure, number) in &layout.loose {
        writeln!(output, "{} {procedure} {number}", ["i", "j"][usize::from(*owner)])?;
    }
    writeln!(output, "alike {}", u8::from(layout.alike))?;
    writeln!(output, "lost {}", layout.lost.len())?;
    for variable in &layout.lost {
        writeln!(output, "{}", layout.program.shared(*variable).name)?;
    }
    writeln!(output, "calls {}", layout.calls.len())?;
    for (procedure, calls) in &layout.calls {
        let calls: Vec<String> = calls.iter().map(ToString::to_string).collect();
        writeln!(output, "{procedure} {}", calls.join(" "))?;
    }
    writeln!(output, "decided {}", layout.decided.len())?;
    for one in &layout.decided {
        writeln!(output, "{}", layout.decided_line(one))?;
    }
    writeln!(output, "classes {}", layout.classes.len())?;
    for class in &layout.classes {
        let bits: Vec<String> = class.iter().map(|bit| layout.bit_name(*bit)).collect();
        writeln!(output, "{}", bits.join(" "))?;
    }
    let mut by_instruction = |title: &str, of: &[Vec<Vec<usize>>]| -> io::Result<()> {
        let mut lines = Vec::new();
        for (procedure, code) in of.iter().enumerate() {
            for (at, numbers) in code.iter().enumerate().filter(|(_, one)| !one.is_empty()) {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                lines.push(format!("{procedure} {at} {}", numbers.join(" ")));
            }
        }
        writeln!(output, "{title} {}", lines.len())?;
        lines.into_iter().try_for_each(|line| writeln!(output, "{line}"))
    };
    by_instruction("forgotten", &layout.forgotten)?;
    by_instruction("unlinked", &layout.unlinked)?;
    for views in family.lists() {
        writeln!(output, "views {}", views.len())?;
        let mut rows = Rows::new(layout);
        for view in sorted(layout, views.iter().map(|view| &**view).collect()) {
            if !layout.asks.go_on(view.len()) {
                return Ok(());
            }
            writeln!(output, "{}", rows.line(view))?;
        }
    }
    Ok(())
}

/// Sorts views by parts, and merges these, so that the budget can end the work between two parts.
fn sorted<'v>(layout: &Layout<'_>, mut views: Vec<&'v [u8]>) -> impl Iterator<Item = &'v [u8]> {
    const PART: usize = 1 << 14;
    let size = layout.slots.len();
    for part in views.chunks_mut(PART).take_while(|part| layout.asks.go_on(part.len() * size)) {
        part.sort_unstable();
    }
    let ends = (0..views.len()).step_by(PART).map(|begin| (begin, views.len().min(begin + PART)));
    let mut ends: Vec<(usize, usize)> = ends.collect();
    let first = ends.iter().enumerate().map(|(part, (begin, _))| Reverse((views[*begin], part)));
    let mut heap: BinaryHeap<Reverse<(&[u8], usize)>> = first.collect();
    std::iter::from_fn(move || {
        let Reverse((view, part)) = heap.pop()?;
        let (begin, end) = &mut ends[part];
        *begin += 1;
        if begin < end {
            heap.push(Reverse((views[*begin], part)));
        }
        Some(view)
    })
}

/// Counts and hashes the written bytes.
struct Sealed<'a> {
    output: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
    /// Bytes of the present line.
    line: u64,
    /// True if a line was longer than the reader allows.
    is_too_long: bool,
}

impl Write for Sealed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write_all(bytes)?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line += part.len() as u64;
            self.is_too_long |= self.line > LONGEST;
            if part.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
