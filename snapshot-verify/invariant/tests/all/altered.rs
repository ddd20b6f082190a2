//! Certificates that have been altered are refused, and no text does harm.

use sha2::{Digest, Sha256};
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::{Budget, check};
use snapshot_language::program::Program;

use crate::accepted::{SPARE, spare_parts};
use crate::programs::{certificate, checked, of_corpus, parsed, parts, refused, small};

fn locked() -> (Program, String) {
    let program = small("locked");
    let parts = parts(&program, &["scans.observer"]);
    let (text, _) = certificate(&program, &parts, InjectedFault::default()).unwrap();
    (program, text)
}

/// Returns the lines with their hash at the end.
pub fn sealed(lines: &[String]) -> String {
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let hash = Sha256::new_with_prefix(&text).finalize();
    let seal: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    text.push_str(&format!("end {seal}\n"));
    text
}

pub fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

/// Returns the text without one view of a section.
pub fn without(text: &str, number: usize) -> Option<String> {
    let mut lines = lines(text);
    let (heads, mut seen) = (views(&lines), 0);
    for (head, count) in heads {
        if number < seen + count {
            let at = head + 1 + number - seen;
            let before =
                lines[head + 1..at].iter().fold(Vec::new(), |row, line| row_of(&row, line));
            let left_out = row_of(&before, &lines[at]);
            lines[head] = format!("views {}", count - 1);
            // The next line is relative to the line that is left out.
            if number + 1 < seen + count {
                let next = row_of(&left_out, &lines[at + 1]);
                lines[at + 1] = line_of(&next);
            }
            lines.remove(at);
            return Some(sealed(&lines));
        }
        seen += count;
    }
    None
}

pub fn views(lines: &[String]) -> Vec<(usize, usize)> {
    let head =
        |(at, line): (usize, &String)| Some((at, line.strip_prefix("views ")?.parse().ok()?));
    lines.iter().enumerate().filter_map(head).collect()
}

/// Returns the characters of a line's row; before the first, all are `!`.
pub fn row_of(before: &[u8], line: &str) -> Vec<u8> {
    let words: Vec<&str> = line.split(' ').collect();
    let (left, right) = (words[0].parse::<usize>().unwrap(), words[1].parse::<usize>().unwrap());
    let between = words[2].as_bytes();
    assert!(!between.contains(&b'~'), "one character each");
    let blank;
    let before = match before {
        [] => {
            blank = vec![b'!'; left + between.len() + right];
            &blank
        }
        before => before,
    };
    [&before[..left], between, &before[before.len() - right..]].concat()
}

pub fn line_of(row: &[u8]) -> String {
    format!("0 0 {}", std::str::from_utf8(row).unwrap())
}

#[test]
fn missing_view_is_refused() {
    let (program, text) = locked();
    let count: usize = views(&lines(&text)).iter().map(|(_, count)| count).sum();
    for number in (0..12).map(|at| at * (count - 1) / 11) {
        let text = without(&text, number).unwrap();
        let refusal = refused(&program, text.as_bytes());
        let is_right = matches!(refusal, Refusal::Escape { .. } | Refusal::Initial(_));
        assert!(is_right, "{number}: {refusal}");
    }
}

#[test]
fn changed_byte_under_the_old_seal_is_refused() {
    let (program, text) = locked();
    for at in (0..12).map(|at| at * (text.len() - 2) / 11) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        match checked(&program, &bytes) {
            Answer::Refused(_) | Answer::Foreign => {}
            answer => panic!("{at}: {answer:?}"),
        }
    }
}

#[test]
fn truncated_and_extended_certificates_are_refused() {
    let (program, text) = locked();
    for at in (0..40).map(|at| at * (text.len() - 1) / 39) {
        assert!(!matches!(checked(&program, &text.as_bytes()[..at]), Answer::Accepted(_)));
    }
    assert!(!matches!(checked(&program, format!("{text}more").as_bytes()), Answer::Accepted(_)));
}

#[test]
fn certificate_of_another_text_or_variant_is_refused() {
    let (_, text) = locked();
    let refusal = refused(&small("versioned"), text.as_bytes());
    assert!(refusal.to_string().contains("it is for the algorithm locked"), "{refusal}");
    let bowman = of_corpus("bowman", None);
    let (text, _) =
        certificate(&bowman, &parts(&bowman, &["scans.observer"]), InjectedFault::default())
            .unwrap();
    let wrong = of_corpus("bowman", Some("early_exit"));
    assert!(refused(&wrong, text.as_bytes()).to_string().contains("the bug none"));
    // As if it belonged to the variant.
    let mut forged = lines(&text);
    forged[2] = "bug early_exit".to_owned();
    let refusal = refused(&wrong, sealed(&forged).as_bytes());
    assert!(matches!(refusal, Refusal::Escape { .. } | Refusal::Failure { .. }), "{refusal}");
}

