//! The text of a certificate, as it is written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use sha2::{Digest, Sha256};
use snapshot_semantics::certificate::hexadecimal;
use snapshot_semantics::certificate::lines::LONGEST;

use crate::Unfinished;
use crate::claim::Claim;
use crate::clock;
use crate::layout::{Layout, Unsupported};
use crate::names;
use crate::search::ViewSets;
use crate::text::Rows;
use crate::write::{Summary, WriteError};

/// A certificate that is being written.
pub struct File<'a> {
    output: Sealed<'a>,
    summary: Summary,
}

impl<'a> File<'a> {
    /// Writes the claim, for so many obligations.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(
        claim: &Claim,
        obligations: usize,
        output: &'a mut dyn Write,
    ) -> Result<Self, WriteError> {
        let mut output = Sealed::new(output);
        write!(output, "{claim}")?;
        writeln!(output, "obligations {obligations}")?;
        Ok(Self { output, summary: Summary { obligations: Vec::new(), bytes: 0 } })
    }

    /// Writes an obligation and its views.
    ///
    /// # Errors
    /// If it cannot be written, or the budget of the layout runs out.
    pub fn add(&mut self, layout: &Layout<'_>, family: &ViewSets) -> Result<(), WriteError> {
        section(&mut self.output, layout, family)?;
        if !layout.asks.go_on(0) {
            return Err(WriteError::Unfinished(Unfinished::Ended));
        }
        if self.output.is_too_long {
            return Err(WriteError::Unsupported(Unsupported("lines of as many bytes")));
        }
        self.summary.obligations.push((layout.obligation, family.len()));
        Ok(())
    }

    /// Seals the certificate.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self) -> Result<Summary, WriteError> {
        self.summary.bytes = self.output.seal()?;
        Ok(self.summary)
    }
}

/// Writes a certificate again, with another claim in place of its own: for the text that the proof is
/// presented for. Returns its size; `None`: it is not a certificate with this claim.
///
/// # Errors
/// If it cannot be written.
pub fn present(
    certificate: &[u8],
    own: &Claim,
    claim: &Claim,
    output: &mut dyn Write,
) -> io::Result<Option<u64>> {
    let Some(rest) = certificate.strip_prefix(own.to_string().as_bytes()) else { return Ok(None) };
    let end = rest.iter().rev().skip(1).position(|byte| *byte == b'\n');
    let Some(end) = end.map(|behind| rest.len() - 1 - behind) else { return Ok(None) };
    let mut sealed = Sealed::new(output);
    write!(sealed, "{claim}")?;
    sealed.write_all(&rest[..end])?;
    sealed.seal().map(Some)
}

fn section(output: &mut dyn Write, layout: &Layout<'_>, family: &ViewSets) -> io::Result<()> {
    writeln!(output, "obligation {}", layout.obligation.name())?;
    writeln!(output, "names {}", layout.named.len())?;
    for name in &layout.named {
        writeln!(output, "{}", names::line(layout.program, layout.tokens(), name))?;
    }
    writeln!(output, "clocks {}", u8::from(layout.clock.is_some()))?;
    if let Some(clock) = layout.clock {
        writeln!(output, "{}", clock::line(layout.program, clock))?;
    }
    let windows = layout.windows();
    writeln!(output, "windows {}", windows.len())?;
    for (name, width) in windows {
        writeln!(output, "{width} {name}")?;
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

impl<'a> Sealed<'a> {
    fn new(output: &'a mut dyn Write) -> Self {
        Self { output, hash: Sha256::new(), bytes: 0, line: 0, is_too_long: false }
    }

    /// Writes the last line, and returns the number of bytes.
    fn seal(mut self) -> io::Result<u64> {
        let seal = hexadecimal(self.hash.clone());
        writeln!(self, "end {seal}")?;
        self.output.flush()?;
        Ok(self.bytes)
    }
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
