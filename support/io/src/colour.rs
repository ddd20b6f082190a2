//! Colours of verdicts, on a terminal.
//!
//! Reports are plain text. When text is printed, the verdict of a headline (`NAME: VERDICT`, in the
//! first column) is coloured if standard output is a terminal with colours; `NO_COLOR` and
//! `CLICOLOR_FORCE` are respected (<https://no-color.org>, <https://bixense.com/clicolors>).

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const OPEN: Style = AnsiColor::Yellow.on_default().bold();

/// Words at the beginning of verdicts in headlines; if two fit, the first counts.
const VERDICTS: [(&str, Style); 13] = [
    ("verified", GOOD),
    ("linearizable", GOOD),
    ("set-linearizable", GOOD),
    ("not linearizable", BAD),
    ("not set-linearizable", BAD),
    ("violation", BAD),
    ("faulty", BAD),
    ("the program goes wrong", BAD),
    ("unknown", OPEN),
    ("not explored to the end", OPEN),
    ("no violation found, but no proof", OPEN),
    ("no violation", OPEN),
    ("no proof", OPEN),
];

/// Colours the text, if standard output shows colours.
pub(crate) fn for_stdout(text: Cow<'_, str>) -> Cow<'_, str> {
    let choice = AutoStream::choice(&io::stdout());
    if choice == ColorChoice::Never { text } else { painted(&text).into() }
}

/// Colours the verdicts of a text.
fn painted(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match verdict(line) {
            Some((Range { start, end }, style)) => {
                let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
                format!("{before}{style}{word}{style:#}{after}")
            }
            None => line.to_owned(),
        })
        .collect()
}

/// Returns the range of the verdict of a headline.
fn verdict(line: &str) -> Option<(Range<usize>, Style)> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    line.match_indices(": ").find_map(|(colon, between)| {
        let begin = colon + between.len();
        let rest = &line[begin..];
        let is_word = |word: &str| {
            rest.strip_prefix(word)
                .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        };
        let (word, style) = VERDICTS.into_iter().find(|(word, _)| is_word(word))?;
        Some((begin..begin + word.len(), style))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_headlines_have_colours() {
        for (line, expected) in [
            ("a.txt: violation (5 operations)\n", "a.txt: <violation> (5 operations)\n"),
            ("bowman, n = 3: verified\n", "bowman, n = 3: <verified>\n"),
            ("x: not linearizable (3)", "x: <not linearizable> (3)"),
            ("a: b: linearizable (1)\n", "a: b: <linearizable> (1)\n"),
            ("bowman, n = 2: faulty\n", "bowman, n = 2: <faulty>\n"),
            (
                "x, pair (0,1): the program goes wrong\n",
                "x, pair (0,1): <the program goes wrong>\n",
            ),
            (
                "x, n = 2: no violation found, but no proof: it looks\n",
                "x, n = 2: <no violation found, but no proof>: it looks\n",
            ),
            (
                "x, pair (0,1): no violation with 2 operations\n",
                "x, pair (0,1): <no violation> with 2 operations\n",
            ),
            ("x, n = 2: unknown, interrupted\n", "x, n = 2: <unknown>, interrupted\n"),
            (
                "  not linearizable from 3:1: violation\n",
                "  not linearizable from 3:1: violation\n",
            ),
            ("x: verified-looking\n", "x: verified-looking\n"),
            ("violation\n", "violation\n"),
            ("", ""),
        ] {
            let plain = painted(line);
            let marked = plain.replace("\u{1b}[0m", ">");
            let marked = [GOOD, BAD, OPEN]
                .iter()
                .fold(marked, |text, style| text.replace(&style.render().to_string(), "<"));
            assert_eq!(marked, expected);
        }
    }
}
