//! Answers as pages: their contents, and their display in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::chromium::Chromium;
use super::{answer_in, refused};

const WIDE: [u32; 2] = [1280, 900];
const NARROW: [u32; 2] = [400, 800];

/// Returns the page that a command writes, and the command's report.
fn page(folder: &Path, code: i32, arguments: &str) -> (String, String) {
    let (found, out, error) = answer_in(folder, &format!("{arguments} --html page.html"));
    assert_eq!((found, error.as_str()), (code, ""), "{arguments}: {out}");
    (fs::read_to_string(folder.join("page.html")).unwrap(), out)
}

/// Returns the data that the page's script reads.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Returns all cells and variables after each step, as `replay --all` prints them: it compares
/// scenes of the interpreter, which the page does not use.
fn replayed(out: &str) -> Vec<BTreeMap<String, String>> {
    let mut states: Vec<BTreeMap<String, String>> = Vec::new();
    for line in out.lines().take_while(|line| !line.is_empty()) {
        let Some(held) = line.strip_prefix("      ") else {
            states.push(BTreeMap::new());
            continue;
        };
        let held = held.trim_start_matches(['*', ' ']);
        let (place, value) = held.split_once(" = ").unwrap();
        let value = value.split("  (was ").next().unwrap().to_owned();
        // The name of a node's field has a space.
        let name = match (place.strip_prefix("shared "), place.rsplit_once(' ')) {
            (Some(name), _) => name.trim().to_owned(),
            (None, Some((owner, name))) => format!("{}: {name}", owner.trim()),
            (None, None) => panic!("{place}"),
        };
        states.last_mut().unwrap().insert(name, value);
    }
    states
}

#[test]
fn steps_of_a_page_equal_those_of_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        "bowman --bug early_exit",
        "naive_collect",
        "jayanti --bug plain_ss --operations grow",
        "linked_stack --bug lost_push -n 2 --operations 2",
        "tas_lock --bug no_test -n 2",
    ] {
        let (page, _) = page(folder.path(), 1, &format!("check {command} --trace bug.trace"));
        let (_, out, _) = answer_in(folder.path(), "replay bug.trace --all");
        let states = replayed(&out);
        let data = data(&page);
        let steps = data["steps"]["steps"].as_array().unwrap();
        assert_eq!(steps.len(), states.len(), "{command}");
        let start = data["steps"]["start"].as_array().unwrap();
        let start: BTreeMap<String, String> =
            start.iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        let mut held = start.clone();
        let mut visited = vec![held.clone()];
        for (step, state) in steps.iter().zip(&states) {
            for change in step["changes"].as_array().unwrap() {
                let old = held.insert(text(&change["name"]), text(&change["new"]));
                assert_eq!(old, Some(text(&change["old"])), "{command}: {change}");
            }
            // The page also shows the position of each process, and absent variables.
            let shown: BTreeMap<String, String> = held
                .iter()
                .filter(|(name, value)| {
                    let is_position = name.starts_with('p')
                        && name[1..].chars().all(|digit| digit.is_ascii_digit());
                    !is_position && *value != "-"
                })
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            assert_eq!(shown, *state, "{command}: {step}");
            visited.push(held.clone());
        }
        // And backwards.
        for (step, expected) in steps.iter().rev().zip(visited.iter().rev().skip(1)) {
            for change in step["changes"].as_array().unwrap() {
                held.insert(text(&change["name"]), text(&change["old"]));
            }
            assert_eq!(held, *expected, "{command}");
        }
        assert_eq!(held, start);
    }
}

