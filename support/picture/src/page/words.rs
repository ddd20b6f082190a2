//! The paragraphs of an argument, with rounds of equal ones folded.
//!
//! The argument against a ring of operations says the same of each of them. Paragraphs are equal if
//! they differ in their numbers only; several that follow each other in the same order are a round.

use maud::{Markup, html};

use super::document::shown;

/// Longest round, in paragraphs.
const LONGEST: usize = 8;

/// Least number of equal rounds that are folded: the first and the last are shown.
const FEWEST: usize = 5;

/// Returns the paragraphs.
pub(super) fn argument(words: &[String]) -> Markup {
    html! {
        @for part in parts(words) {
            @match part {
                Part::Shown(paragraph) => (shown_paragraph(paragraph)),
                Part::Folded { rounds, paragraphs } => {
                    details.fold {
                        summary { (summary(rounds, paragraphs)) }
                        @for paragraph in paragraphs { (shown_paragraph(paragraph)) }
                    }
                }
            }
        }
    }
}

fn shown_paragraph(paragraph: &str) -> Markup {
    html! { p.(depth(paragraph)) { (shown(paragraph.trim_start_matches(' '))) } }
}

fn summary(rounds: usize, paragraphs: &[String]) -> String {
    let each = paragraphs.len() / rounds;
    let numbers = (
        paragraphs.first().and_then(|one| number(one)),
        paragraphs.last().and_then(|one| number(one)),
    );
    let lines = match numbers {
        (Some(first), Some(last)) => format!("({first}) to ({last})"),
        _ => format!("{} paragraphs", paragraphs.len()),
    };
    let same = match each {
        1 => "the same as in the line before".to_owned(),
        each => format!("the same {each} steps as before"),
    };
    format!("{lines}: {same}, with {rounds} other operations")
}

/// Returns the number of a line of an argument: of `(5) S1 saw U1`, 5.
fn number(line: &str) -> Option<&str> {
    let number = line.trim_start().strip_prefix('(')?.split_once(')')?.0;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

#[derive(Debug, Eq, PartialEq)]
enum Part<'w> {
    Shown(&'w str),
    /// Rounds between the first and the last.
    Folded {
        rounds: usize,
        paragraphs: &'w [String],
    },
}

/// Divides the paragraphs; of the rounds that begin at a paragraph, the shortest are folded. Cost:
/// linear.
fn parts(words: &[String]) -> Vec<Part<'_>> {
    let shapes: Vec<String> = words.iter().map(|words| shape(words)).collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let found = (1..=LONGEST).find_map(|round| {
            let rounds = 1 + equal(&shapes[at..], round) / round;
            (rounds >= FEWEST).then_some((round, rounds))
        });
        let Some((round, rounds)) = found else {
            parts.push(Part::Shown(&words[at]));
            at += 1;
            continue;
        };
        let (first, last) = (at + round, at + (rounds - 1) * round);
        parts.extend(words[at..first].iter().map(|one| Part::Shown(one)));
        parts.push(Part::Folded { rounds: rounds - 2, paragraphs: &words[first..last] });
        parts.extend(words[last..last + round].iter().map(|one| Part::Shown(one)));
        at = last + round;
    }
    parts
}

/// Returns the number of shapes that are equal to those one round later.
fn equal(shapes: &[String], round: usize) -> usize {
    let later = shapes.iter().skip(round);
    shapes.iter().zip(later).take_while(|(one, other)| one == other).count()
}

/// Returns a paragraph without the digits of its numbers.
fn shape(paragraph: &str) -> String {
    let mut shape = String::with_capacity(paragraph.len());
    let mut is_number = false;
    for character in paragraph.chars() {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            shape.push(character);
        } else if !is_number {
            shape.push('#');
        }
        is_number = is_digit;
    }
    shape
}

/// Returns the class of a paragraph: each two blanks at its beginning are a supposition.
fn depth(paragraph: &str) -> &'static str {
    const DEPTHS: [&str; 9] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"];
    let blanks = paragraph.len() - paragraph.trim_start_matches(' ').len();
    DEPTHS[(blanks / 2).min(DEPTHS.len() - 1)]
}