#[test]
fn incomplete_proof_is_refused() {
    let afek = of_corpus("afek_unbounded", None);
    for rungs in [vec!["calls.nesting"], vec!["calls.memory-i"], vec![]] {
        let parts = parts(&afek, &rungs);
        let (text, _) = certificate(&afek, &parts, InjectedFault::default()).unwrap();
        let refusal = refused(&afek, text.as_bytes());
        assert!(matches!(refusal, Refusal::Missing(_)), "{rungs:?}: {refusal}");
    }
    // Updates take effect in one place for the scans of i, in another for the scans of j.
    let versioned = parsed(
        &corpus::small("versioned").replacen(
            "r[me] := (v, fresh)",
            "s := fresh; r[me] := (v, s); r[me] := (v, s)",
            1,
        ),
        None,
    );
    let mut both = parts(&versioned, &["scans.memory-i", "scans.memory-j"]);
    both[1].point = Some(1);
    let planted = InjectedFault { no_failures: true, ..InjectedFault::default() };
    let (text, _) = certificate(&versioned, &both, planted).unwrap();
    let refusal = refused(&versioned, text.as_bytes());
    assert!(matches!(refusal, Refusal::Points(_)), "{refusal}");
    let parts = parts(&afek, &["calls.nesting", "calls.memory-i"]);
    let (text, _) = certificate(&afek, &parts, InjectedFault::default()).unwrap();
    let lines = lines(&text.replace("obligation calls.memory-i", "obligation scans.memory-i"));
    let refusal = refused(&afek, sealed(&lines).as_bytes());
    assert!(matches!(refusal, Refusal::Guesses(..)), "{refusal}");
}

/// One line replaced by an attacker's text, with a valid seal.
#[test]
fn hostile_lines_are_refused() {
    let (program, text) = locked();
    let lines = lines(&text);
    let head = views(&lines)[0].0;
    let words = [
        "obligations 18446744073709551615",
        "kept 18446744073709551615",
        "forgotten 99999999",
        "views 18446744073709551615",
        "18446744073709551615 18446744073709551615 !",
        "0 0 ~",
        "0 0 ~zz",
        "0 0 ",
        "",
        "point 4000000000",
        "99 0 0",
        "0 99 0",
        "0 0 99",
        "obligation calls.memory-t",
        "\u{0}\u{7f}",
    ];
    for at in [4, 5, 6, 7, 8, head - 1, head, head + 1, head + 2] {
        for word in words {
            let mut lines = lines.clone();
            lines[at] = word.to_owned();
            let answer = checked(&program, sealed(&lines).as_bytes());
            assert!(matches!(answer, Answer::Refused(_)), "line {at}, {word:?}: {answer:?}");
        }
    }
}

/// Groups of merged calls are disjoint: a process would return to the calls of one group only.
#[test]
fn merged_calls_belong_to_one_group() {
    let text = "
algorithm thrice
shared a[segment]: value
update(v):
    pass()
    pass()
    pass()
    a[me] := v
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
procedure pass():
    x := a[me]
";
    let program = parsed(text, None);
    let planted = InjectedFault { no_failures: true, ..InjectedFault::default() };
    let (text, _) = certificate(&program, &parts(&program, &["scans.observer"]), planted).unwrap();
    let update = program.update().0;
    for (groups, fits) in [(["0 1 2", ""], true), (["0 1", "1 2"], false), (["0 0", ""], true)] {
        let mut lines = lines(&text);
        let at = lines.iter().position(|line| line == "calls 0").unwrap();
        let groups = groups.iter().filter(|group| !group.is_empty());
        let groups: Vec<String> = groups.map(|group| format!("{update} {group}")).collect();
        lines[at] = format!("calls {}", groups.len());
        lines.splice(at + 1..at + 1, groups);
        let refusal = refused(&program, sealed(&lines).as_bytes()).to_string();
        assert_eq!(!refusal.contains("calls of one procedure"), fits, "{refusal}");
    }
}

