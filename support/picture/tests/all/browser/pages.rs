//! Pages for visual inspection.

use std::fmt::Display;
use std::hash::Hash;

use corpus::generate::{Recipe, Style};
use snapshot_core::check::check;
use snapshot_core::history::Declaration;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_core::{History, Names};
use snapshot_picture::Diagram;
use snapshot_picture::columns::{self, Ticks};
use snapshot_picture::page::{
    Annotation, Answer, Change, Form, Guilty, Page, Recording, Section, Step, Steps,
};
use snapshot_picture::run::Run;

/// Returns the page of a history with its verdict.
fn page<V: Clone + Display + Eq + Hash>(title: &str, history: &History<V>) -> Page {
    let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
    let report = check(history, &mut budget);
    let ticks = Ticks { of_event: None, count: history.len() };
    let order = match &report.verdict {
        Verdict::Linearizable(order) => Some(order),
        _ => None,
    };
    let recording = Recording {
        columns: columns::encode(history, order, ticks),
        tick: "event",
        decided_at: report.decided_at.filter(|_| report.explanation.is_some()),
        form: Form::Snapshot,
        ..Recording::default()
    };
    let diagram = match (&report.explanation, order) {
        (Some(explanation), _) => Diagram::of_explanation(explanation),
        (None, Some(order)) if history.operations().len() < 60 => {
            Diagram::of_linearization(history, order, &Names::default())
        }
        _ => Diagram::default(),
    };
    let guilty = |bar: &snapshot_picture::Bar| Guilty {
        operation: bar.operation.index(),
        name: bar.name.clone(),
        deed: bar.deed.clone(),
        place: format!("p{} [{}]", bar.process, bar.begin),
    };
    let is_violation = report.explanation.is_some();
    let bars = if is_violation { diagram.bars.as_slice() } else { &[] };
    let renamed = report.explanation.as_ref().and_then(|explanation| {
        let renaming = explanation.witness.renaming?.to_string();
        Some((renaming, Diagram::of_renamed(explanation)?))
    });
    let run = renamed.as_ref().map(|_| Run {
        automaton: "M3".to_owned(),
        processes: None,
        from: "start".to_owned(),
        steps: [
            ("p1: inv update_j(1)", "start"),
            ("p1: res update_j(1)", "F_j complete"),
            ("p0: inv update_i(1)", "F_j before F_i"),
            ("p2: res scan(1, 0)", "inappropriate"),
        ]
        .map(|(letter, state)| (letter.to_owned(), state.to_owned()))
        .to_vec(),
    });
    Page {
        title: title.to_owned(),
        answer: if is_violation { Answer::Violation } else { Answer::Linearizable },
        verdict: if is_violation { "violation" } else { "linearizable" }.to_owned(),
        summary: format!("{} operations", history.operations().len()),
        words: report.explanation.iter().map(|e| e.argument(|x| format!("({})", x.id))).collect(),
        guilty: bars.iter().map(guilty).collect(),
        diagram,
        renamed,
        run,
        recording: Some(recording),
        steps: None,
        sections: Vec::new(),
        origin: "Written by a test.".to_owned(),
    }
}

