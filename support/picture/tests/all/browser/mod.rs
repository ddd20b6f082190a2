//! The page in a real browser: it draws, the keys work, the console stays silent.
//!
//! If Chromium is not installed, each test says so and ends.
mod chromium;
mod pages;

use std::time::Instant;

use chromium::Chromium;
use serde_json::json;

const WIDE: [u32; 2] = [1280, 900];
const NARROW: [u32; 2] = [400, 800];

#[test]
fn a_violation_is_drawn_and_read_by_keyboard() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = pages::violation().html();
    for (name, size, is_dark) in [
        ("violation-narrow-dark", NARROW, true),
        ("violation-narrow-light", NARROW, false),
        ("violation-wide-dark", WIDE, true),
        ("violation-wide-light", WIDE, false),
    ] {
        browser.open(&page, size, is_dark);
        browser.screenshot(name);
        let wider = "document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.value(wider), json!(false), "{name}: it scrolls sideways");
    }
    assert_eq!(browser.text("#why svg .operation text"), "S1: scan [s0: 9, s1: 0]");
    assert_eq!(browser.text("#recording .bands"), "nemesis partition (1)");
    browser.await_frame();
    // Over the bars of the first row: within the band from 23 to 25, and on both sides of it.
    let pixels = "(() => { const canvas = document.getElementById('timeline'), \
         [from, to] = document.documentElement.dataset.view.split(' ').map(Number), \
         ratio = window.devicePixelRatio || 1, wide = canvas.width / ratio, \
         row = canvas.getContext('2d').getImageData(0, 29 * ratio, canvas.width, 1).data; \
         return [22.4, 24.2, 26.5].map((tick) => { \
         const x = Math.round((52 + (tick - from) / (to - from) * (wide - 52)) * ratio); \
         return row.slice(4 * x, 4 * x + 3).join(' '); }); })()";
    let pixels = browser.value(pixels);
    assert_eq!([&pixels[0], &pixels[2]], [&json!("255 255 255"); 2]);
    assert_ne!(pixels[1], pixels[0], "the band is drawn");
    // The argument stands beside its picture, and what is for testers is folded.
    let side = "(() => { const box = (s) => document.querySelector(s).getBoundingClientRect(); \
                return box('#why .words').right <= box('#why figure').left; })()";
    assert_eq!(browser.value(side), json!(true));
    assert_eq!(browser.value("document.getElementById('testers').open"), json!(false));
    // The canvas is reached by Tab alone.
    let is_there = "document.activeElement.id === 'timeline'";
    let mut tabs = 0;
    while browser.value(is_there) != json!(true) {
        browser.key("Tab");
        tabs += 1;
        assert!(tabs < 40, "the recording cannot be reached by keyboard");
    }
    let outline = browser.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, json!("solid"), "the focus is visible");
    browser.key("ArrowRight");
    let first = browser.text("#told");
    assert!(first.starts_with("S1: scan [9, 0, 0, 109, 0] by p2, operation 11"), "{first}");
    browser.key("g");
    let second = browser.text("#told");
    assert!(second.starts_with("U1: update(7)"), "{second}");
    browser.key("g");
    browser.key("g");
    browser.key("Enter");
    assert_eq!(browser.value("document.getElementById('details').hidden"), json!(false));
    let details = browser.text("#details");
    assert!(details.contains("S1 of the argument") && details.contains("arrow 1"), "{details}");
    browser.screenshot("violation-details");
    browser.key("ArrowUp");
    assert!(browser.text("#details").contains("U1 of the argument"), "the details follow");
    browser.key("ArrowRight");
    assert!(browser.text("#told").contains("update(8) by p1"), "{}", browser.text("#told"));
    browser.key("ArrowLeft");
    browser.key("ArrowDown");
    browser.key("Escape");
    assert_eq!(browser.value("document.getElementById('details').hidden"), json!(true));
    let view = |browser: &mut Chromium| {
        let text = browser.value("document.documentElement.dataset.view");
        let text = text.as_str().unwrap().to_owned();
        let (from, to) = text.split_once(' ').unwrap();
        (from.parse::<f64>().unwrap(), to.parse::<f64>().unwrap())
    };
    let before = view(&mut browser);
    browser.key("+");
    let closer = view(&mut browser);
    assert!(closer.1 - closer.0 < before.1 - before.0, "{before:?} {closer:?}");
    browser.key("0");
    let all = view(&mut browser);
    assert!(all.0 <= 0.0 && all.1 >= 100.0, "{all:?}");
    assert!(browser.print() > 5_000, "it prints");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// On paper nothing can be scrolled or opened: lines are wrapped, and folded texts are shown.
#[test]
fn texts_are_printed_whole() {
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&pages::printed().html(), WIDE, false);
    let is_cut_or_hidden = "[...document.querySelectorAll('.source, details.fold pre')].map(one => \
         [one.scrollWidth > one.clientWidth, !one.checkVisibility()])";
    assert_eq!(
        browser.value(is_cut_or_hidden),
        json!([[true, false], [true, true]]),
        "on a screen"
    );
    browser.show_printed();
    assert_eq!(
        browser.value(is_cut_or_hidden),
        json!([[false, false], [false, false]]),
        "on paper"
    );
    assert!(browser.print() > 5_000, "it prints");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Arrows within the first row lie between it and the axis, and not below.
