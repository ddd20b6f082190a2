//! `snapshot-test explain`: why is this recording (not) linearizable?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use snapshot_io::{escape, quantity, replacement};
use snapshot_picture::{dot, latex, svg};
use snapshot_test::Value;
use snapshot_test::explain::Explained;
use snapshot_test::input::Input;
use snapshot_test::judge::Options;
use snapshot_test::report::{doubt, exit_code, explained};
use snapshot_test::synchronisation::Object;

use super::format::InputFormat;
use super::{TROUBLE, print, print_data, times, trouble};

/// Explains a verdict: in the terminal, as a page for a browser, as a picture for a paper.
///
/// Exit code: as for `check`. Holds the recording in memory.
#[derive(Debug, Args)]
pub struct Explain {
    /// The format of the recording.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// The recording is of this object, as with `check --object`.
    #[arg(long, value_name = "OBJECT")]
    object: Option<Object>,
    /// With --object: the value before the first operation, as with `check --initial`.
    #[arg(long, requires = "object", value_name = "VALUE", value_parser = super::format::key,
          allow_negative_numbers = true)]
    initial: Option<Value>,
    /// Explain only the object with this key, in a recording of several objects: a number, a text, or a
    /// text in double quotes.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// Write a page for a browser: one file, which needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print a picture of the operations that prove a violation; for a linearizable recording, of
    /// all operations.
    #[arg(long, value_enum, value_name = "FORM")]
    to: Option<Form>,
    /// Bytes that an exact search may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, visible_alias = "memory", value_name = "BYTES", default_value = "1G",
          value_parser = quantity::bytes::<usize>)]
    budget_memory: usize,
    /// Seconds that an exact search may take (default: no limit).
    #[arg(long, visible_alias = "time", value_name = "S", value_parser = quantity::seconds)]
    budget_seconds: Option<std::time::Duration>,
    /// The recording; `-` is standard input.
    #[arg(value_name = "HISTORY")]
    history: PathBuf,
}

const WIDTH: usize = 160;

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Form {
    /// A file for browsers and papers.
    Svg,
    /// For Graphviz: `... --to dot | dot -Tpdf -o picture.pdf`.
    Dot,
    /// A `tikzpicture` for LaTeX.
    Latex,
    /// In characters.
    Text,
}

impl Explain {
    pub fn run(self) -> ExitCode {
        if let Some(place) = &self.html {
            if replacement::target(place) == replacement::target(&self.history) {
                return trouble(format_args!(
                    "{} would be written over: name another file",
                    place.display()
                ));
            }
            // If this run fails, no older page must look like its result.
            if let Err(error) = replacement::clear(place) {
                return trouble(format_args!("cannot replace {}: {error}", place.display()));
            }
        }
        let input = Input::from_argument(&self.history);
        let mut name = escape::name(&input.name()).into_owned();
        if let Some(key) = &self.key {
            name += &format!(" @{key}");
        }
        let key = self.key.as_ref();
        let options =
            Options { time: self.budget_seconds, memory: self.budget_memory, ..Options::default() };
        let object = match Object::chosen(self.object.clone(), self.initial.clone()) {
            Ok(object) => object,
            Err(error) => return trouble(error),
        };
        let format = self.format.format();
        let explained_input =
            Explained::new(&input, name.clone(), object.as_ref(), format, key, &options);
        let explained_input = match explained_input {
            Ok(explained) => explained,
            Err(error) => return trouble(error.report(&name)),
        };
        if let Some(place) = &self.html {
            let page = explained_input.page().html();
            if let Err(error) = replacement::write(place, page.as_bytes()) {
                return trouble(format_args!("cannot write {}: {error}", place.display()));
            }
        }
        let judgement = explained_input.judgement();
        if let Some(backwards) = &judgement.backwards {
            times::warn(&name, backwards, doubt(&judgement.finding));
        }
        let printed = match self.to {
            None => {
                let mut text = explained(&name, judgement);
                if let Some(place) = &self.html {
                    text += &format!("  page: {}\n", place.display());
                }
                print(&text)
            }
            Some(form) => {
                let diagram = explained_input.diagram();
                if diagram.bars.len() > svg::MOST_BARS {
                    return trouble(format_args!(
                        "a picture of {} operations cannot be read (at most {}): use --html FILE",
                        diagram.bars.len(),
                        svg::MOST_BARS
                    ));
                }
                print_data(&match form {
                    Form::Svg => svg::standalone(&diagram, &name),
                    Form::Dot => dot::text(&diagram, &name),
                    Form::Latex => latex::text(&diagram),
                    Form::Text => match explained_input.text(WIDTH) {
                        Some(text) => text,
                        None => {
                            return trouble(format_args!(
                                "the picture is wider than {WIDTH} characters: use --to svg, or \
                                 --html FILE"
                            ));
                        }
                    },
                })
            }
        };
        if printed == ExitCode::from(TROUBLE) {
            return printed;
        }
        ExitCode::from(exit_code([&judgement.finding]))
    }
}
