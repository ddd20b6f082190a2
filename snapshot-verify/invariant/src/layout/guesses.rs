//! What a certificate says of a layout beside what is kept: guesses, each of which fits or does not.
//!
//! The writer adds what fits, and the check refuses what does not, by these rules: so a certificate
//! has no line that its own check refuses.

use snapshot_language::program::{Program, SharedId};

use super::{Layout, Unfit};
use crate::decided::Decided;
use crate::flips::{self, Bit};
use crate::names::{self, Name};
use crate::step::{late, lost};
use crate::views::MOST_VERSIONS;

/// Adds the name of a line to those before; `false`: it is none, or is there already.
pub fn add_name(program: &Program, tokens: bool, named: &mut Vec<Name>, line: &str) -> bool {
    let name = names::of_line(program, tokens, line).filter(|name| !named.contains(name));
    let fits = name.is_some();
    named.extend(name);
    fits
}

impl Layout<'_> {
    /// Takes this instruction of `update` for where it takes effect; `false`: there is none.
    pub fn set_point(&mut self, at: usize) -> bool {
        let update = self.program.update().0 as usize;
        let fits = at < self.code[update].instructions.len();
        if fits {
            self.point = Some(at);
        }
        fits
    }

    /// Takes rounds to begin and end there; `false`: they cannot.
    pub fn set_round(&mut self, round: [(usize, usize); 2]) -> bool {
        let fits = self.may_be_round(round);
        if fits {
            self.round = Some(round);
        }
        fits
    }

    /// Shows operations late; `false`: they cannot be.
    pub fn set_late(&mut self) -> bool {
        self.late = late::may_be(self);
        self.late
    }

    /// Adds a loop in which only the round of t is one of its own; `false`: it does not fit.
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

    /// Adds calls that are not told apart; `false`: they do not fit.
    pub fn add_calls(&mut self, calls: (usize, Vec<usize>)) -> bool {
        let fits = self.may_be_alike(&calls);
        if fits {
            self.calls.push(calls);
        }
        fits
    }

    /// Adds what is forgotten where a condition does not need it; `false`: it is there already.
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

    /// Whether a local may be listed as forgotten in a procedure.
    pub fn fits_forgotten(&self, procedure: usize, local: usize) -> bool {
        local < self.frames[procedure].locals.len() && self.may_forget(procedure, local)
    }

    /// Whether a shared variable may be listed as one to which links are forgotten.
    pub fn fits_unlinked(&self, variable: usize) -> bool {
        matches!(self.links.get(variable), Some(Some(_)))
    }

    /// Notes which bytes are which, once everything is added.
    ///
    /// # Errors
    /// If there are more versions than views have numbers for.
    pub fn complete(&mut self) -> Result<(), Unfit> {
        self.index();
        match self.versions.len() > MOST_VERSIONS {
            true => Err(Unfit("as many versions that are kept")),
            false => Ok(()),
        }
    }
}
