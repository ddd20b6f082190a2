//! Diagnostics as a terminal shows them.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::Diagnostic;
use crate::language::{Source, Span};

/// All of them, each with its line, separated by empty lines.
pub(super) fn render(source: &Source, list: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut rendered = String::new();
    for diagnostic in list {
        if !rendered.is_empty() {
            rendered.push_str("\n\n");
        }
        rendered.push_str(&renderer.render(&[group(source, diagnostic)]));
    }
    rendered
}

fn group<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> Group<'a> {
    let primary =
        AnnotationKind::Primary.span(visible(source, diagnostic.span)).label(diagnostic.label());
    let context = diagnostic
        .context()
        .iter()
        .map(|&(span, label)| AnnotationKind::Context.span(visible(source, span)).label(label));
    let snippet =
        Snippet::source(source.text()).path(source.name()).annotation(primary).annotations(context);
    let level = if diagnostic.is_warning() { Level::WARNING } else { Level::ERROR };
    let group = level.primary_title(diagnostic.to_string()).element(snippet);
    match diagnostic.help() {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}

/// The place as a range within one line: carets under a whole procedure
/// show no place.
fn visible(source: &Source, span: Span) -> std::ops::Range<usize> {
    let text = source.text();
    let begin = (span.begin as usize).min(text.len());
    let end = (span.end as usize).clamp(begin, text.len());
    let line = text[begin..end].find('\n').map_or(end, |newline| begin + newline);
    begin..line
}