/// U1 = update(s1: 7) responds before U2 = update(s0: 9) begins; S1 saw U2 only. Before and after
/// it, quiet operations.
pub fn violation() -> Page {
    let mut history = History::builder(Declaration::new(0).with_segments(5)).unwrap();
    for round in 0..10_i64 {
        history.invoke_update(3, 3, 100 + round).unwrap();
        history.respond_update(3).unwrap();
    }
    history.invoke_update(4, 4, 50).unwrap();
    history.invoke_scan(2).unwrap();
    history.invoke_update(1, 1, 7).unwrap();
    history.respond_update(1).unwrap();
    history.invoke_update(0, 0, 9).unwrap();
    history.respond_update(0).unwrap();
    history.respond_scan(2, &[9, 0, 0, 109, 0]).unwrap();
    for round in 0..40_i64 {
        history.invoke_update(3, 3, 200 + round).unwrap();
        history.respond_update(3).unwrap();
    }
    history.invoke_update(1, 1, 8).unwrap();
    history.fail(1).unwrap();
    history.invoke_update(0, 0, 10).unwrap();
    history.unknown(0).unwrap();
    let mut page = page("violation.txt", &history.finish());
    assert_eq!(page.diagram.arrows.len(), 3, "{:?}", page.diagram);
    let recording = page.recording.as_mut().unwrap();
    recording.annotations = vec![
        Annotation { tick: 0, text: "begin".to_owned() },
        Annotation { tick: 22, text: "the network splits".to_owned() },
        Annotation { tick: 23, text: "nemesis start partition".to_owned() },
        Annotation { tick: 25, text: "nemesis stop partition".to_owned() },
    ];
    page
}

/// Two operations of one process, with arrows in both directions.
pub fn one_row() -> Page {
    let mut history = History::builder(Declaration::new(0).with_segments(1)).unwrap();
    history.invoke_update(0, 0, 5).unwrap();
    history.respond_update(0).unwrap();
    history.invoke_scan(0).unwrap();
    history.respond_scan(0, &[0]).unwrap();
    page("row.txt", &history.finish())
}

pub fn linearizable() -> Page {
    let recipe = Recipe::new(4, 3, 24, Style::Differentiated, 5);
    page("linearizable.txt", &recipe.history().unwrap())
}

pub fn hostile() -> Page {
    const BAD: &str =
        "</script><img src=x onerror=\"window.harmed=1\"><!--\u{0}\u{1b}\u{202e}\u{2028}&lt;";
    let mut history = History::builder(Declaration::new("0").with_segments(2)).unwrap();
    history.invoke_update(0, 0, BAD).unwrap();
    history.respond_update(0).unwrap();
    history.invoke_scan(1).unwrap();
    history.respond_scan(1, &["]]>", "0"]).unwrap();
    let mut page =
        page("</script><script>window.harmed=1</script>\u{202e}\u{7}", &history.finish());
    page.words.push(BAD.to_owned());
    page.summary = BAD.to_owned();
    page.origin = BAD.to_owned();
    for one in &mut page.guilty {
        one.place = BAD.to_owned();
    }
    let recording = page.recording.as_mut().unwrap();
    recording.annotations = vec![Annotation { tick: 1, text: BAD.to_owned() }];
    recording.notes = vec![BAD.to_owned()];
    page.verdict = BAD.to_owned();
    page
}

pub fn stepped() -> Page {
    let mut page = violation();
    let change = |name: &str, old: &str, new: &str| Change {
        name: name.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let step =
        |process, text: &str, line, changes| Step { process, text: text.to_owned(), line, changes };
    page.steps = Some(Steps {
        steps: vec![
            step(0, "update(1) begins", 3, Vec::new()),
            step(0, "writes r[0] := 1", 4, vec![change("r[0]", "0", "1")]),
            step(1, "reads r[0] = 1", 7, vec![change("p1: c", "-", "1")]),
        ],
        source: [
            "shared r[segment]: value",
            "",
            "update(v):",
            "    r[me] := v",
            "",
            "scan:",
            "    c := r[0]",
            "    return c",
        ]
        .map(str::to_owned)
        .to_vec(),
        start: [("r[0]", "0"), ("p1: c", "-")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    });
    page
}

/// Steps with a line of the algorithm that is wider than a sheet, and a folded text with another.
pub fn printed() -> Page {
    let mut page = stepped();
    let wide = format!("# {}", "a wide comment ".repeat(20));
    page.steps.as_mut().unwrap().source.push(wide.clone());
    page.sections = vec![Section::folded("The execution as a file", "", "The trace", &wide)];
    page
}

pub fn million() -> Page {
    let recipe = Recipe::new(16, 8, 1_000_000, Style::Differentiated, 11);
    page("million.txt", &recipe.history().unwrap())
}
