//! Right programs written for the purpose, none of which a prover was fitted to, each with wrong
//! twins: which are proved for every n, how, and with how many views.
//!
//! The texts are in `tests/every-n`. The table is what a proof finds today; where it finds none, the reason is in
//! [`TABLE`], too.

mod rewriting;

use snapshot_verify::language::{Algorithm, parse};
use snapshot_verify::program::Program;
use snapshot_verify::verify::every::{EveryNAnswer, Rungs, every_by};
use snapshot_verify::verify::{Operations, Request, Unwatched, verify};
use test_support::effort::either;

/// How a program is proved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum By {
    /// With hints, at this rung, with so many views in the certificate.
    Rung(&'static str, u64),
    /// Without hints, with so many views.
    Closed(u64),
    /// It is not; what is said to be not modelled, if it is known.
    None(&'static str),
}

use By::{Closed, None, Rung};

/// A text, what is rewritten in it, and how it is proved.
type Row = (&'static str, &'static str, &'static [&'static str], By);

macro_rules! row {
    ($name:literal, $changes:expr, $by:expr) => {
        ($name, include_str!(concat!("../../every-n/", $name, ".snapshot")), $changes, $by)
    };
}

/// All texts.
const TABLE: &[Row] = &[
    row!("afek_counters", &["stamp r.seq"], Rung("scans.observer", 6_466)),
    row!("collect_again", &["stamp r.seq"], Rung("scans.observer", 1_965)),
    row!("collect_compared", &["stamp r.seq"], Rung("scans.observer", 2_861)),
    row!("collect_counters", &["stamp seq"], Rung("scans.observer", 2_107)),
    row!("collect_global", &["stamp c"], Rung("scans.observer", 1_840)),
    row!("collect_links", &["stamp c"], Rung("scans.observer", 9_793)),
    row!("copied", &["owner locked"], Closed(2_453)),
    row!("helped_round", &["owner locked"], None("")),
    row!("lock_array", &[], None("remainders of counters")),
    row!("lock_cas", &["owner locked"], Rung("scans.observer", 2_784)),
    row!("lock_each", &["owner locked"], Rung("scans.observer", 9_286)),
    row!("lock_links", &["owner locked"], Rung("scans.observer", 8_845)),
    row!("lock_name", &[], Rung("scans.observer", 2_784)),
    row!("lock_swap", &["owner locked"], Rung("scans.observer", 7_029)),
    row!("lock_tas", &["owner locked"], Rung("scans.observer", 2_784)),
    row!("lock_ticket", &[], None("counters that are more than versions")),
    row!("one_view", &[], Closed(56)),
    row!("one_word", &[], Closed(5_469)),
    row!("published_tas", &["owner locked"], Rung("rounds.observer", 2_787)),
    row!("seqlock", &["stamp seq"], Rung("scans.observer", 26_130)),
    row!("seqlock_parity", &[], Closed(20_082)),
    row!("single_scanner", &[], Closed(77_705)),
    row!("turn", &[], Rung("scans.observer", 2_845)),
    row!("turn_links", &[], Rung("scans.observer", 11_238)),
    row!("two_phase", &["owner writing"], Closed(80_830)),
];

fn algorithm(name: &str, text: &str) -> Algorithm {
    parse(name, text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The answer for every n, without a search for a violation.
fn proved(program: &Program) -> EveryNAnswer {
    let request = Request { memory: 1 << 30, ..Request::new(2) };
    every_by(program, &request, &Rungs::default(), false, &Unwatched::default()).unwrap()
}

/// The verdicts of all pairs for a definite n.
fn searched(program: &Program, processes: usize, operations: Operations) -> Vec<&'static str> {
    let request = Request { operations, memory: 1 << 30, ..Request::new(processes) };
    let outcomes = verify(program, true, &request, &Unwatched::default()).unwrap();
    outcomes.iter().map(|outcome| outcome.verdict.name()).collect()
}

/// How a program is proved, as the table says it.
fn how(every: &EveryNAnswer) -> (Vec<String>, String) {
    let changes = every.rewritten.iter().map(ToString::to_string).collect();
    let found = match (every.verdict(), &every.proof) {
        ("verified", Some(proof)) => match (proof.is_hinted, every.answer.parts.last()) {
            (false, _) => format!("{:?}", Closed(proof.views())),
            (true, Some(part)) => format!("rung {} {}", part.obligation.name(), proof.views()),
            (true, Option::None) => panic!("a proof by nothing"),
        },
        ("unknown", Option::None) => {
            let all = every.unmodelled.iter().map(|one| one.construct);
            format!("none {}", all.collect::<Vec<_>>().join(", "))
        }
        (verdict, _) => panic!("{verdict}"),
    };
    (changes, found)
}

/// A row of the table is as it is found.
fn check_row(row: &Row) {
    let (name, text, changes, by) = row;
    let program = algorithm(name, text).program(Option::None).unwrap();
    let (found_changes, found) = how(&proved(&program));
    let expected = match by {
        Rung(rung, views) => format!("rung {rung} {views}"),
        Closed(views) => format!("{:?}", Closed(*views)),
        None(construct) => {
            assert!(found.starts_with("none") && found.contains(construct), "{name}: {found}");
            found.clone()
        }
    };
    assert_eq!(
        (found_changes.as_slice(), found),
        (changes.map_owned().as_slice(), expected),
        "{name}"
    );
}

/// Words as texts of their own.
trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|one| (*one).to_owned()).collect()
    }
}

/// Those that take a second or more.
const LARGE: [&str; 6] =
    ["two_phase", "helped_round", "seqlock", "copied", "seqlock_parity", "single_scanner"];

#[test]
fn small_programs_agree_with_the_table() {
    let (_, small): (Vec<_>, Vec<_>) = TABLE.iter().partition(|(name, ..)| LARGE.contains(name));
    let each = either(5, 1);
    small
        .iter()
        .enumerate()
        .filter(|(number, _)| number % each == 1 % each)
        .for_each(|(_, row)| check_row(row));
}

#[test]
fn all_programs_agree_with_the_table() {
    if test_support::effort::is_slow() {
        TABLE.iter().for_each(check_row);
    }
    let proved = TABLE.iter().filter(|(.., by)| !matches!(by, None(_))).count();
    assert!(TABLE.len() >= 22 && proved >= 20, "{proved} of {}", TABLE.len());
}

/// Each is right for two processes, and in the slow suite for three, as far as two operations go;
/// each of its wrong twins is wrong for two or three, and never proved.
#[test]
fn twins_are_wrong_and_not_proved() {
    let each = either(8, 1);
    for (name, text, ..) in TABLE.iter().step_by(each) {
        let algorithm = algorithm(name, text);
        let right = algorithm.program(Option::None).unwrap();
        for processes in 2..=either(2, 3) {
            let operations = if processes == 2 { 3 } else { 2 };
            let found = searched(&right, processes, Operations::AtMost(operations));
            assert!(found.iter().all(|verdict| *verdict == "verified"), "{name}: {found:?}");
        }
        assert!(!algorithm.bugs().is_empty(), "{name}");
        for bug in algorithm.bugs() {
            let bug = bug.name.text.as_str();
            let wrong = algorithm.program(Some(bug)).unwrap();
            assert_ne!(proved(&wrong).verdict(), "verified", "{name} {bug}");
            let is_wrong = (2..=3).any(|processes| {
                let found = searched(&wrong, processes, Operations::AtMost(3));
                found.iter().any(|verdict| ["violation", "fault"].contains(verdict))
            });
            assert!(is_wrong, "{name} {bug}");
        }
    }
}
