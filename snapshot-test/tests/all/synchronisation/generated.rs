//! Executions of objects that are generated: they have the answers that they are made for.

use std::collections::BTreeSet;
use std::path::Path;

use corpus::generate::RecipeError;
use snapshot_core::synchronisation::Violation as Found;
use snapshot_test::Value;
use snapshot_test::format::Format;
use snapshot_test::generate::{GenerateError, generate_object};
use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{
    ANY, Finding, Judgement, Object, ObjectRecipe, ObjectRecipeError, Violation, judge,
};

use crate::commands::{printed, refused};

fn declared(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/objects");
    corpus.join(format!("{name}.snapshot")).display().to_string()
}

fn objects() -> Vec<String> {
    let named = [
        "queue",
        "stack",
        "priority-queue",
        "register",
        "cas-register",
        "map",
        "lock",
        "set",
        "counter",
        "bounded-queue:2",
        "semaphore:2",
    ];
    let texts = ["array_queue", "linked_stack", "ticket_lock"].map(declared);
    named.map(str::to_owned).into_iter().chain(texts).collect()
}

fn recipe(object: &str, seed: u64) -> ObjectRecipe {
    let object: Object = object.parse().unwrap_or_else(|error| panic!("{error}"));
    ObjectRecipe::new(object, 3, 30, seed)
}

fn text(recipe: &ObjectRecipe) -> String {
    let made = generate_object(recipe, Format::Text, &[], Vec::new());
    String::from_utf8(made.unwrap_or_else(|error| panic!("{error}: {recipe:?}"))).unwrap()
}

fn judged(recipe: &ObjectRecipe) -> (Judgement, String) {
    let text = text(recipe);
    let judged = judge(&recipe.object, text.as_bytes(), None, None, &Options::default());
    let [judged] = judged.unwrap_or_else(|e| panic!("{}", e.report("r"))).try_into().unwrap();
    (judged, text)
}

#[test]
fn each_object_has_executions_with_the_answers_they_are_made_for() {
    let mut broken = BTreeSet::new();
    let (mut pending, mut failed, mut twins) = (0, 0, 0);
    for object in objects() {
        for seed in 0..12 {
            let mut recipe = recipe(&object, seed);
            (recipe.pending, recipe.failures) = (seed as usize % 3, [0.0, 0.2][seed as usize % 2]);
            recipe.values = (seed % 4 == 3).then_some(4);
            let (correct, text) = judged(&recipe);
            assert!(matches!(correct.finding, Finding::SetLinearizable(_)), "{recipe:?}\n{text}");
            assert!(correct.counts.operations >= 30, "{text}");
            (pending, failed) = (pending + correct.counts.pending, failed + correct.counts.failed);
            recipe.violation = Some(ANY.to_owned());
            let (wrong, bad) = judged(&recipe);
            let Finding::Violation(Violation::Found(found)) = &wrong.finding else {
                panic!("{:?} {recipe:?}\n{bad}", wrong.finding)
            };
            if let Found::Rule(proof) = found {
                broken.insert(proof.rule());
            }
            recipe.honest = true;
            let (twin, good) = judged(&recipe);
            assert!(matches!(twin.finding, Finding::SetLinearizable(_)), "{recipe:?}\n{good}");
            // The same events, a few of them in another order.
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&bad), sorted(&good));
            assert_ne!(bad, good);
            twins += 1;
        }
    }
    assert_eq!(twins, 14 * 12);
    assert!(pending > 60 && failed > 200, "{pending} pending, {failed} failed");
    let broken: Vec<&str> = broken.into_iter().collect();
    let expected = ["crossed", "interleaved", "not-empty", "overtaken", "reversed", "unfounded"];
    assert_eq!(broken, expected);
}

#[test]
fn rules_are_broken_on_demand_anywhere() {
    let mut places = Vec::new();
    for (object, rules) in [
        ("queue", &["overtaken", "not-empty", "unfounded"][..]),
        ("stack", &["crossed", "not-empty", "unfounded"]),
        ("priority-queue", &["not-least", "not-empty", "unfounded"]),
        ("register", &["interleaved", "reversed"]),
    ] {
        for rule in rules {
            for seed in 0..4 {
                let mut recipe = ObjectRecipe::new(object.parse().unwrap(), 4, 200, seed);
                recipe.violation = Some((*rule).to_owned());
                let (wrong, text) = judged(&recipe);
                let Finding::Violation(Violation::Found(Found::Rule(proof))) = &wrong.finding
                else {
                    panic!("{rule}: {:?}\n{text}", wrong.finding)
                };
                assert_eq!(proof.rule(), *rule, "{text}");
                places.push(100 * wrong.decided_at().unwrap() / text.lines().count() as u64);
            }
        }
    }
    let late = places.iter().filter(|place| **place >= 50).count();
    assert!(late * 4 > places.len() && late * 4 < 3 * places.len(), "{places:?}");
}