#[test]
fn a_counterexample_is_stepped_through_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let (page, out) = page(folder.path(), 1, "check bowman --bug early_exit");
    assert!(out.contains("S1 returned 1 for segment 1, which U2 wrote"), "{out}");
    let Some(mut browser) = Chromium::start() else { return };
    for (name, size, is_dark) in [
        ("verify-narrow-dark", NARROW, true),
        ("verify-wide-dark", WIDE, true),
        ("verify-wide-light", WIDE, false),
    ] {
        browser.open(&page, size, is_dark);
        browser.screenshot(name);
        let wider = "document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.value(wider), json!(false), "{name}: it scrolls sideways");
    }
    assert_eq!(browser.text("h1"), "bowman with early_exit, n = 3, pair (0,1)");
    let why = browser.text("#why");
    assert!(why.contains("S1 returned 1 for segment 1, which U2 wrote"), "{why}");
    // The keyboard alone reaches the steps.
    let is_there = "document.activeElement.id === 'step-list'";
    let mut tabs = 0;
    while browser.value(is_there) != json!(true) {
        browser.key("Tab");
        tabs += 1;
        assert!(tabs < 60, "the steps cannot be reached by keyboard");
    }
    let cell = |browser: &mut Chromium, name: &str| {
        let rows = "[...document.querySelectorAll('#state tbody tr')]";
        let expression = format!(
            "{rows}.find(row => row.cells[0].textContent === {name:?}).cells[1].textContent"
        );
        text(&browser.value(&expression))
    };
    assert_eq!(cell(&mut browser, "active"), "none");
    assert_eq!(cell(&mut browser, "p2"), "idle");
    for _ in 0..4 {
        browser.key("ArrowDown");
    }
    assert_eq!(browser.text("#step-told"), "Step 4: p2 active := p2");
    assert_eq!(browser.text(".source .here").trim(), "active := me");
    assert_eq!(cell(&mut browser, "active"), "p2");
    browser.key("End");
    let last = browser.text("#step-told");
    assert_eq!(last, "Step 17: p2 S1 returns [0, 1, 0]");
    assert_eq!(cell(&mut browser, "a[0]"), "1");
    browser.screenshot("verify-last-step");
    browser.key("ArrowUp");
    assert_eq!(browser.text("#step-told"), "Step 16: p2 active is p1");
    browser.key("Home");
    assert_eq!(cell(&mut browser, "a[0]"), "0");
    assert_eq!(browser.text("#step-told"), "Before the first step.");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The page of an object's counterexample has all operations, at their steps and by the names of
