//! One HTML page that explains a history: words, pictures, the whole recording.
//!
//! The page is one file. It loads nothing: a content security policy forbids it, and allows only
//! our script, by its hash. So the page works offline, can be attached to a bug report, and text of
//! a recording cannot become a script. Markup is written by `maud`, which escapes text, and data
//! for the script is in an element that the browser does not run, with `<`, `>` and `&` written as
//! JSON escapes.
//!
//! Without scripts, all words, pictures and lists are there; the script draws the recording on a
//! canvas, from [`crate::columns`].

mod bands;
mod branches;
mod document;
mod explored;
pub mod listing;
mod steps;
mod words;

use maud::{Markup, html};
use serde::Serialize;
use snapshot_core::{Names, Process, Segment};

use crate::columns::Columns;
use crate::diagram::Diagram;
use crate::forced::Cause;
use crate::run::{self, Run};
use crate::svg;

use bands::{Band, Bands};
use document::{Document, embedded, shown};

pub use branches::Part;
pub use explored::Explored;
pub use steps::{Change, Step, Steps};

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// Most width of a picture that stands beside the argument.
const BESIDE: usize = 640;

/// Longest list that is not folded.
const LONG: usize = 16;

/// Answer that the page explains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// A history is not linearizable; an algorithm is wrong.
    Violation,
    /// An algorithm has a run-time fault.
    Faulty,
    /// A history is linearizable; an algorithm is proved.
    Linearizable,
    /// Neither was established.
    Unknown,
}

impl Answer {
    const fn class(self) -> &'static str {
        match self {
            Self::Violation | Self::Faulty => "violation",
            Self::Linearizable => "linearizable",
            Self::Unknown => "unknown",
        }
    }
}

/// An operation that the page highlights.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Guilty {
    /// Number of the operation.
    pub operation: usize,
    /// Name of the operation: `U1`.
    pub name: String,
    /// Description of the operation and its result.
    pub deed: String,
    /// Place in the recording: `[3:1 to 9:1]`.
    pub place: String,
}

/// A remark that belongs to a place of the recording.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Annotation {
    /// The tick that the remark precedes.
    pub tick: usize,
    /// Text of the remark.
    pub text: String,
}

/// A part of the page that only one kind of answer has.
#[derive(Clone, Debug)]
pub struct Section {
    /// Heading of the section.
    pub heading: String,
    /// Contents below the heading.
    pub body: Markup,
}

/// The form of the columns of a recording.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Updates and scans.
    #[default]
    Snapshot,
    /// Exchanges of an immediate snapshot.
    Exchanges,
    /// Named operations of any object.
    Operations,
}

/// The whole recording, for the canvas.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Operations of the recording.
    pub columns: Columns,
    /// Name of a tick: `event`, `step`.
    pub tick: &'static str,
    /// Comments, ascending by tick.
    pub annotations: Vec<Annotation>,
    /// Parts that the script cannot show, with reasons.
    pub notes: Vec<String>,
    /// The tick that completes the violation.
    pub decided_at: Option<usize>,
    /// Form of the columns.
    pub form: Form,
    /// Names of processes and segments.
    pub names: Names,
}

/// Contents of a page. All fields except `sections` are text.
#[derive(Clone, Debug)]
pub struct Page {
    /// Name of the input.
    pub title: String,
    /// Kind of the answer.
    pub answer: Answer,
    /// The answer in a word.
    pub verdict: String,
    /// Size of the input, and method of the decision.
    pub summary: String,
    /// Paragraphs of the argument.
    pub words: Vec<String>,
    /// Operations of the argument.
    pub diagram: Diagram,
    /// Details of the operations, in the order of the diagram.
    pub guilty: Vec<Guilty>,
    /// Name of the renaming, and the diagram after it.
    pub renamed: Option<(String, Diagram)>,
    /// Run of the automaton.
    pub run: Option<Run>,
    /// The recording, if there is one.
    pub recording: Option<Recording>,
    /// Steps of the algorithm, for its executions.
    pub steps: Option<Steps>,
    /// Further sections, at the end.
    pub sections: Vec<Section>,
    /// The program that wrote the page, and the command that reproduces the answer.
    pub origin: String,
}