#[test]
fn operations_that_wait_end() {
    for object in ["lock", &declared("ticket_lock")] {
        let mut waited = 0;
        for seed in 0..10 {
            let text = text(&ObjectRecipe { processes: 5, ..recipe(object, seed) });
            // Two acquisitions are open together.
            let mut open = [false; 5];
            for line in text.lines().skip(1) {
                let process: usize = line[1..2].parse().unwrap();
                open[process] = line.contains("acquire");
                waited += usize::from(open.iter().filter(|open| **open).count() > 1);
            }
            assert!(!open.contains(&true), "{text}");
        }
        assert!(waited > 20, "{waited}");
    }
}

/// Clients keep the conditions of a declaration: who holds a permit releases it, and only then.
#[test]
fn clients_keep_the_conditions_of_a_declaration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("semaphore.snapshot");
    let text = "algorithm semaphore\n\nobject semaphore:\n    state holders[process]: bool\n    \
                state used: 0..2\n    acquire when not holders[me] await used < 2:\n        \
                used := used + 1\n        holders[me] := true\n    \
                release when holders[me]:\n        used := used - 1\n        \
                holders[me] := false\n\nacquire: skip\nrelease: skip\n";
    std::fs::write(&path, text).unwrap();
    let mut most = 0;
    for seed in 0..4 {
        let recipe = ObjectRecipe { processes: 4, ..recipe(&path.display().to_string(), seed) };
        let (judged, text) = judged(&recipe);
        assert!(matches!(judged.finding, Finding::SetLinearizable(_)), "{text}");
        let mut holds = [false; 4];
        for line in text.lines().skip(1).filter(|line| line.ends_with("re") || line.ends_with("se"))
        {
            let process: usize = line[1..2].parse().unwrap();
            assert_eq!(holds[process], line.ends_with("release"), "{text}");
            holds[process] = !holds[process];
            most = most.max(holds.iter().filter(|holds| **holds).count());
        }
    }
    assert!(most > 2, "some wait: {most}");
}

#[test]
fn initial_values_and_chosen_operations_are_used() {
    let object: Object = "register".parse().unwrap();
    let object = object.with_initial(Value::from("first")).unwrap();
    let register = text(&ObjectRecipe::new(object, 2, 40, 5));
    assert!(register.contains("ok \"first\"\n"), "{register}");
    let only = vec!["increment".to_owned(), "read".to_owned()];
    let counter = text(&ObjectRecipe { only, ..recipe("counter", 1) });
    assert!(counter.contains("increment") && !counter.contains("decrement"), "{counter}");
    let texts = printed("generate --object counter --only increment --operations 9");
    assert_eq!(texts.matches(" increment\np").count(), 9, "{texts}");
}

#[test]
fn the_recipe_in_the_comments_gives_the_same_bytes() {
    for options in [
        "--object queue",
        "--object lock --processes 7 --pending 3 --failures 0.25 --seed 9",
        "--object map --only get,put --style small-domain --values 3 --violation any",
        "--object register --initial 7 --violation interleaved --twin",
    ] {
        let text = printed(&format!("generate {options}"));
        let recipe = text.lines().find_map(|line| line.strip_prefix("# recipe: snapshot-test "));
        assert_eq!(printed(recipe.unwrap()), text, "{options}");
        let is_wrong = options.contains("any");
        let expected = if is_wrong { "# expect: violation\n" } else { "# expect: linearizable\n" };
        assert!(text.starts_with(expected), "{text}");
    }
    let text = printed("generate --object queue --operations 3 --processes 2 --seed 4 --to jsonl");
    let header = text.lines().next().unwrap();
    assert!(
        header.starts_with("{\"snapshot-history\":1,\"comment\":\"expect: linearizable; "),
        "{header}"
    );
    assert!(header.ends_with(",\"object\":\"queue\"}"), "{header}");
}

#[test]
fn impossible_recipes_are_refused_with_a_remedy() {
    let refusal =
        |recipe: &ObjectRecipe| match generate_object(recipe, Format::Text, &[], Vec::new()) {
            Err(GenerateError::Object(error)) => error,
            other => panic!("{other:?}"),
        };
    let none = ObjectRecipe { processes: 0, ..recipe("queue", 0) };
    assert!(matches!(
        refusal(&none),
        ObjectRecipeError::Recipe(RecipeError::BadSize { what: "processes", .. })
    ));
    for (options, message) in [
        ("--object channel", "the operations of `channel` take effect together, and generate"),
        ("--object queue --only pop", "`queue` has no operation `pop`: expected enqueue, dequeue"),
        ("--object queue --violation crossed", "found no few operations of `queue` that break the"),
        ("--object queue --to disc22", "disc22 knows snapshots only, found `object queue`"),
        ("--object queue --failures 2", "expected the share of failures to be a share, from 0"),
        ("--object queue --scans 0.1", "--scans works only with --object snapshot"),
        ("--object queue --initial 3", "`queue` has no initial value to choose"),
        ("--initial 3", "--initial works only with objects that have named operations"),
    ] {
        let report = refused(&format!("generate {options}"));
        assert!(report.starts_with(message), "{report}");
    }
    let report = refused("generate --object quue");
    assert!(report.contains("did you mean `queue`?"), "{report}");
    let report = refused("generate --object queue --violation crossed");
    assert!(report.contains("help: ask for `any`, `"), "{report}");
}