/// Each byte of a view is changed to any value: listed views that no state has may be refused or
/// accepted, but the missing view is noticed, and no rule panics.
#[test]
fn changed_views_are_refused() {
    let (program, text) = locked();
    let all = lines(&text);
    let (head, count) = views(&all)[0];
    let mut row = Vec::new();
    let mut changed = 0;
    for (number, line) in all[head + 1..head + 1 + count].iter().enumerate().take(60) {
        row = row_of(&row, line);
        let at = number * 7 % row.len();
        for byte in [b'!', b'"', b'$', b'&', b'-', b'a', b'}'] {
            let mut lines = all.clone();
            let mut other = row.clone();
            other[at] = byte;
            if other == row || number % 4 != usize::from(byte) % 4 {
                continue;
            }
            lines[head + 1 + number] = line_of(&other);
            if let Some(next) = all.get(head + 2 + number).filter(|_| number + 1 < count) {
                lines[head + 2 + number] = line_of(&row_of(&row, next));
            }
            let answer = checked(&program, sealed(&lines).as_bytes());
            assert!(matches!(answer, Answer::Refused(_)), "{number}, {at}, {byte}: {answer:?}");
            changed += 1;
        }
    }
    assert!(changed > 30, "{changed}");
}

/// A byte of each column of a view is replaced by a number that is a value of no type: the line is
/// refused as it is read, before a rule meets that byte.
#[test]
fn bytes_of_no_type_are_refused() {
    let mut refused_bytes = 0;
    let (locked, spare) = (locked(), parsed(SPARE, None));
    let (text, _) = certificate(&spare, &spare_parts(&spare), InjectedFault::default()).unwrap();
    for (program, text) in [locked, (spare, text)] {
        let all = lines(&text);
        for (head, count) in views(&all) {
            let row = row_of(&[], &all[head + 1]);
            for at in (0..row.len()).filter(|_| count > 0) {
                let [before, after] =
                    [&row[..at], &row[at + 1..]].map(|part| std::str::from_utf8(part).unwrap());
                let mut lines = all.clone();
                lines[head + 1] = format!("0 0 {before}~f0{after}");
                let refusal = refused(&program, sealed(&lines).as_bytes()).to_string();
                let expected = format!("line {}: expected a view, as it is written", head + 2);
                assert!(refusal.contains(&expected), "{at}: {refusal}");
                refused_bytes += 1;
            }
        }
    }
    assert!(refused_bytes > 100, "{refused_bytes}");
}

#[test]
fn exhausted_memory_and_time_give_unknown() {
    let (program, text) = locked();
    let mut proceed = || true;
    let mut budget = Budget { memory: 10_000, proceed: &mut proceed };
    let answer = check(&program, "digest", &mut text.as_bytes(), &mut budget).unwrap();
    assert!(matches!(answer, Answer::Unknown(unfinished) if unfinished.name() == "memory"));
    let mut proceed = || false;
    let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
    let answer = check(&program, "digest", &mut text.as_bytes(), &mut budget).unwrap();
    assert!(matches!(answer, Answer::Unknown(unfinished) if unfinished.name() == "time"));
}

/// A scan may take a view from elsewhere only if nesting has been shown before.
#[test]
fn borrowed_views_without_nesting_are_refused() {
    let spare = parsed(SPARE, None);
    let (text, _) = certificate(&spare, &spare_parts(&spare), InjectedFault::default()).unwrap();
    let mut all = lines(&text);
    let heads: Vec<usize> =
        (0..all.len()).filter(|at| all[*at].starts_with("obligation ")).collect();
    let [nesting, observer] = heads[..] else { panic!("{heads:?}") };
    let swapped = [&all[..nesting], &all[observer..], &all[nesting..observer]].concat();
    all.drain(nesting..observer);
    all[nesting - 1] = "obligations 1".to_owned();
    for altered in [all, swapped] {
        let refusal = refused(&spare, sealed(&altered).as_bytes());
        assert!(matches!(refusal, Refusal::Failure { .. }), "{refusal}");
    }
}

/// A view may show a scan that returns from no round of a loop, though the loop has one.
#[test]
fn scans_that_return_nothing_are_refused() {
    let text = "
algorithm falls
shared a[segment]: value
update(v):
    a[me] := v
scan:
    local copy[segment]: value
    for k in 0..n-1:
        atomic:
            for s in segments: copy[s] := a[s]
        return copy
";
    let program = parsed(text, None);
    let head = "snapshot-certificate 9 every\nalgorithm falls\nbug -\ntext digest\nrewritten 0\nobligations 1\n\
                obligation scans.observer\nnames 0\nclocks 0\nwindows 0\npoint -\nkept 2\na[i]\na[j]\nlate 0\nloose 0\n\
                alike 1\nlost 0\ncalls 0\ndecided 0\nclasses 0\nforgotten 0\nunlinked 0\n";
    let views = "views 1\n1 42 ##\n".repeat(3);
    let lines: Vec<String> = (head.to_owned() + &views).lines().map(str::to_owned).collect();
    let refusal = refused(&program, sealed(&lines).as_bytes());
    assert!(matches!(refusal, Refusal::Failure { .. }), "{refusal}");
}
