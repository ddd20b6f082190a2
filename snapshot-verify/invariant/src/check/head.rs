//! Head of an obligation: the kept scalars and all guesses, line by line.

use std::io::BufRead;

use rustc_hash::FxHashSet;
use snapshot_language::program::SharedId;

use super::{Check, Refusal, Stop};
use crate::asks::Asks;
use crate::claim::{Ghosts, Obligation};
use crate::clock;
use crate::flips::{self, Bit};
use crate::layout::{Layout, add_name};
use crate::names::Name;

impl<'p, R: BufRead> Check<'p, '_, R> {
    /// Reads the fields that name a process.
    fn names(&mut self, obligation: Obligation) -> Result<Vec<Name>, Stop> {
        let mut named = Vec::new();
        for _ in 0..self.count("names")? {
            let line = self.line("a field that names a process")?;
            if !add_name(self.program, obligation.has_tokens(), &mut named, &line) {
                return Err(self
                    .expected("a field, when it is in force, and the arrays whose rows it names"));
            }
        }
        Ok(named)
    }

    /// Reads the kept scalars of an obligation, and the locations at which each is forgotten.
    pub(super) fn layout(
        &mut self,
        obligation: Obligation,
        nested: bool,
    ) -> Result<Layout<'p>, Stop> {
        let named = self.names(obligation)?;
        let mut layout =
            Layout::with_names(self.program, obligation, named).map_err(Refusal::Unsupported)?;
        layout.asks = Asks::new(self.proceed);
        layout.nested = nested;
        for _ in 0..self.count("clocks")? {
            let line = self.line("the clock of counters")?;
            let clock = clock::of_line(self.program, &line);
            if !clock.is_some_and(|clock| layout.set_clock(clock)) {
                return Err(self.expected("one cell that is a counter, a divisor, and 0 or 1"));
            }
        }
        for _ in 0..self.count("windows")? {
            let line = self.line("a number of places, and a counter")?;
            let fits = line.split_once(' ').is_some_and(|(width, name)| {
                width.parse().is_ok_and(|width| layout.set_window(name, width))
            });
            if !fits {
                return Err(self.expected("a number of places up to 3, and a counter"));
            }
        }
        let point = self.field("point")?;
        if point != "-" && !point.parse().is_ok_and(|at| layout.set_point(at)) {
            return Err(self.expected("`point` and an instruction of the update"));
        }
        if obligation.ghosts == Ghosts::Rounds {
            let round = match numbers(&self.field("round")?).as_deref() {
                Some([procedure, begin, other, end]) => {
                    Some([(*procedure, *begin), (*other, *end)])
                }
                _ => None,
            };
            if !round.is_some_and(|round| layout.set_round(round)) {
                return Err(self.expected("`round`, and the writes at which rounds begin and end"));
            }
        }
        let mut names = FxHashSet::default();
        for _ in 0..self.count("kept")? {
            let name = self.line("the name of a scalar")?;
            if !names.insert(name) {
                return Err(self.expected("another name than before"));
            }
            // There cannot be more names than slots.
            if names.len() > layout.slots.len() {
                return Err(self.expected("fewer names"));
            }
        }
        layout.keep(&names).map_err(|name| self.expected(&format!("no name like `{name}`")))?;
        match self.field("late")?.as_str() {
            "0" => {}
            "1" if layout.set_late() => {}
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
            if !loose.is_some_and(|loose| layout.add_loose(loose)) {
                return Err(self.expected("i or j, and a loop over processes"));
            }
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
            if !variable.is_some_and(|variable| layout.add_lost(variable)) {
                return Err(self.expected("an LL/SC cell, where vectors of rounds are shown"));
            }
        }
        for _ in 0..self.count("calls")? {
            let line = self.line("a procedure, and calls that it makes")?;
            let calls = numbers(&line).and_then(|numbers| {
                let (procedure, calls) = numbers.split_first()?;
                Some((*procedure, calls.to_vec()))
            });
            if !calls.is_some_and(|calls| layout.add_calls(calls)) {
                return Err(self.expected("calls of one procedure by another"));
            }
        }
        for _ in 0..self.count("decided")? {
            self.in_time(&layout)?;
            let line = self.line("a scalar, and a condition")?;
            let one = layout.decided_of_line(&line);
            if !one.is_some_and(|one| layout.add_decided(one)) {
                return Err(self.expected("a scalar that is kept, and a condition"));
            }
        }
        for _ in 0..self.count("classes")? {
            let line = self.line("bits, by name")?;
            let bits: Option<Vec<Bit>> =
                line.split(' ').map(|word| layout.bit_of_name(word)).collect();
            self.in_time(&layout)?;
            let bits = bits.ok_or_else(|| self.expected("bits, by name"))?;
            if !layout.add_class(bits) {
                return Err(self.expected("no more classes of bits"));
            }
        }
        let fits_forgotten = |procedure, local| layout.fits_forgotten(procedure, local);
        let forgotten = self.by_instruction("forgotten", &layout, fits_forgotten)?;
        let fits_unlinked = |_, variable| layout.fits_unlinked(variable);
        layout.unlinked = self.by_instruction("unlinked", &layout, fits_unlinked)?;
        layout.forgotten = forgotten;
        layout.complete().map_err(Refusal::Unsupported)?;
        let fits = flips::check(&layout);
        self.in_time(&layout)?;
        fits.map_err(|expected| self.expected(expected))?;
        if !layout.are_names_kept() {
            return Err(self.expected("names that are kept, and what tells when they are in force"));
        }
        Ok(layout)
    }

    /// Reads lines of a procedure, an instruction, and the scalars forgotten on arrival, by number.
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
}

/// Parses the numbers of a line.
fn numbers(line: &str) -> Option<Vec<usize>> {
    line.split(' ').map(|number| number.parse().ok()).collect()
}
