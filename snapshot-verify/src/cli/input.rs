//! Algorithms as arguments: names of the corpus, or files.

use std::path::Path;
use std::process::ExitCode;

use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_io::output;
use snapshot_verify::language::{Algorithm, Diagnostics, parse};
use snapshot_verify::program::Program;
use snapshot_verify::program::independence::{self, Dependence};
use snapshot_verify::report::TextPosition;

use super::nearest::hint;
use super::trouble;

/// Maximum length in bytes of an algorithm's text. The shipped ones have some thousand bytes.
pub const LARGEST: usize = 4 << 20;

#[derive(Debug)]
pub struct Input {
    /// Name as the user wrote it.
    pub name: String,
    pub algorithm: Algorithm,
    /// Value of `size`, unless the text's own is used.
    pub size: Option<u32>,
}

#[derive(Debug)]
pub struct Variant {
    /// The bug variant, if any.
    pub bug: Option<String>,
    /// Name of the algorithm, with the value of `size` if given.
    pub title: String,
    pub program: Program,
    /// Places where the program looks at values.
    pub dependences: Vec<Dependence>,
}

impl Variant {
    /// Returns the name of the declared object, if any.
    pub fn object(&self) -> Option<&str> {
        self.program.object().map(|object| object.name.as_str())
    }
}

impl Input {
    /// Reads the algorithm of the corpus with this name, or else the file.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn read(name: &str) -> Result<Self, ExitCode> {
        Self::read_or(name, trouble)
    }

    /// As [`Self::read`], but passes the diagnostics of an invalid text to `wrong`.
    ///
    /// # Errors
    /// The exit code.
    pub fn read_or(
        name: &str,
        wrong: impl FnOnce(Diagnostics) -> ExitCode,
    ) -> Result<Self, ExitCode> {
        let parsed = match corpus::algorithm(name) {
            Some(known) => parse(&format!("{name}.snapshot"), known.text),
            None => parse(name, &text(name)?),
        };
        match parsed {
            Ok(algorithm) => Ok(Self { name: name.to_owned(), algorithm, size: None }),
            Err(diagnostics) => Err(wrong(diagnostics)),
        }
    }

    /// Sets `size` to a number, if one is given.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn sized(&self, size: Option<u32>) -> Result<Self, ExitCode> {
        let algorithm = match size {
            None => self.algorithm.clone(),
            Some(number) => self.algorithm.with_size(number).map_err(trouble)?,
        };
        Ok(Self { name: self.name.clone(), algorithm, size: size.or(self.size) })
    }

    /// Compiles the correct program, or the variant with a bug.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed.
    pub fn variant(&self, bug: Option<&str>) -> Result<Variant, ExitCode> {
        self.variant_or(bug, false, trouble)
    }

    /// As [`Self::variant`], with linearization points if they are used. Passes the diagnostics of
    /// an invalid text to `wrong`.
    ///
    /// # Errors
    /// The exit code.
    pub fn variant_or(
        &self,
        bug: Option<&str>,
        points: bool,
        wrong: impl FnOnce(Diagnostics) -> ExitCode,
    ) -> Result<Variant, ExitCode> {
        if let Some(bug) = bug {
            self.require(bug)?;
        }
        let program = match points {
            true => self.algorithm.program_with_points(bug),
            false => self.algorithm.program(bug),
        };
        let program = program.map_err(wrong)?;
        if let Some(warnings) = self.algorithm.warnings(&program).filter(|_| bug.is_none()) {
            output::report(warnings);
        }
        let dependences = independence::check(&program).err().unwrap_or_default();
        let size = self.size.map_or_else(String::new, |size| format!(", size {size}"));
        let title = format!("{}{size}", program.name);
        Ok(Variant { bug: bug.map(str::to_owned), title, program, dependences })
    }

    /// Returns the names of all bugs.
    pub fn bugs(&self) -> impl Iterator<Item = &str> {
        self.algorithm.bugs().iter().map(|bug| bug.name.text.as_str())
    }

    /// Checks that a variant implements a snapshot: the option `what` supports no other object.
    ///
    /// # Errors
    /// The exit code; the alternative has been printed.
    pub fn require_snapshot(&self, variant: &Variant, what: &str) -> Result<(), ExitCode> {
        match variant.object() {
            None => Ok(()),
            Some(object) => Err(trouble(format_args!(
                "{what} is for snapshots, and {} declares the object `{object}`: objects are for \
                 `check` without it, `expect`, `points`, `simulate`, `replay`, and `emit` up to \
                 the program (docs/language.md)",
                self.name
            ))),
        }
    }

    /// Returns the places where a variant looks at values.
    pub fn looks_at_values(&self, variant: &Variant) -> Vec<TextPosition> {
        if variant.dependences.is_empty() {
            return Vec::new();
        }
        let source = self.algorithm.source();
        let refusal = self.algorithm.refusal(&variant.dependences);
        refusal.iter().map(|found| TextPosition::new(source, found.span, found)).collect()
    }

    fn require(&self, bug: &str) -> Result<(), ExitCode> {
        let known = self.algorithm.bugs().iter().map(|bug| bug.name.text.as_str());
        if known.clone().any(|name| name == bug) {
            return Ok(());
        }
        Err(trouble(format_args!("{} has no bug `{bug}`{}", self.name, hint(bug, known))))
    }
}

/// Returns the names of the corpus.
fn known() -> impl Iterator<Item = &'static str> + Clone {
    corpus::all_algorithms().map(|algorithm| algorithm.name)
}

/// Returns the inputs as named, or the whole corpus if none was named.
pub fn names(inputs: &[String]) -> Vec<String> {
    match inputs {
        [] => known().map(str::to_owned).collect(),
        inputs => inputs.to_vec(),
    }
}

/// Reads the text of a file, if the name looks like one.
fn text(name: &str) -> Result<String, ExitCode> {
    let looks_like_a_file = name.contains(['/', '.']) || Path::new(name).exists();
    if !looks_like_a_file {
        let file = format!("{name}.snapshot");
        if Path::new(&file).exists() {
            return Err(trouble(format_args!(
                "there is no algorithm `{name}`, nor a file of this name; did you mean `{file}`?"
            )));
        }
        return Err(trouble(format_args!(
            "there is no algorithm `{name}`, nor a file of this name{}",
            hint(name, known())
        )));
    }
    read_text(Path::new(name), LARGEST, LINE_LIMIT)
        .map_err(|error| trouble(format_args!("cannot read {name}: {error}")))
}
