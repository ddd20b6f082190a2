//! The arrows of a violation form a cycle, for any rule, and every drawing has all of them.
use std::collections::BTreeMap;

use corpus::generate::{Recipe, Rule, Style, Violation};
use snapshot_core::check::check;
use snapshot_core::explanation::Explanation;
use snapshot_core::history::{Declaration, Writers};
use snapshot_core::search::Budget;
use snapshot_core::{History, Names};
use snapshot_picture::diagram::Diagram;
use snapshot_picture::forced::Cause;
use snapshot_picture::page::{Answer, Page, Recording};
use snapshot_picture::{dot, latex, svg};

fn explained(history: &History<i64>) -> Option<Explanation<i64>> {
    check(history, &mut Budget { memory: 1 << 28, proceed: &mut || true }).explanation
}

/// Returns true if the arrows that `wanted` accepts form a cycle.
fn has_cycle(diagram: &Diagram, wanted: impl Fn(Cause) -> bool) -> bool {
    let size = diagram.bars.len();
    let mut reaches = vec![vec![false; size]; size];
    for arrow in diagram.arrows.iter().filter(|arrow| wanted(arrow.cause)) {
        reaches[arrow.before][arrow.after] = true;
    }
    for k in 0..size {
        for a in 0..size {
            for b in 0..size {
                reaches[a][b] |= reaches[a][k] && reaches[k][b];
            }
        }
    }
    (0..size).any(|k| reaches[k][k])
}

#[test]
fn arrows_of_every_rule_form_a_cycle() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in Rule::ALL {
        for seed in 0..20 {
            let recipe = Recipe::new(5, 4, 60, Style::Differentiated, seed);
            let Ok(history) = recipe.with_violation(Violation::new(rule)).history() else {
                continue;
            };
            let explanation = explained(&history).expect("a violation is planted");
            let name = explanation.witness.reason.name();
            *seen.entry(name).or_default() += 1;
            let diagram = Diagram::of_explanation(&explanation);
            assert!(!diagram.bars.is_empty());
            if matches!(name, "never-written" | "failed-update-seen") {
                assert!(diagram.arrows.is_empty(), "{name}: {diagram:?}");
            } else {
                let unconditional = |cause| cause != Cause::Supposed;
                assert!(has_cycle(&diagram, unconditional), "{name}: {diagram:?}");
            }
            drawings_have_everything(&diagram);
        }
    }
    println!("{seen:?}");
    for name in ["never-written", "future", "stale", "decrease", "inversion", "missing"] {
        assert!(seen.get(name).is_some_and(|count| *count >= 10), "{name}: {seen:?}");
    }
}

/// Two writers of one segment, in a cycle (saturation's rule `cycle`).
#[test]
fn a_derivation_has_its_arrows() {
    let declaration = Declaration::new(0).with_segments(2).with_writers(Writers::Many);
    let mut history = History::builder(declaration).unwrap();
    for (process, segment, value) in [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 1, 4)] {
        history.invoke_update(process, segment, value).unwrap();
    }
    for process in 0..4 {
        history.respond_update(process).unwrap();
    }
    for returned in [[1, 3], [2, 4], [1, 4], [2, 3]] {
        history.invoke_scan(4).unwrap();
        history.respond_scan(4, &returned).unwrap();
    }
    let explanation = explained(&history.finish()).expect("a violation");
    assert!(explanation.refutation.is_some(), "{:?}", explanation.witness);
    let diagram = Diagram::of_explanation(&explanation);
    assert!(has_cycle(&diagram, |_| true), "{diagram:?}");
    drawings_have_everything(&diagram);
}