/// Data for the script.
#[derive(Serialize)]
struct Data<'a> {
    columns: &'a str,
    dictionary: Vec<String>,
    has_entries: bool,
    tick: &'a str,
    guilty: Vec<Guilty>,
    arrows: Vec<(usize, usize, &'static str, usize)>,
    annotations: Vec<Annotation>,
    bands: Vec<Band>,
    decided_at: Option<usize>,
    form: Form,
    /// Labels of processes and segments; empty for numbers.
    processes: Vec<String>,
    segments: Vec<String>,
    steps: Option<&'a Steps>,
}

impl Page {
    /// Returns the file. Its size is that of the columns, about 2 to 8 bytes per operation, and
    /// some 40 kB.
    pub fn html(&self) -> String {
        let body = html! {
            header {
                h1 { (shown(&self.title)) }
                p { span.verdict.(self.answer.class()) { (shown(&self.verdict)) } " " (shown(&self.summary)) }
            }
            main {
                (self.argument())
                (self.timeline())
                @if let Some(steps) = &self.steps { (steps.element()) }
                (self.for_testers())
                @for section in &self.sections {
                    section { h2 { (section.heading) } (section.body) }
                }
            }
            footer { p { (shown(&self.origin)) } }
        };
        let script = self.recording.is_some().then_some(SCRIPT);
        Document {
            title: format!("{} - {}", self.title, self.verdict),
            style: STYLE,
            data: script.map(|_| self.data()),
            script,
            asks_server: false,
            body,
        }
        .html()
    }

    /// Returns the heading of the argument.
    fn question(&self) -> String {
        let refuted = self.verdict.strip_prefix("not ").unwrap_or("linearizable");
        match self.answer {
            Answer::Violation => format!("Why it is not {refuted}"),
            Answer::Faulty => "What goes wrong".to_owned(),
            Answer::Linearizable | Answer::Unknown => "The answer".to_owned(),
        }
    }

