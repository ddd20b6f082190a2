//! Pages of strong linearizability and of progress: each execution of a page is replayed, and
//! branches open and close by the keyboard.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::chromium::Chromium;
use super::{answer_in, refused};

const WIDE: [u32; 2] = [1280, 900];
const NARROW: [u32; 2] = [400, 800];

fn page(folder: &Path, code: i32, arguments: &str) -> String {
    let (found, out, error) = answer_in(folder, &format!("{arguments} --html page.html"));
    assert_eq!((found, error.as_str()), (code, ""), "{arguments}: {out}");
    fs::read_to_string(folder.join("page.html")).unwrap()
}

/// Replays each trace of a page; returns the reports.
fn replayed(folder: &Path, page: &str) -> Vec<String> {
    let texts = page.split("<pre>snapshot-trace").skip(1);
    let traces = texts.map(|rest| rest.split_once("</pre>").unwrap().0);
    let replay = |trace: &str| {
        let trace = trace.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        fs::write(folder.join("leaf"), format!("snapshot-trace{trace}\n")).unwrap();
        let (code, out, error) = answer_in(folder, "replay leaf");
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        out
    };
    traces.map(replay).collect()
}

/// Shows the page in each form, and requires that it does not scroll sideways.
fn shown(browser: &mut Chromium, page: &str, name: &str) {
    for (form, size, is_dark) in
        [("narrow-dark", NARROW, true), ("wide-dark", WIDE, true), ("wide-light", WIDE, false)]
    {
        browser.open(page, size, is_dark);
        browser.screenshot(&format!("{name}-{form}"));
        let wider = "document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.value(wider), json!(false), "{name} {form}: it scrolls sideways");
    }
}

#[test]
fn tree_has_all_leaves_and_its_branches_close() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path(), 1, "check bowman --strong -n 2 --operations 2");
    for part in [
        "Why it is not strongly linearizable",
        "if ordered S1, then U1",
        "No order that begins with",
        "check bowman --strong -n 2 --operations 2",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Each leaf is linearizable by itself: only the common order is not.
    let leaves = replayed(folder.path(), &page);
    assert_eq!(leaves.len(), page.matches("class=\"remark\"").count());
    assert_eq!(leaves.len(), page.matches("class=\"picture\"").count());
    assert!(leaves.len() >= 2, "{page}");
    for leaf in &leaves {
        assert!(leaf.contains("The history is linearizable"), "{leaf}");
    }
    let Some(mut browser) = Chromium::start() else { return };
    shown(&mut browser, &page, "strong");
    let is_there = "document.activeElement.matches('.branch > summary')";
    let mut tabs = 0;
    while browser.value(is_there) != json!(true) {
        browser.key("Tab");
        tabs += 1;
        assert!(tabs < 60, "the branches cannot be reached by keyboard");
    }
    let is_open = "document.activeElement.parentElement.open";
    let before = browser.value(is_open);
    browser.key("Enter");
    assert_ne!(browser.value(is_open), before);
    browser.key("Enter");
    assert_eq!(browser.value(is_open), before);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn loops_are_on_the_page_of_progress() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path(), 0, "check bowman --progress -n 2");
    for part in ["scan: not wait-free", "not lock-free", "again and again", "established"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let loops = replayed(folder.path(), &page);
    assert!(!loops.is_empty());
    for one in &loops {
        assert!(one.contains("from here, the moves repeat for ever"), "{one}");
    }
    let Some(mut browser) = Chromium::start() else { return };
    shown(&mut browser, &page, "progress");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn objects_and_answers_yes_have_pages_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let yes = page(folder.path(), 0, "check cas_counter --strong -n 2 --operations 1");
    assert!(yes.contains("verdict linearizable") && !yes.contains("class=\"branch\""), "{yes}");
    let no = page(folder.path(), 1, "check atomic_register --strong -n 2");
    assert!(no.contains("O1 = ") && no.contains("class=\"branch\""), "{no}");
    assert!(replayed(folder.path(), &no).len() >= 2);
    let lock = page(folder.path(), 0, "check tas_lock --progress -n 2");
    assert!(lock.contains("the object lets it wait"), "{lock}");
    let told = refused("check bowman --strong --progress -n 2 --html page.html");
    assert!(told.contains("one property"), "{told}");
    let told = refused("check bowman --strong -n 2,3 --html page.html");
    assert!(told.contains("one algorithm"), "{told}");
}
