//! Arguments whose paragraphs repeat, and annotations that last, as the page shows them.

use serde_json::Value;
use snapshot_core::History;
use snapshot_core::history::Declaration;
use snapshot_picture::Diagram;
use snapshot_picture::columns::{self, Ticks};
use snapshot_picture::page::{Annotation, Answer, Page, Recording};

fn page(words: &[String], texts: &[&str]) -> String {
    let history: History<u32> =
        History::builder(Declaration::new(0).with_segments(2)).unwrap().finish();
    let annotations = texts.iter().enumerate();
    let annotations = annotations.map(|(tick, text)| Annotation { tick, text: (*text).to_owned() });
    let recording = Recording {
        columns: columns::encode(&history, None, Ticks { of_event: None, count: 9 }),
        annotations: annotations.collect(),
        ..Recording::default()
    };
    let page = Page {
        title: "a page".to_owned(),
        answer: Answer::Violation,
        verdict: "violation".to_owned(),
        summary: String::new(),
        words: words.to_vec(),
        diagram: Diagram::default(),
        guilty: Vec::new(),
        renamed: None,
        run: None,
        recording: Some(recording),
        steps: None,
        sections: Vec::new(),
        origin: String::new(),
    };
    page.html()
}

/// The argument against a ring of k operations: two steps for each.
fn ring(k: usize) -> Vec<String> {
    let line = |at: usize| match at % 2 {
        0 => format!("({}) S{at} saw U{at}, so U{at} comes before S{at}.", at + 1),
        _ => format!("({}) By ({at}), S1 comes before U{at}.", at + 1),
    };
    (0..2 * k).map(line).collect()
}

/// Returns the paragraphs of the argument, and the summaries of folded ones.
fn told(page: &str) -> (Vec<String>, Vec<String>) {
    let (_, rest) = page.split_once("<div class=\"words\">").unwrap();
    let argument = rest.split_once("</div>").unwrap().0;
    let between = |begin: &str, end: &str| -> Vec<String> {
        let parts = argument.split(begin).skip(1);
        parts.map(|part| part.split_once(end).unwrap().0.to_owned()).collect()
    };
    let paragraphs = between("<p class=\"", "</p>").into_iter();
    let text = |one: String| one.split_once('>').unwrap().1.to_owned();
    (paragraphs.map(text).collect(), between("<summary>", "</summary>"))
}

#[test]
fn rounds_are_folded_but_the_first_and_the_last() {
    let words = ring(40);
    let (paragraphs, summaries) = told(&page(&words, &[]));
    assert_eq!(paragraphs, words);
    let expected = "(3) to (78): the same 2 steps as before, with 38 other operations";
    assert_eq!(summaries, [expected]);
}

#[test]
fn nothing_is_lost_and_short_arguments_stay() {
    let mut folded = 0;
    for k in 0..12 {
        for before in 0..3 {
            let mut words: Vec<String> = (0..before).map(|at| "x".repeat(at + 1)).collect();
            words.extend(ring(k));
            words.push("A contradiction.".to_owned());
            let (paragraphs, summaries) = told(&page(&words, &[]));
            assert_eq!(paragraphs, words);
            assert_eq!(summaries.len(), usize::from(k >= 5), "{k}");
            folded += summaries.len();
        }
    }
    assert_eq!(folded, 21);
}

/// Returns the bands, each from, to and kind, and the legend.
fn bands(texts: &[&str]) -> (Vec<[u64; 3]>, Vec<String>) {
    let page = page(&[], texts);
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let number = |band: &Value, name: &str| band[name].as_u64().unwrap();
    let bands = data["bands"].as_array().unwrap().iter();
    let bands = bands.map(|band| ["from", "to", "kind"].map(|name| number(band, name))).collect();
    let legend = page.split("<li class=\"band").skip(1);
    let legend = legend.map(|item| item[3..].split_once("</li>").unwrap().0.to_owned());
    (bands, legend.collect())
}

#[test]
fn a_begin_and_its_end_are_a_band() {
    let (bands, legend) = bands(&[
        "nemesis start partition majority",
        "fail point wal on",
        "a remark",
        ":nemesis :stop-partition",
        "fail point wal off",
        "nemesis start-partition majority",
        "nemesis stop partition",
    ]);
    assert_eq!(bands, [[0, 3, 0], [1, 4, 1], [5, 6, 0]]);
    assert_eq!(legend, ["nemesis partition majority (2)", "fail point wal (1)"]);
}

#[test]
fn an_end_takes_the_latest_begin_of_its_kind_and_others_stay_comments() {
    let (found, legend) = bands(&["start", "start", "stop", "stop", "stop", "begin", "the end"]);
    assert_eq!(found, [[1, 2, 0], [0, 3, 0]]);
    assert_eq!(legend, ["between the comments (2)"]);
    assert_eq!(bands(&["stop", "start", "on", "end"]), (vec![], vec![]));
    let texts: Vec<&str> = (0..20_000).map(|at| ["kill db", "restart db"][at % 2]).collect();
    assert_eq!(bands(&texts).0.len(), 1_000);
    assert_eq!(bands(&vec!["start x"; 20_000]).0.len(), 0);
}