/// An arrow has the number of its line in the argument, in every drawing.
#[test]
fn arrows_have_the_numbers_of_their_lines() {
    // Either order of two scans is refuted: there are suppositions, and lines without an arrow.
    let declaration = Declaration::new(0).with_segments(2).with_writers(Writers::Many);
    let mut history = History::builder(declaration).unwrap();
    for (process, segment, value) in [(0, 0, 1), (1, 0, 2), (2, 1, 1), (3, 1, 2)] {
        history.invoke_update(process, segment, value).unwrap();
    }
    for process in 4..8 {
        history.invoke_scan(process).unwrap();
    }
    for (process, returned) in [(4, [1, 1]), (5, [2, 2]), (6, [1, 2]), (7, [2, 1])] {
        history.respond_scan(process, &returned).unwrap();
    }
    let explanation = explained(&history.finish()).expect("no order has them all");
    let lines = &explanation.refutation.as_ref().expect("it is derived").lines;
    let diagram = Diagram::of_explanation(&explanation);
    let argument = explanation.argument(|operation| {
        let bar = diagram.bars.iter().find(|bar| bar.operation == operation.id);
        bar.expect("it is drawn").name.clone()
    });
    let is_supposed = |arrow: &&snapshot_picture::diagram::Arrow| arrow.cause == Cause::Supposed;
    assert!(diagram.arrows.iter().any(|arrow| is_supposed(&arrow)), "{argument}");
    assert!(diagram.arrows.len() < lines.len(), "{argument}");
    for arrow in &diagram.arrows {
        let line = &lines[arrow.number - 1];
        let of = |bar: usize| diagram.bars[bar].operation;
        assert_eq!((line.before, line.after), (of(arrow.before), of(arrow.after)), "{argument}");
    }
    let legend = svg::legend(&diagram).into_string();
    let drawn = svg::standalone(&diagram, "a title");
    for arrow in &diagram.arrows {
        assert!(legend.contains(&format!("value=\"{}\"", arrow.number)), "{legend}");
        assert!(drawn.contains(&format!(">{}</text>", arrow.number)), "{drawn}");
    }
    // The page keeps the indentation below a supposition, and explains dashed lines.
    let page = Page { words: argument.lines().map(str::to_owned).collect(), diagram, ..blank() };
    let html = page.html();
    assert!(html.contains("<p class=\"d1\">(2) "), "{argument}");
    assert!(html.contains("A dashed arrow holds as long as a supposition does"), "{html}");
    assert!(html.contains("The dashed line: the event that completes the violation"), "{html}");
}

fn blank() -> Page {
    Page {
        title: String::new(),
        answer: Answer::Violation,
        verdict: String::new(),
        summary: String::new(),
        words: Vec::new(),
        diagram: Diagram::default(),
        guilty: Vec::new(),
        renamed: None,
        run: None,
        recording: Some(Recording { decided_at: Some(9), ..Recording::default() }),
        steps: None,
        sections: Vec::new(),
        origin: String::new(),
    }
}

fn drawings_have_everything(diagram: &Diagram) {
    let (bars, arrows) = (diagram.bars.len(), diagram.arrows.len());
    let drawn = svg::standalone(diagram, "a title");
    assert_eq!(drawn.matches("class=\"operation\"").count(), bars);
    assert_eq!(drawn.matches("marker-end").count(), arrows);
    let drawn = dot::text(diagram, "a title");
    assert_eq!(drawn.matches(" -> ").count(), arrows);
    assert_eq!(drawn.matches('{').count(), drawn.matches('}').count());
    let drawn = latex::text(diagram);
    assert_eq!(drawn.matches("\\draw[->").count(), arrows);
}

/// Text of a recording is escaped in every syntax.
#[test]
fn hostile_text_is_escaped_in_every_form() {
    const BAD: &str = "</text><script>\"\\\u{0}\u{1b}]\n%$#_{}&~^";
    let mut history = History::builder(Declaration::new("0").with_segments(1)).unwrap();
    history.invoke_update(0, 0, BAD).unwrap();
    history.respond_update(0).unwrap();
    let diagram = Diagram::of_history(&history.finish(), &Names::default());
    let drawn = svg::standalone(&diagram, BAD);
    assert!(!drawn.contains("<script>"), "{drawn}");
    assert_eq!(drawn.matches("</text>").count(), 2, "{drawn}");
    assert!(!drawn.trim_end().contains(|c: char| c.is_control()), "{drawn:?}");
    let drawn = dot::text(&diagram, BAD);
    assert!(drawn.contains("<script>\\\"\\\\"), "{drawn}");
    assert!(!drawn.replace('\n', "").contains(|c: char| c.is_control()), "{drawn:?}");
    let drawn = latex::text(&diagram);
    assert!(drawn.contains(r"\textbackslash{}"), "{drawn}");
    assert!(drawn.contains(r"\%\$\#\_\{\}\&\textasciitilde{}\textasciicircum{}"), "{drawn}");
}
