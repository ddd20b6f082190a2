//! Guesses of a certificate about a layout, besides the kept scalars. Each of them fits or does not
//! fit.
//!
//! The writer adds the guesses that fit, and the check refuses the others, by the same rules: so
//! the writer never emits a line that the check refuses.

use snapshot_language::program::{Program, SharedId};

use super::{Layout, Leaf, SIGNER, Scalar, Unsupported};
use crate::byte::{I, J, T};
use crate::claim::Ghosts;
use crate::clock::{self, Clock};
use crate::decided::Decided;
use crate::flips::{self, Bit};
use crate::names::{self, Name};
use crate::step::{late, lost};
use crate::views::MOST_VERSIONS;

/// Adds the name of a line to the known names; `false`: the line is invalid, or already present.
pub fn add_name(program: &Program, tokens: bool, named: &mut Vec<Name>, line: &str) -> bool {
    let name = names::of_line(program, tokens, line).filter(|name| !named.contains(name));
    let fits = name.is_some();
    named.extend(name);
    fits
}

impl Layout<'_> {
    /// Compares counters with a cell; `false`: it cannot be the clock. Steps of lost processes
    /// read at unknown times, so there is no clock where there are such.
    pub fn set_clock(&mut self, clock: Clock) -> bool {
        let fits = self.clock.is_none()
            && self.obligation.ghosts != Ghosts::Rounds
            && clock::may_be(self.program, clock.variable);
        if fits {
            self.clock = Some(clock);
            let scalar = match clock.divisor {
                // A remainder by 1 says nothing.
                1 => Scalar::Lost,
                divisor => Scalar::Integer(0, divisor - 1),
            };
            let base = self.shared[clock.variable.0 as usize].base;
            self.slots[base].leaf = Some(Leaf { scalar, optional: false });
            self.slots[SIGNER].kept = clock.is_signed;
        }
        fits
    }

    /// Makes updates take effect at this instruction of `update`; `false`: it does not exist.
    pub fn set_point(&mut self, at: usize) -> bool {
        let update = self.program.update().0 as usize;
        let fits = at < self.code[update].instructions.len();
        if fits {
            self.point = Some(at);
        }
        fits
    }

    /// Sets the instructions at which rounds begin and end; `false`: rounds cannot begin or end
    /// there.
    pub fn set_round(&mut self, round: [(usize, usize); 2]) -> bool {
        let fits = self.may_be_round(round);
        if fits {
            self.round = Some(round);
        }
        fits
    }

    /// Shows operations late; `false`: they cannot be shown late.
    pub fn set_late(&mut self) -> bool {
        self.late = late::may_be(self);
        self.passes = [I, J, T].map(|me| self.late && late::passes(self, me));
        self.late
    }

    /// Adds a loop in which only the round of t is distinguished; `false`: it does not fit.
    pub fn add_loose(&mut self, loose: (u8, usize, usize)) -> bool {
        let fits = self.bytes_of_loose(loose).is_some() && !self.loose.contains(&loose);
        if fits {
            self.loose.push(loose);
        }
        fits
    }

    /// Adds a variable without a link to which processes may be lost; `false`: it does not fit.
    pub fn add_lost(&mut self, variable: SharedId) -> bool {
        let fits = lost::may_be(self.obligation)
            && self.may_lose(variable)
            && !self.lost.contains(&variable);
        if fits {
            self.lost.push(variable);
        }
        fits
    }

    /// Adds a group of merged calls; `false`: they do not fit.
    pub fn add_calls(&mut self, calls: (usize, Vec<usize>)) -> bool {
        let fits = self.may_be_alike(&calls);
        if fits {
            self.calls.push(calls);
        }
        fits
    }

    /// Adds a scalar that is forgotten where a condition does not need it; `false`: it is already
    /// present.
    pub fn add_decided(&mut self, decided: Decided) -> bool {
        let fits = !self.decided.contains(&decided);
        if fits {
            self.decided.push(decided);
        }
        fits
    }

    /// Adds a class of bits; `false`: there are too many.
    pub fn add_class(&mut self, class: Vec<Bit>) -> bool {
        let fits = self.classes.len() < flips::MOST;
        if fits {
            self.classes.push(class);
        }
        fits
    }

    /// Returns true if a local may be listed as forgotten in a procedure.
    pub fn fits_forgotten(&self, procedure: usize, local: usize) -> bool {
        local < self.frames[procedure].locals.len() && self.may_forget(procedure, local)
    }

    /// Returns true if links to a shared variable may be listed as forgotten.
    pub fn fits_unlinked(&self, variable: usize) -> bool {
        matches!(self.links.get(variable), Some(Some(_)))
    }

    /// Builds the indices by byte, once everything is added.
    ///
    /// # Errors
    /// If there are more versions than views have numbers for.
    pub fn complete(&mut self) -> Result<(), Unsupported> {
        self.index();
        match self.versions.len() > MOST_VERSIONS {
            true => Err(Unsupported("as many versions that are kept")),
            false => Ok(()),
        }
    }
}