#[test]
fn arrows_within_a_row_are_drawn_as_a_whole() {
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&pages::one_row().html(), WIDE, false);
    browser.screenshot("one-row");
    // The axis ends at 26, the bars of the first row are from 36 to 56, the row ends at 66.
    let drawn = "(() => { const canvas = document.getElementById('timeline'), \
         ratio = window.devicePixelRatio || 1, wide = canvas.width, \
         pixels = canvas.getContext('2d').getImageData(0, 0, wide, canvas.height).data; \
         const columns = (from, to) => { let columns = 0; \
         for (let x = Math.round(60 * ratio); x < wide; x++) { let is = false; \
         for (let y = Math.round(from * ratio); y < Math.round(to * ratio); y++) { \
         const at = 4 * (y * wide + x); \
         is ||= pixels[at] + pixels[at + 1] + pixels[at + 2] < 500; } columns += is; } \
         return Math.round(columns / ratio); }; \
         return [columns(27, 34), columns(59, 65)]; })()";
    let columns = browser.value(drawn);
    let (over, under) = (columns[0].as_u64().unwrap(), columns[1].as_u64().unwrap());
    assert!(over > 60 && under > 60, "{over} {under}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn keyboard_steps_through_a_linearization() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = pages::linearizable().html();
    browser.open(&page, WIDE, true);
    browser.screenshot("linearizable-dark");
    browser.open(&page, WIDE, false);
    browser.screenshot("linearizable-light");
    browser.value("document.getElementById('timeline').focus()");
    let mut told = Vec::new();
    for _ in 0..5 {
        browser.key("n");
        told.push(browser.text("#told"));
    }
    for (place, told) in told.iter().enumerate() {
        let expected = format!("{}. in the linearization", place + 1);
        assert!(told.ends_with(&expected), "{told}");
    }
    browser.key("p");
    assert_eq!(browser.text("#told"), told[3]);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Any text in a recording stays text, and makes no element, script or dialog.
#[test]
fn hostile_text_stays_text() {
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&pages::hostile().html(), WIDE, false);
    browser.screenshot("hostile");
    assert_eq!(browser.value("window.harmed === undefined"), json!(true));
    assert_eq!(
        browser.value("document.querySelectorAll('img, iframe, b script').length"),
        json!(0)
    );
    assert_eq!(browser.value("document.scripts.length"), json!(2));
    assert!(browser.text("h1").contains("</script><script>"), "{}", browser.text("h1"));
    assert!(browser.text("h1").contains("\\u{202e}"), "{}", browser.text("h1"));
    browser.value("document.getElementById('timeline').focus()");
    browser.key("g");
    browser.key("Enter");
    let details = browser.text("#details");
    assert!(details.contains("</script><img src=x onerror"), "{details}");
    assert_eq!(browser.value("window.harmed === undefined"), json!(true));
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Even a script injected into the page would not run.
#[test]
fn the_page_allows_no_script_but_its_own() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = pages::violation().html();
    let injected = page.replace("<main>", "<main><script>window.harmed = 1</script>");
    assert_ne!(page, injected);
    browser.open(&injected, WIDE, false);
    assert_eq!(browser.value("window.harmed === undefined"), json!(true));
    assert!(
        browser.complaints.iter().any(|one| one.contains("Content Security Policy")),
        "{:?}",
        browser.complaints
    );
}

#[test]
fn steps_go_forward_and_back() {
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&pages::stepped().html(), WIDE, false);
    browser.value("document.getElementById('step-list').focus()");
    let cell = |browser: &mut Chromium, row: usize| {
        browser.text(&format!("#state tbody tr:nth-child({row}) td"))
    };
    assert_eq!([cell(&mut browser, 1), cell(&mut browser, 2)], ["0", "-"]);
    browser.key("ArrowDown");
    browser.key("ArrowDown");
    assert_eq!([cell(&mut browser, 1), cell(&mut browser, 2)], ["1", "-"]);
    assert_eq!(browser.text("#step-told"), "Step 2: p0 writes r[0] := 1");
    assert_eq!(browser.text(".source .here"), "    r[me] := v");
    browser.key("End");
    assert_eq!([cell(&mut browser, 1), cell(&mut browser, 2)], ["1", "1"]);
    browser.screenshot("steps");
    browser.key("ArrowUp");
    browser.key("Home");
    assert_eq!([cell(&mut browser, 1), cell(&mut browser, 2)], ["0", "-"]);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// A million operations: the page's size, the time until it is drawn, the time of a frame.
#[test]
fn a_million_operations_do_not_freeze_the_page() {
    let page = pages::million().html();
    let bytes = page.len();
    assert!(bytes < 8_000_000, "{bytes} bytes for a million operations");
    let Some(mut browser) = Chromium::start() else { return };
    let begun = Instant::now();
    browser.open(&page, WIDE, false);
    let opened = begun.elapsed();
    assert_eq!(browser.value("document.documentElement.dataset.operations"), json!("1000000"));
    browser.value("document.getElementById('timeline').focus()");
    browser.key("0");
    browser.screenshot("million-all");
    let mut frames = Vec::new();
    let frame = |browser: &mut Chromium| -> f64 {
        let time = browser.value("document.documentElement.dataset.frame");
        time.as_str().unwrap().parse().unwrap()
    };
    frames.push(frame(&mut browser));
    for turn in 0..16 {
        let wheel = if turn < 12 { -120.0 } else { 120.0 };
        browser.mouse("mouseWheel", 640.0, 500.0, 3.0 * wheel);
        frames.push(frame(&mut browser));
    }
    for key in ["0", "ArrowRight", "PageDown", "PageUp", "g", "ArrowRight", "n"] {
        browser.key(key);
        frames.push(frame(&mut browser));
    }
    browser.screenshot("million-close");
    let slowest = frames.iter().copied().fold(0.0, f64::max);
    println!(
        "{bytes} bytes, open after {opened:?}, slowest of {} frames {slowest} ms",
        frames.len()
    );
    assert!(opened.as_secs() < 30, "{opened:?} until it is drawn");
    assert!(slowest < 400.0, "{frames:?}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
