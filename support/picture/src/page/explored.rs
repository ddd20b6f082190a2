//! The page of an execution that is made by hand: it shows what its server answers.

use maud::{Markup, html};
use serde::Serialize;

use super::document::{Document, embedded, shown};
use super::{STYLE, steps};

const SCRIPT: &str = include_str!("../../assets/explore.js");
const OWN_STYLE: &str = include_str!("../../assets/explore.css");

/// Keys of the page, with their effects.
const KEYS: [(&str, &str); 10] = [
    ("0 \u{2026} 9", "the next step of this process; of several choices, the first is focused"),
    ("a, b, \u{2026}", "the choice with this letter, of the process chosen last"),
    ("\u{2190} or Backspace", "one step back"),
    ("\u{2192}", "one step forward again"),
    ("Home, End", "to the beginning, to the last step"),
    ("/", "type any move: a value, an argument, a process above 9"),
    ("!", "look for a counterexample, and walk along it"),
    ("+", "save the execution as a trace"),
    ("=", "copy the trace"),
    ("?", "these keys; Escape closes them"),
];

/// Contents of the page before its first question.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Explored {
    /// Name of the algorithm.
    pub title: String,
    /// Lines of the algorithm.
    pub source: Vec<String>,
    /// Number of processes.
    pub processes: usize,
    /// Most moves of an execution.
    pub most_moves: usize,
    /// Moves of the execution with which the page begins, as lines of a trace.
    pub recorded: Vec<String>,
    /// A move as an example.
    pub example: String,
    /// The program that serves the page.
    pub origin: String,
}

/// Data for the script.
#[derive(Serialize)]
struct Data<'a> {
    title: String,
    processes: usize,
    most_moves: usize,
    recorded: &'a [String],
}

impl Explored {
    /// Returns the file.
    pub fn html(&self) -> String {
        let data = Data {
            title: shown(&self.title),
            processes: self.processes,
            most_moves: self.most_moves,
            recorded: &self.recorded,
        };
        let data = serde_json::to_string(&data).expect("texts and numbers become JSON");
        Document {
            title: self.title.clone(),
            style: &format!("{STYLE}{OWN_STYLE}"),
            data: Some(embedded(&data)),
            script: Some(SCRIPT),
            asks_server: true,
            body: self.body(),
        }
        .html()
    }

    fn body(&self) -> Markup {
        html! {
            header {
                h1 { (shown(&self.title)) }
                p { span #verdict.verdict.linearizable { "linearizable" } " " span #reason {} }
            }
            noscript { p { "The page is drawn by a script, which is not allowed to run here." } }
            main {
                (tools())
                p #told role="status" aria-live="polite" { "\u{a0}" }
                div.explorer {
                    section #turns aria-label="Next step of each process" {
                        h2 { "Next step" }
                        div #processes {}
                        form #other {
                            label { "another move "
                                input #move type="text" autocomplete="off" spellcheck="false"
                                    placeholder=(self.example); }
                            button type="submit" { "make it" }
                        }
                    }
                    section #steps {
                        h2 { "Execution" }
                        ol #step-list tabindex="0" role="listbox" aria-label="Steps made" {}
                    }
                    section #now-state { h2 { "State" } (steps::state(&[])) }
                }
                div.explorer.told {
                    section #text { h2 { "Algorithm" } (steps::source(&self.source)) }
                    section #history { h2 { "History" } div #pictures {} div #argument {} }
                }
                details #trace { summary { "The execution as a file for " code { "snapshot-verify replay" } } pre #file {} }
            }
            footer { p { (shown(&self.origin)) } }
            (keys())
        }
    }
}

fn tools() -> Markup {
    html! {
        div.tools role="toolbar" aria-label="Execution" {
            button type="button" #first { "\u{21e4} first" }
            button type="button" #back { "\u{2190} back" }
            button type="button" #forth { "forth \u{2192}" }
            button type="button" #last { "last \u{21e5}" }
            span #at {}
            button type="button" #find { "counterexample" }
            button type="button" #save { "save trace" }
            button type="button" #copy { "copy trace" }
            button type="button" #help { "? keys" }
        }
    }
}

fn keys() -> Markup {
    html! {
        dialog #keys aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (key, effect) in KEYS { dt { kbd { (key) } } dd { (effect) } } }
            form method="dialog" { button { "close" } }
        }
    }
}
