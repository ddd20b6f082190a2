//! `linearizes` applies with `--points` only: in every other answer a text with marks equals the
//! text without them, for any conditions, even undefined ones or ones that look at values.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_verify::certificate::{Answer, Budget, Claim, Coverage, check, digest, write};
use snapshot_verify::enumerate::enumerate;
use snapshot_verify::interpret::{Client, Machine, Values, walk};
use snapshot_verify::language::{Algorithm, parse};
use snapshot_verify::program::linearization::has_points;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::refine::Techniques;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::{Method, Operations, Request, Unwatched, Verdict, verify};
use test_support::effort::either;

/// `bad` is always none.
const DECLARED: &str = "private bad: 0..3 or none\n";

const CONDITIONS: [&str; 6] = [
    "bad < 1",
    "bad = none",
    "all q in processes: q < bad",
    "me = 0 and bad != none",
    "initial = initial",
    "number(initial) = bad",
];

/// Returns a random program with `bad`, without marks and with marks behind some of its statements.
fn texts(seed: u64) -> [String; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let text = match seed % 3 {
        0 => corpus::program::text(seed),
        1 => corpus::program::exchanging(seed),
        _ => corpus::program::keeping(seed),
    };
    let (name, rest) = text.split_once('\n').unwrap();
    let plain = format!("{name}\n{DECLARED}{rest}");
    let mut marked: Vec<String> = plain.lines().map(str::to_owned).collect();
    for _ in 0..12 {
        let at = random.next_u32() as usize % marked.len();
        let condition = CONDITIONS[random.next_u32() as usize % CONDITIONS.len()];
        let mark = match random.next_u32().is_multiple_of(4) {
            true => " linearizes".to_owned(),
            false => format!(" linearizes if {condition}"),
        };
        let before = marked[at].clone();
        marked[at] += &mark;
        let is_right = !before.contains("linearizes")
            && parse("marked", &marked.join("\n")).is_ok_and(|text| text.program(None).is_ok());
        if !is_right {
            marked[at] = before;
        }
    }
    [plain, marked.join("\n") + "\n"]
}

fn read(text: &str) -> Algorithm {
    parse("marked", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[test]
fn marks_do_not_change_a_program_without_points() {
    let mut with_points = 0;
    for seed in 0..either(120, 2000) {
        let [plain, marked] = texts(seed).map(|text| read(&text));
        let [plain, without] = [&plain, &marked].map(|text| text.program(None).unwrap());
        assert_eq!(plain.to_string(), without.to_string(), "seed {seed}");
        assert_eq!(independence::check(&plain).is_ok(), independence::check(&without).is_ok());
        assert!(!has_points(&without), "seed {seed}");
        let marked = marked.program_with_points(None).unwrap();
        assert_eq!(has_points(&marked), plain.to_string() != marked.to_string(), "seed {seed}");
        with_points += u64::from(has_points(&marked));
    }
    assert!(with_points > either(30, 600), "{with_points}");
}

/// Returns each answer without points. `run` is the program that only the interpreter runs.
fn answers(program: &Program, run: &Program) -> Vec<String> {
    let few = Request { operations: Operations::AtMost(1), ..Request::new(2) };
    let by_refinement =
        Request { method: Method::Refinement(Techniques::default()), ..few.clone() };
    let requests = [
        few.clone(),
        Request { self_check: Some(SelfCheck::DEFAULT), ..few.clone() },
        by_refinement.clone(),
        Request { values: Some(2), ..by_refinement },
    ];
    let said = |verdict: &Verdict| match verdict {
        Verdict::Violation(found) => format!("violation: {:?}", found.moves()),
        Verdict::Fault(found) => format!("fault: {:?}", found.moves),
        other => format!("{other:?}"),
    };
    let mut answers: Vec<String> = Vec::new();
    for request in requests {
        let found = verify(program, true, &request, &Unwatched::default());
        let found = found.map_err(|wrong| answers.push(wrong.to_string())).unwrap_or_default();
        let found =
            found.iter().map(|one| format!("{} {}", said(&one.verdict), one.measures.states));
        answers.extend(found);
    }
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: None,
        digest: digest(""),
        processes: 2,
        operations: Some(1),
        coverage: Coverage::ALL[0],
        pairs: vec![[0, 1].map(Process::from_index)],
    };
    let (mut certificate, mut proceed) = (Vec::new(), || true);
    let mut budget = Budget { memory: 16 << 20, proceed: &mut proceed };
    let written = write(program, &claim, &mut certificate, &mut budget);
    answers.push(written.map_or_else(|wrong| wrong.to_string(), |_| "written".to_owned()));
    let checked = check(program, &claim.digest, &mut certificate.as_slice(), &mut budget).unwrap();
    answers.push(format!("{:?}", matches!(checked, Answer::Accepted(_))));
    let machine = Machine::new(run, 2).unwrap();
    let client = Client::bounded(Values::Simple(Process::from_index(0), Process::from_index(1)), 1);
    let all = enumerate(&machine, &client, 20_000);
    answers.push(all.map_or_else(|wrong| wrong.to_string(), |all| format!("{:?}", all.first)));
    for seed in 0..4 {
        let walk = walk(&machine, &client, seed, 60);
        answers.push(format!("{:?} {}", walk.moves, walk.faulty.is_some()));
    }
    answers
}

#[test]
fn only_answers_at_points_evaluate_marks() {
    let (mut right, mut wrong, mut tried) = (0, 0, 0);
    for seed in 0..either(16, 150) {
        let [plain, marked] = texts(seed).map(|text| read(&text));
        let with_points = marked.program_with_points(None).unwrap();
        if !has_points(&with_points) {
            continue;
        }
        let [plain, without] = [&plain, &marked].map(|text| text.program(None).unwrap());
        let expected = answers(&plain, &plain);
        assert_eq!(answers(&without, &with_points), expected, "seed {seed}");
        *if expected[0].starts_with("Verified") { &mut right } else { &mut wrong } += 1;
        tried += 1;
    }
    println!("{tried}: {right} right, {wrong} wrong");
    assert!(right > 1 && wrong > 0, "{right} right, {wrong} wrong");
}
