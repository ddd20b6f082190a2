//! The steps of an algorithm's execution, with their effects, forwards and backwards.

use maud::{Markup, html};
use serde::Serialize;

/// A place that a step changed: a cell of shared memory, or a variable of a process.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Change {
    /// Name of the place, unique in the execution: `r[1]`, `p0: c`.
    pub name: String,
    /// Content before the step.
    pub old: String,
    /// Content after the step.
    pub new: String,
}

/// One step.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Step {
    /// The process that takes the step.
    pub process: usize,
    /// Description of the step.
    pub text: String,
    /// The line of the algorithm that the step executes, from 1; 0 if it only begins or ends an
    /// operation.
    pub line: usize,
    /// Places that the step changes.
    pub changes: Vec<Change>,
}

/// All steps, with the text of the algorithm.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Steps {
    /// Steps, first to last.
    pub steps: Vec<Step>,
    /// Lines of the algorithm, in which the page marks the position of a process.
    pub source: Vec<String>,
    /// Every place with its content before the first step, in the order of the table.
    pub start: Vec<(String, String)>,
}

impl Steps {
    /// Returns the controls, the list of the steps, and a place for the state.
    pub(super) fn element(&self) -> Markup {
        let last = self.steps.len();
        html! {
            section #steps {
                h2 { "Step by step" }
                div.tools role="toolbar" aria-label="Steps" {
                    button type="button" #first { "\u{21e4} first" }
                    button type="button" #back { "\u{2190} back" }
                    button type="button" #forth { "forth \u{2192}" }
                    button type="button" #last { "last \u{21e5}" }
                    label { "step " input #at type="range" min="0" max=(last) value="0"; }
                    output #now for="at" { "0 of " (last) }
                }
                p #step-told role="status" aria-live="polite" { "Before the first step." }
                div.columns {
                    ol #step-list tabindex="0" role="listbox"
                        aria-label="Steps: arrow keys go forth and back, Home and End to the ends" {
                        @for (at, step) in self.steps.iter().enumerate() {
                            li role="option" data-step=(at + 1) id={ "step-" (at + 1) }
                                aria-selected="false" {
                                b { "p" (step.process) } " " (super::shown(&step.text))
                            }
                        }
                    }
                    (state(&self.start))
                    (source(&self.source))
                }
            }
        }
    }
}

/// Returns the table of all places with their contents.
pub(super) fn state(rows: &[(String, String)]) -> Markup {
    html! {
        div.wide {
            table #state {
                caption { "Shared memory and variables" }
                thead { tr { th scope="col" { "place" } th scope="col" { "value" } } }
                tbody {
                    @for (name, value) in rows {
                        tr { th scope="row" { (super::shown(name)) } td { (super::shown(value)) } }
                    }
                }
            }
        }
    }
}

/// Returns the lines of the algorithm.
pub(super) fn source(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            ol.source aria-label="The algorithm" {
                @for line in lines { li { code { (super::shown(line)) } } }
            }
        }
    }
}
