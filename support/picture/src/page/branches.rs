//! Executions that begin alike, as a tree whose branches open and close.

use maud::{Markup, html};

use super::{Section, Step, shown};
use crate::diagram::Diagram;
use crate::svg;

/// Most steps of a tree whose branches are open at first.
const FEW_STEPS: usize = 120;

/// A part of an execution, with its continuations.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Steps since the part before.
    pub steps: Vec<Step>,
    /// Remark behind the last step.
    pub remark: String,
    /// Operations of the whole execution.
    pub picture: Option<Diagram>,
    /// The whole execution as a file for `replay`.
    pub trace: Option<String>,
    /// Continuations, each with its condition.
    pub branches: Vec<(String, Self)>,
}

impl Part {
    /// Returns the number of steps of all parts.
    fn size(&self) -> usize {
        self.steps.len() + self.branches.iter().map(|(_, part)| part.size()).sum::<usize>()
    }

    /// Returns the number of parts without a continuation.
    fn leaves(&self) -> usize {
        match self.branches.len() {
            0 => 1,
            _ => self.branches.iter().map(|(_, part)| part.leaves()).sum(),
        }
    }
}

/// State of the drawing of a tree.
struct Drawing<'a> {
    /// Begin of the identifiers of pictures, different from all others of the page.
    prefix: &'a str,
    is_open: bool,
    pictures: usize,
}

impl Section {
    /// A tree of executions. `prefix` makes identifiers distinct from those of other sections.
    pub fn branches(heading: &str, notes: &[String], prefix: &str, first: &Part) -> Self {
        let is_open = first.size() <= FEW_STEPS;
        let mut drawing = Drawing { prefix, is_open, pictures: 0 };
        let tree = drawing.part(first, 0);
        let body = html! {
            @for note in notes { p { (shown(note)) } }
            div.branches { (tree) }
        };
        Self { heading: heading.to_owned(), body }
    }
}

impl Drawing<'_> {
    /// Draws a part behind this many steps.
    fn part(&mut self, part: &Part, before: usize) -> Markup {
        let picture = part.picture.as_ref().map(|diagram| self.picture(diagram));
        let count = before + part.steps.len();
        let branches: Vec<Markup> = part
            .branches
            .iter()
            .map(|(condition, next)| {
                let body = self.part(next, count);
                html! {
                    details.branch open[self.is_open] {
                        summary {
                            (shown(condition))
                            @if next.leaves() > 1 {
                                " " span.note { "(" (next.leaves()) " executions)" }
                            }
                        }
                        (body)
                    }
                }
            })
            .collect();
        html! {
            @if !part.steps.is_empty() {
                ol.moves start=(before + 1) {
                    @for step in &part.steps {
                        li { b { "p" (step.process) } " " (shown(&step.text)) }
                    }
                }
            }
            @if !part.remark.is_empty() { p.remark { (shown(&part.remark)) } }
            @if let Some(picture) = picture { (picture) }
            @if let Some(trace) = &part.trace {
                details.trace {
                    summary { "The execution as a file for " code { "snapshot-verify replay" } }
                    div.wide tabindex="0" role="group" aria-label="The trace" {
                        pre { (trace.lines().map(shown).collect::<Vec<_>>().join("\n")) }
                    }
                }
            }
            @for branch in branches { (branch) }
        }
    }

    fn picture(&mut self, diagram: &Diagram) -> Markup {
        if diagram.bars.is_empty() || diagram.bars.len() > svg::MOST_BARS {
            return html! {};
        }
        self.pictures += 1;
        let prefix = format!("{}-{}", self.prefix, self.pictures);
        let title = "The operations of this execution";
        html! {
            figure {
                div.wide tabindex="0" role="group" aria-label=(title) {
                    (svg::element(diagram, title, &prefix))
                }
            }
        }
    }
}
