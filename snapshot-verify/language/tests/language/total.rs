//! The front end returns a result for any text, and soon.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use snapshot_language::parse;
use snapshot_language::program::independence;

use crate::texts::texts;

/// Runs a text through all stages, and checks every answer.
fn exercise(text: &str) {
    let algorithm = match parse("any.snapshot", text) {
        Ok(algorithm) => algorithm,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    for variant in std::iter::once(None).chain(bugs) {
        let is_right = algorithm.program_with_points(variant).is_ok();
        assert_eq!(algorithm.program(variant).is_ok(), is_right, "marks are checked in any case");
        match algorithm.program(variant) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(program) => {
                assert!(!program.to_string().is_empty());
                if let Err(dependences) = independence::check(&program) {
                    assert!(!algorithm.refusal(&dependences).to_string().is_empty());
                }
            }
        }
    }
}

/// Texts to tear apart.
fn samples() -> Vec<String> {
    let directories = [
        "right",
        "errors",
        "../../../../corpus/algorithms",
        "../../../../corpus/objects",
        "../../../../corpus/strong",
    ];
    directories.into_iter().flat_map(texts).map(|(_, text)| text).collect()
}

/// Cuts a text where a symbol may begin.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut last = ' ';
    for (at, symbol) in text.char_indices() {
        if symbol.is_alphanumeric() != last.is_alphanumeric() || !symbol.is_alphanumeric() {
            pieces.push(&text[begin..at]);
            begin = at;
        }
        last = symbol;
    }
    pieces.push(&text[begin..]);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_characters(text in "\\PC{0,200}") {
        exercise(&text);
    }

    #[test]
    fn any_symbols(symbols in proptest::collection::vec(prop::sample::select(vec![
        "algorithm", "source", "type", "shared", "private", "procedure", "update", "scan", "bug",
        "expect", "x", "y", "v", "n", "me", "none", "if", "else", "then", "for", "in", "except",
        "repeat", "until", "while", "loop", "exit", "return", "atomic", "skip", "local", "all",
        "any", "not", "and", "or", "mod", "with", "fresh", "initial", "LL", "SC", "VL", "CAS",
        "value", "process", "segment", "processes", "segments", "view", "record", "array", "of",
        "replace", "by", "delete", "insert", "before", "after", "shared", "pair", "full",
        "(", ")", "[", "]", ":", ":=", ";", ",", ".", "..", "=", "!=", "<", "+", "-", "*", "_",
        "0", "1", "7", "\"s\"", "`x`", "`", "\"", "\n", "\n    ", "\n        ", "\n  ", "\t", "#",
    ]), 0..60)) {
        exercise(&symbols.join(" "));
    }

    #[test]
    fn torn_texts(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_usize), 1..4),
    ) {
        let samples = samples();
        let sample = which.get(&samples);
        let mut pieces = pieces(sample);
        for (at, from, how) in edits {
            let (at, from) = (at.index(pieces.len()), from.index(pieces.len()));
            match how {
                0 => {
                    pieces.remove(at);
                    if pieces.is_empty() {
                        break;
                    }
                }
                1 => pieces.insert(at, pieces[from]),
                2 => pieces.swap(at, from),
                _ => pieces[at] = pieces[from],
            }
        }
        exercise(&pieces.concat());
    }
}

/// Texts of the greatest length that try to be slow or deep.
#[test]
fn hostile_texts_are_parsed_in_time() {
    const LENGTH: usize = 1 << 17;
    let head = "algorithm h\nshared a[segment]: value\nupdate(v):\n    a[me] := v\nscan:\n";
    let fill = |begin: &str, each: &str, end: &str| {
        let count = (LENGTH - begin.len() - end.len()) / each.len();
        format!("{begin}{}{end}", each.repeat(count))
    };
    let numbered = |begin: &str, each: &dyn Fn(usize) -> String| {
        let mut text = begin.to_owned();
        for number in 0.. {
            let next = each(number);
            if text.len() + next.len() > LENGTH {
                return text;
            }
            text += &next;
        }
        text
    };
    let deep: String = (0..500).map(|depth| " ".repeat(depth) + "if true:\n").collect();
    let texts = [
        fill(head, "(", ""),
        fill(head, "    x := ((((\n", ""),
        fill("", "(\n ", ""),
        fill(head, "\n    if a: ", ""),
        fill(head, " if true: ", ""),
        fill(head, "[", ""),
        fill(&format!("{head}    x := "), "1 + ", "1"),
        fill(&format!("{head}    x := "), "not ", "x"),
        fill(&format!("{head}    x := x"), "[0]", ""),
        fill(&format!("{head}    x := x"), ".f", ""),
        fill(&format!("{head}    x := f("), "1, ", "1)"),
        fill("algorithm h\nshared x: ", "array [process] of ", "value\n"),
        fill("algorithm h\nshared x", "[process]", ": value\n"),
        fill("", "\"", ""),
        fill("", "`", ""),
        fill("", "@", ""),
        fill("", "\u{2260}", ""),
        fill("", "x\n", ""),
        fill("", "x", ""),
        fill(head, &format!("    {} := y\n", "z".repeat(300)), ""),
        fill("algorithm h\n", "expect n = 3: violation\n", ""),
        fill("algorithm h\n", "bug b \"\": in scan, delete `x`\n", ""),
        fill(&format!("{head}    bug\nbug b \"\": in scan, replace `x` by `"), "x ", "`\n"),
        fill(&format!("{head}    x := 0\nbug b \"\": in scan, replace `"), "x ", "` by `x`\n"),
        head.to_owned() + &deep,
        numbered(head, &|number| format!("    x{number} := me\n")),
        numbered(head, &|number| format!("    x{number} := y{number}\n")),
        numbered("algorithm h\n", &|number| format!("type t{number} = t{}\n", number + 1)),
        numbered("algorithm h\n", &|number| {
            format!("type t{} = record (a: t{number}, b: t{number})\n", number + 1)
        }),
        numbered("algorithm h\n", &|number| {
            format!("procedure p{number}():\n    p{}()\n", number + 1)
        }),
        numbered("algorithm h\n", &|number| {
            format!("procedure p{}():\n    p{number}(); p{number}()\n", number + 1)
        }),
        numbered(head, &|number| {
            if number == 0 {
                "    if true: skip\n".to_owned()
            } else {
                "    else if true: skip\n".to_owned()
            }
        }),
        numbered(head, &|number| format!("    x{number} := if me = me then me else me\n")),
    ];
    let begin = Instant::now();
    for (number, text) in texts.iter().enumerate() {
        let one = Instant::now();
        exercise(text);
        assert!(one.elapsed() < Duration::from_secs(10), "text {number}: {:?}", one.elapsed());
    }
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}
