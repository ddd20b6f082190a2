//! The page in a browser, by the keyboard alone.

use serde_json::{Value, json};

use super::super::commands::answer_in;
use super::super::commands::chromium::Chromium;
use super::server::Server;

const WIDE: [u32; 2] = [1280, 900];
const NARROW: [u32; 2] = [400, 800];

/// Waits until the last question is answered.
fn answered(browser: &mut Chromium) {
    browser.wait("document.documentElement.dataset.ready === 'yes'");
}

fn press(browser: &mut Chromium, keys: &[&str]) {
    for key in keys {
        browser.key(key);
        answered(browser);
    }
}

fn open(browser: &mut Chromium, server: &Server, size: [u32; 2], is_dark: bool) {
    browser.visit(&format!("http://127.0.0.1:{}/", server.port), size, is_dark);
    answered(browser);
}

fn position(browser: &mut Chromium) -> (Value, Value) {
    let read = |name: &str| format!("Number(document.documentElement.dataset.{name})");
    (browser.value(&read("at")), browser.value(&read("moves")))
}

#[test]
fn an_execution_is_made_by_the_keyboard() {
    let Some(mut browser) = Chromium::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "bowman --bug early_exit -n 2");
    open(&mut browser, &server, WIDE, false);
    assert_eq!(browser.text("h1"), "bowman with early_exit, n = 2");
    assert_eq!(browser.text("#told"), "Before the first step.");
    // p0 begins an update, p1 a scan; then each makes a step.
    press(&mut browser, &["0", "a", "1", "b", "0", "1"]);
    assert_eq!(position(&mut browser), (json!(4), json!(4)));
    assert_eq!(browser.text("#told"), "Step 4: p1 active := p1");
    assert_eq!(browser.text(".source .here").trim(), "active := me");
    let cell = "[...document.querySelectorAll('#state tbody tr')].find(row => \
                row.cells[0].textContent === 'active').cells[1].textContent";
    assert_eq!(browser.value(cell), json!("p1"));
    let row =
        "[...document.querySelectorAll('#state tr.changed')].map(r => r.cells[0].textContent)";
    assert!(browser.value(row).as_array().unwrap().contains(&json!("active")));
    // Back and forth; another choice leaves the rest.
    press(&mut browser, &["ArrowLeft"]);
    assert_eq!(browser.value(cell), json!("none"));
    press(&mut browser, &["ArrowRight", "Backspace", "Home"]);
    assert_eq!(position(&mut browser), (json!(0), json!(4)));
    press(&mut browser, &["End"]);
    assert_eq!(position(&mut browser), (json!(4), json!(4)));
    press(&mut browser, &["ArrowLeft", "0"]);
    assert_eq!(position(&mut browser), (json!(4), json!(4)));
    assert!(browser.text("#told").starts_with("Step 4: p0 a[0] := 1"), "{}", browser.text("#told"));
    // A move that is typed, and one that is none.
    press(&mut browser, &["0", "/"]);
    browser.write("p0 update 77");
    press(&mut browser, &["Enter"]);
    assert_eq!(browser.text("#told"), "Step 6: p0 U2 = update(77) begins");
    browser.value("document.getElementById('move').value = 'p9 scan'");
    press(&mut browser, &["Enter"]);
    assert!(browser.text("#told").contains("of p0 to p1"), "{}", browser.text("#told"));
    assert_eq!(position(&mut browser), (json!(6), json!(6)), "an error changes nothing");
    press(&mut browser, &["Escape", "9"]);
    assert_eq!(browser.text("#told"), "There is no process p9.");
    press(&mut browser, &["?"]);
    assert_eq!(browser.value("document.getElementById('keys').open"), json!(true));
    browser.screenshot("explore-keys");
    browser.value("document.getElementById('keys').close()");
    // The address keeps the execution.
    let before = browser.text("#step-list");
    browser.reload();
    answered(&mut browser);
    assert_eq!(position(&mut browser), (json!(6), json!(6)));
    assert_eq!(browser.text("#step-list"), before);
    assert!(browser.complaints.iter().all(|one| one.contains("422")), "{:?}", browser.complaints);
}

#[test]
fn a_counterexample_is_walked_along_and_left() {
    let Some(mut browser) = Chromium::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "bowman --bug early_exit");
    open(&mut browser, &server, WIDE, true);
    press(&mut browser, &["!"]);
    let told = browser.text("#told");
    assert!(told.starts_with("A violation in "), "{told}");
    let (at, moves) = position(&mut browser);
    assert_eq!(at, json!(0));
    press(&mut browser, &["End"]);
    assert_eq!(browser.text("#verdict"), "not linearizable");
    let reason = browser.text("#reason");
    assert!(reason.contains("completes a violation"), "{reason}");
    let argument = browser.text("#argument");
    assert!(
        argument.contains("which U2 wrote") && argument.ends_with("a contradiction."),
        "{argument}"
    );
    assert_eq!(browser.value("document.querySelectorAll('#pictures svg').length"), json!(2));
    for (name, size, is_dark) in [
        ("explore-narrow-dark", NARROW, true),
        ("explore-wide-dark", WIDE, true),
        ("explore-narrow-light", NARROW, false),
        ("explore-wide-light", WIDE, false),
    ] {
        browser.resize(size, is_dark);
        browser.await_frame();
        browser.screenshot(name);
        let wider = "document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.value(wider), json!(false), "{name}: it scrolls sideways");
    }
    // One step back it is linearizable; the same process goes along, another one leaves.
    press(&mut browser, &["ArrowLeft"]);
    assert_eq!(browser.text("#verdict"), "linearizable");
    assert!(browser.text("#at").contains("along the execution that was found"));
    press(&mut browser, &["0", "a"]);
    assert!(!browser.text("#at").contains("along"), "{}", browser.text("#at"));
    assert_eq!(position(&mut browser).0, moves);
    assert_eq!(browser.text("#verdict"), "linearizable");
    // Left in the middle, an execution loses its later steps.
    press(&mut browser, &["!", "Home", "ArrowRight", "1", "b"]);
    assert_eq!(position(&mut browser), (json!(2), json!(2)));
    press(&mut browser, &["!", "End", "ArrowLeft", "0", "a"]);
    assert_eq!(position(&mut browser).0, moves);
    // The trace that the page shares is replayed by the program.
    browser.value("document.getElementById('trace').open = true");
    browser.wait("document.getElementById('file').textContent.endsWith('end\\n')");
    let trace = browser.text("#file");
    std::fs::write(folder.path().join("shared.trace"), &trace).unwrap();
    let (code, out, error) = answer_in(folder.path(), "replay shared.trace");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    // And it begins another page.
    let other = Server::start(folder.path(), "--trace shared.trace");
    open(&mut browser, &other, NARROW, false);
    assert_eq!(position(&mut browser), (json!(0), moves));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