    fn argument(&self) -> Markup {
        let bars = self.diagram.bars.len();
        let title = match self.answer {
            Answer::Violation => "The operations that prove it, and the order they force",
            _ => "The operations, and where each takes effect",
        };
        // A wide picture has a row of its own.
        let is_beside = (1..=svg::MOST_BARS).contains(&bars)
            && !self.words.is_empty()
            && svg::width(&self.diagram) <= BESIDE;
        html! {
            section #why {
                h2 { (self.question()) }
                div.(if is_beside { "beside" } else { "stacked" }) {
                    div {
                        div.words { (words::argument(&self.words)) }
                        @if is_beside { (self.operations()) }
                    }
                    @if bars > 0 && bars <= svg::MOST_BARS {
                        figure {
                            div.wide tabindex="0" role="group" aria-label=(title) {
                                (svg::element(&self.diagram, title, "why"))
                            }
                            figcaption {
                                "Time runs to the right; the distances are not to scale. "
                                @if self.diagram.arrows.is_empty() {
                                    @if self.diagram.bars.iter().any(|bar| bar.rank.is_some()) {
                                        "A point is where an operation takes effect, its number the place in the order"
                                        @if self.recording.as_ref().is_some_and(|one| one.form != Form::Snapshot) {
                                            "; a line joins those that take effect together"
                                        }
                                        "."
                                    }
                                } @else { (self.caption()) }
                            }
                            @if !self.diagram.arrows.is_empty() {
                                (listed("reasons", self.diagram.arrows.len(), svg::legend(&self.diagram)))
                            }
                        }
                    }
                }
                @if !is_beside { (self.operations()) }
            }
        }
    }

    /// Returns the operations of the argument, each with its place.
    fn operations(&self) -> Markup {
        let list = html! {
            ul.operations aria-label="The operations of the argument" {
                @for one in &self.guilty {
                    li {
                        button type="button" data-operation=(one.operation)
                            title="Show it in the recording" {
                            b { (one.name) } " " (shown(&one.deed))
                        }
                        @if !one.place.is_empty() { " " span.place { (shown(&one.place)) } }
                    }
                }
            }
        };
        html! {
            @if !self.guilty.is_empty() { (listed("operations", self.guilty.len(), list)) }
        }
    }

    /// Returns the legend for the arrows of the diagram, and for dashed lines.
    fn caption(&self) -> Markup {
        let diagram = &self.diagram;
        let has_suppositions = diagram.arrows.iter().any(|arrow| arrow.cause == Cause::Supposed);
        html! {
            "An arrow leads from the operation that must take effect first; its number is that of "
            "its reason"
            @if self.words.iter().any(|line| line.trim_start().starts_with("(1) ")) {
                ", the line of the argument"
            }
            ". "
            @if has_suppositions {
                "A dashed arrow holds as long as a supposition does, which is then refuted. "
            }
            @if diagram.bars.iter().any(|bar| bar.is_failed) {
                "An operation in a dashed frame failed. "
            }
            @if diagram.has_circle() {
                "Together the arrows "
                @if has_suppositions { "that hold without supposition " }
                "lead in a circle: no order has them all."
            }
        }
    }

    fn timeline(&self) -> Markup {
        let Some(recording) = &self.recording else { return html! {} };
        let what = if recording.tick == "step" { "The execution" } else { "The recording" };
        html! {
            section #recording {
                h2 { (what) }
                div.tools role="toolbar" aria-label="View of the recording" {
                    button type="button" #closer { "+ closer" }
                    button type="button" #farther { "\u{2212} farther" }
                    button type="button" #all { "all of it" }
                    @if !self.guilty.is_empty() {
                        button type="button" #home { "the argument" }
                        label { input #only type="checkbox"; " only its processes" }
                    }
                    span #scale {}
                }
                canvas #timeline tabindex="0" role="application"
                    aria-label="Operations on a row per process" aria-describedby="keys" {}
                p #told role="status" aria-live="polite" { "\u{a0}" }
                p.note {
                    "A dashed frame: the operation did not respond; it is open, failed, or its outcome was lost."
                    @if recording.decided_at.is_some() {
                        " The dashed line: the event that completes the violation."
                    }
                }
                (bands(recording))
                noscript { p { "The recording is drawn by a script, which is not allowed to run here." } }
                details {
                    summary { "Keys" }
                    p #keys {
                        kbd { "\u{2190}" } " " kbd { "\u{2192}" } " operation before, after; "
                        kbd { "\u{2191}" } " " kbd { "\u{2193}" } " other process; "
                        kbd { "Enter" } " pin and read its details; " kbd { "Escape" } " let go; "
                        kbd { "+" } " " kbd { "\u{2212}" } " closer, farther; "
                        kbd { "0" } " all of it; " kbd { "g" } " next operation of the argument; "
                        kbd { "n" } " " kbd { "p" } " next and previous one in the linearization. "
                        "Mouse: drag to move, wheel to zoom, Shift and wheel to move along."
                    }
                }
                div #details role="region" aria-label="Details" tabindex="-1" hidden {}
                @for note in &recording.notes { p.note { (shown(note)) } }
                @if !recording.annotations.is_empty() {
                    details {
                        summary { "Comments in the recording: " (recording.annotations.len()) }
                        ol.annotations {
                            @for one in recording.annotations.iter().take(1000) {
                                li { button type="button" data-tick=(one.tick) {
                                    (recording.tick) " " (one.tick) } " " (shown(&one.text)) }
                            }
                        }
                        @if recording.annotations.len() > 1000 { p.note { "The first 1000 are listed." } }
                    }
                }
            }
        }
    }

    /// Returns the part for those who test the checker, folded.
    fn for_testers(&self) -> Markup {
        html! {
            @if self.renamed.is_some() || self.run.is_some() {
                details #testers {
                    summary { "How the checker sees it: a simple history, and the run of an automaton" }
                    (self.renaming())
                    (self.automaton())
                }
            }
        }
    }

    fn renaming(&self) -> Markup {
        let Some((name, renamed)) = &self.renamed else { return html! {} };
        if renamed.bars.len() > svg::MOST_BARS {
            return html! {};
        }
        let original = Diagram { arrows: Vec::new(), ..self.diagram.clone() };
        html! {
            section #renaming {
                h2 { "The same as a simple history" }
                p { "The renaming " code { (name) } " leaves two values, 0 and 1, and two segments: \
                    updates of segment i from number r_i on write 1, and so do those of j from r_j \
                    on; all others write 0. A linearizable history stays linearizable under it." }
                div.pair {
                    figure {
                        div.wide tabindex="0" role="group" aria-label="As recorded" {
                            (svg::element(&original, "as recorded", "original"))
                        }
                        figcaption { "As recorded." }
                    }
                    figure {
                        div.wide tabindex="0" role="group" aria-label="Renamed" {
                            (svg::element(renamed, "after the renaming", "renamed"))
                        }
                        figcaption { "Renamed; s0 is segment i, s1 segment j." }
                    }
                }
            }
        }
    }

    fn automaton(&self) -> Markup {
        let Some(run) = &self.run else { return html! {} };
        html! {
            section #automaton {
                h2 { "The automaton's run" }
                p { "Automaton " b { (run.automaton) } " reads the renamed events and ends in its \
                    accepting state, which it reaches on no linearizable simple history." }
                @if let Some(processes) = &run.processes {
                    p.note {
                        "Here "
                        @for (at, process) in processes.iter().enumerate() {
                            @if at > 0 { ", " } "p" (at) " is " (shown(process))
                        }
                        "."
                    }
                }
                figure { div.wide tabindex="0" role="group" aria-label="The run" { (run::element(run)) } }
            }
        }
    }

    fn data(&self) -> String {
        let empty = Recording::default();
        let recording = self.recording.as_ref().unwrap_or(&empty);
        let kind = |cause| match cause {
            Cause::Time => "time",
            Cause::Values => "values",
            Cause::Supposed => "supposed",
        };
        let arrows = self.diagram.arrows.iter();
        let guilty = |one: &Guilty| Guilty {
            operation: one.operation,
            name: one.name.clone(),
            deed: shown(&one.deed),
            place: shown(&one.place),
        };
        let annotation = |one: &Annotation| Annotation { tick: one.tick, text: shown(&one.text) };
        let names = &recording.names;
        let labels = |count: usize, label: fn(usize, &Names) -> String| -> Vec<String> {
            (0..count).map(|at| shown(&label(at, names))).collect()
        };
        let data = Data {
            columns: &recording.columns.base64,
            dictionary: recording.columns.dictionary.iter().map(|text| shown(text)).collect(),
            has_entries: recording.columns.has_entries,
            tick: recording.tick,
            guilty: self.guilty.iter().map(guilty).collect(),
            arrows: arrows.map(|a| (a.before, a.after, kind(a.cause), a.number)).collect(),
            annotations: recording.annotations.iter().map(annotation).collect(),
            bands: Bands::new(&recording.annotations).bands,
            decided_at: recording.decided_at,
            form: recording.form,
            processes: labels(names.processes().len(), |at, names| {
                names.process_label(Process::from_index(at)).to_string()
            }),
            segments: labels(names.segments().len(), |at, names| {
                names.segment_label(Segment::from_index(at)).to_string()
            }),
            steps: self.steps.as_ref(),
        };
        embedded(&serde_json::to_string(&data).expect("texts and numbers become JSON"))
    }
}

/// Returns the legend of the bands.
fn bands(recording: &Recording) -> Markup {
    let bands = Bands::new(&recording.annotations);
    html! {
        @if !bands.kinds.is_empty() {
            ul.bands aria-label="Times that comments begin and end" {
                @for (kind, name) in bands.kinds.iter().enumerate() {
                    li.{ "band" (kind.min(bands::COLOURS - 1)) } { (shown(name)) " (" (bands.count(kind)) ")" }
                }
            }
        }
    }
}

/// Returns a list, folded if it is long.
fn listed(what: &str, length: usize, list: Markup) -> Markup {
    html! {
        @if length <= LONG { (list) } @else { details.fold { summary { (length) " " (what) } (list) } }
    }
}
