//! Colours of verdicts, on a terminal.
//!
//! Reports are plain text. In what is printed for people, the verdict of a headline
//! (`NAME: VERDICT`, in the first column) has a colour where standard output is a
//! terminal that knows colours; `NO_COLOR` and `CLICOLOR_FORCE` are heeded
//! (<https://no-color.org>, <https://bixense.com/clicolors>).

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const OPEN: Style = AnsiColor::Yellow.on_default().bold();

/// The verdicts of both programs; no verdict is the beginning of a later one.
const VERDICTS: [(&str, Style); 11] = [
    ("verified", GOOD),
    ("linearizable", GOOD),
    ("set-linearizable", GOOD),
    ("not linearizable", BAD),
    ("not set-linearizable", BAD),
    ("violation", BAD),
    ("fault", BAD),
    ("unknown", OPEN),
    ("undecided", OPEN),
    ("no proof", OPEN),
    ("refused", OPEN),
];

/// The text with colours, if standard output shows them.
pub(crate) fn for_stdout(text: String) -> String {
    let choice = AutoStream::choice(&io::stdout());
    if choice == ColorChoice::Never { text } else { painted(&text) }
}

/// The text with its verdicts in colour.
fn painted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let written = match verdict(line) {
            Some((begin, end, style)) => write!(
                out,
                "{}{style}{}{style:#}{}",
                &line[..begin],
                &line[begin..end],
                &line[end..]
            ),
            None => out.write_all(line.as_bytes()),
        };
        debug_assert!(written.is_ok(), "memory takes all");
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Where the verdict of a headline stands.
fn verdict(line: &str) -> Option<(usize, usize, Style)> {
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
        Some((begin, begin + word.len(), style))
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