/// the text; a proof has the contribution of each statement.
#[test]
fn objects_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    let command = "check treiber_stack --bug aba -n 2 --trace bug.trace";
    let (wrong, out) = page(folder.path(), 1, command);
    let (_, argument) = out.split_once("Why it is not linearizable:").unwrap();
    let argument = argument.split_once("\n\n  trace").or(argument.split_once("\n\n")).unwrap();
    let of_page = data(&wrong);
    assert_eq!(of_page["form"], "operations");
    let steps = of_page["steps"]["steps"].as_array().unwrap();
    let guilty = of_page["guilty"].as_array().unwrap();
    assert!(guilty.len() > 1, "{guilty:?}");
    for one in guilty {
        let (name, place) = (text(&one["name"]), text(&one["place"]));
        let (_, numbers) = place.split_once("[step ").unwrap();
        let numbers: Vec<usize> =
            numbers.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        let deed = |step: usize| text(&steps[step - 1]["text"]);
        assert!(deed(numbers[0]).contains(&format!("{name} = ")), "{place}: {}", deed(numbers[0]));
        if let Some(&last) = numbers.get(1) {
            let ends = [format!("{name} returns"), format!("{name} ends")];
            assert!(ends.iter().any(|end| deed(last).contains(end)), "{place}: {}", deed(last));
        }
    }
    assert_eq!(of_page["decided_at"], steps.len());
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (replayed, _) = page(folder.path(), 1, "replay bug.trace");
    assert_eq!(data(&replayed)["guilty"], of_page["guilty"]);
    let (faulty, _) = page(folder.path(), 1, "check linked_stack --bug freed -n 2");
    assert!(faulty.contains("What goes wrong"), "{faulty}");
    let (proof, _) = page(folder.path(), 0, "check cas_counter -n 2");
    assert!(proof.contains("it refines `counter`"), "{proof}");
    assert!(proof.contains("a violation in 8 steps"), "{proof}");
    let Some(mut browser) = Chromium::start() else { return };
    for (name, page) in [("object", &wrong), ("object-faulty", &faulty), ("object-proof", &proof)] {
        for (form, size, is_dark) in
            [("narrow-dark", NARROW, true), ("wide-dark", WIDE, true), ("wide-light", WIDE, false)]
        {
            browser.open(page, size, is_dark);
            browser.screenshot(&format!("{name}-{form}"));
            let wider = "document.documentElement.scrollWidth > window.innerWidth";
            assert_eq!(browser.value(wider), json!(false), "{name}-{form}: it scrolls sideways");
        }
    }
    browser.open(&wrong, WIDE, false);
    let why = words(&browser.text("#why"));
    assert!(why.contains(&words(argument.0)), "{why}: {}", argument.0);
    assert!(why.contains("O1 had ended before"), "{why}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Compares each remark of the proof's page about a changed program with `check` on that program,
/// written out by hand.
#[test]
fn remarks_on_statements_agree_with_check() {
    let folder = tempfile::tempdir().unwrap();
    let (page, _) = page(folder.path(), 0, "check bowman");
    let original = corpus::algorithm("bowman").unwrap().text;
    let original = original.split("\nbug ").next().unwrap();
    for (remark, from, to) in [
        ("without `active := none`", "active := none", "skip"),
        ("without `a[me] := v`", "a[me] := v", "skip"),
        ("without `active := me`", "active := me", "skip"),
        ("without `copy[s] := a[s]`", "copy[s] := a[s]", "skip"),
        ("with `active = me` always true", "until active = me", "until true"),
    ] {
        // The declaration of `active` has the same words as the statement.
        let at = original.rfind(from).unwrap();
        let changed = format!("{}{to}{}", &original[..at], &original[at + from.len()..]);
        fs::write(folder.path().join("changed.snapshot"), changed).unwrap();
        let (code, out, error) =
            answer_in(folder.path(), "check changed.snapshot --operations grow");
        let (_, rest) = page.split_once(remark).unwrap_or_else(|| panic!("{remark}: {page}"));
        let told = rest.split_once('<').unwrap().0;
        let expected = match code {
            1 => {
                // The number of the last row of the table.
                let (table, _) = out.split_once("\n\nThe history:").unwrap();
                let number = |row: &str| row.split_whitespace().next()?.parse::<usize>().ok();
                let steps = table.lines().rev().find_map(number).unwrap();
                format!(": a violation in {steps} steps")
            }
            0 if out.contains("never") => ": linearizable, but an operation never ends".to_owned(),
            0 => ": verified, too".to_owned(),
            _ => ": no program".to_owned(),
        };
        assert!(told.starts_with(&expected), "{remark}{told}, but {expected}: {out}{error}");
    }
    assert!(page.contains("cannot be left out") || page.contains("no program"), "{page}");
    assert!(page.contains("419"), "the numbers: {page}");
    let Some(mut browser) = Chromium::start() else { return };
    for (name, size, is_dark) in [
        ("proof-narrow-dark", NARROW, true),
        ("proof-wide-dark", WIDE, true),
        ("proof-wide-light", WIDE, false),
    ] {
        browser.open(&page, size, is_dark);
        browser.screenshot(name);
        let wider = "document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.value(wider), json!(false), "{name}: it scrolls sideways");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn faults_and_replays_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = "algorithm wrong # </script><script>alert(1)</script>\nshared r[segment]: value or \
                 none := none\nupdate(v):\n    r[me] := v\nscan:\n    local c[segment]: value\n    \
                 for s in segments: c[s] := r[s]\n    return c\n";
    fs::write(folder.path().join("wrong.snapshot"), wrong).unwrap();
    let (faulty, _) = page(folder.path(), 1, "check wrong.snapshot -n 2");
    assert!(
        faulty.contains("What goes wrong") && faulty.contains("wrong.snapshot:7:32"),
        "{faulty}"
    );
    assert_eq!(faulty.matches("</script>").count(), 2, "text of the algorithm stays text");
    let steps = &data(&faulty)["steps"]["steps"];
    let last = steps.as_array().unwrap().last().unwrap();
    assert!(text(&last["text"]).starts_with("goes wrong"), "{last}");
    assert_eq!(last["line"], 7);

    let trace = "snapshot-trace 2\nalgorithm bowman\nprocesses 2\np0 update 7\np0 step 3\np1 scan\n\
                 p1 step 5\nend\n";
    fs::write(folder.path().join("good.trace"), trace).unwrap();
    let (good, _) = page(folder.path(), 0, "replay good.trace");
    assert!(good.contains("verdict linearizable") && good.contains("S1 returns [7, 0]"), "{good}");
    let columns = text(&data(&good)["columns"]);
    assert!(!columns.is_empty(), "the operations are drawn");
}

/// A proof for every n and an unproved program each have a page; only one page is written at a
/// time.
#[test]
fn every_answer_has_a_page_and_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let (every, _) = page(folder.path(), 0, "check bowman -n every");
    assert!(every.contains("verified for every n") && every.contains("The obligations"), "{every}");
    let sums = "algorithm sums\nshared r[segment]: value\nupdate(v):\n    r[me] := v\nscan:\n    \
                local c[segment]: value\n    for s in segments: c[s] := r[s]\n    if c[me] = initial: \
                skip\n    return c\n";
    fs::write(folder.path().join("sums.snapshot"), sums).unwrap();
    let (refusal, _) = page(folder.path(), 3, "check sums.snapshot -n 2");
    assert!(refusal.contains("no proof") && refusal.contains("looks at values"), "{refusal}");
    for arguments in ["check bowman naive_collect", "check bowman -n 2..3"] {
        let told = refused(&format!("{arguments} --html page.html"));
        assert!(told.contains("one algorithm for one number of processes"), "{told}");
    }
    let told = refused("check bowman --html /no/such/folder/page.html");
    assert!(told.contains("a folder that exists"), "{told}");
}
