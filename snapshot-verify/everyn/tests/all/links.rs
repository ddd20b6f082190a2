//! Programs with LL/SC cells: right ones are proved, their bugs are not.

use snapshot_everyn::compile::compile;
use snapshot_everyn::model::{Ghosts, Obligation, Part, Specification};
use snapshot_everyn::prove::{Attempt, Limits, Sabotage, prove};
use snapshot_everyn::shape::Mode;

use super::verdicts::{answer, is_proved, parsed};
use trial::effort::{Effort, is_left_out};

const OBSERVER: Obligation = Obligation {
    mode: Mode::Direct,
    ghosts: Ghosts::Scans,
    specification: Specification::Observer,
    part: Part::Whole,
};

#[test]
fn right_programs_with_links_are_proved() {
    if is_left_out(Effort::Slow) {
        return;
    }
    for name in ["undisturbed", "locked_by_links", "turns"] {
        assert!(is_proved(corpus::small(name)), "{name}");
    }
    // Other uses of links: VL before an SC, plain reads, links that outlast calls.
    let edits = [
        (
            "undisturbed",
            "        done := SC(c, seen)",
            "        done := VL(c)\n        if done: done := SC(c, seen)",
        ),
        ("undisturbed", "    c := true\n", "    x := c\n    c := not x\n"),
        // A failing SC has been preceded by a write, within the update.
        ("undisturbed", "    c := true\n", "    x := LL(c)\n    SC(c, x)\n"),
        ("undisturbed", "        seen := LL(c)", "        seen := link()"),
        (
            "locked_by_links",
            "        if o = none: got",
            "        free := VL(owner)\n        if o = none and free: got",
        ),
        ("locked_by_links", "    owner := none\nscan", "    LL(owner)\n    SC(owner, none)\nscan"),
    ];
    for (name, from, to) in edits {
        let text = corpus::small(name);
        assert!(text.contains(from), "{from}");
        let mut text = text.replacen(from, to, 1);
        if to.contains("link()") {
            text += "procedure link(): bool:\n    x := LL(c)\n    return x\n";
        }
        assert!(is_proved(&text), "{text}");
    }
}

#[test]
fn wrong_variants_of_programs_with_links_are_not_proved() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let edits = [
        ("undisturbed", "        done := SC(c, seen)", "        done := VL(c)"),
        ("undisturbed", "    c := true\n    a[me] := v", "    a[me] := v"),
        (
            "undisturbed",
            "    c := true\n    a[me] := v",
            "    x := LL(c)\n    a[me] := v\n    SC(c, x)",
        ),
        ("undisturbed", "until done", "until done or seen"),
        ("undisturbed", "until done", "until true"),
        (
            "undisturbed",
            "        seen := LL(c)\n        for s in segments: copy[s] := a[s]\n",
            "        for s in segments: copy[s] := a[s]\n        seen := LL(c)\n",
        ),
        ("locked_by_links", "if o = none: got := SC(owner, me)", "got := SC(owner, me)"),
        (
            "locked_by_links",
            "if o = none: got := SC(owner, me)",
            "if o = none:\n            owner := me\n            got := true",
        ),
        ("locked_by_links", "if o = none: got := SC(owner, me)", "if o = none: got := VL(owner)"),
        ("locked_by_links", "    until got", "    until o = none"),
        ("locked_by_links", "    acquire()\n    a[me] := v\n    owner := none", "    a[me] := v"),
        (
            "locked_by_links",
            "        copy[s] := a[s]\n    owner := none",
            "        owner := none\n        copy[s] := a[s]",
        ),
        ("turns", "    a[me] := v\n    if not", "    a[me] := v\n    mark[me] := m\n    if not"),
        (
            "turns",
            "    m := LL(mark[me])\n",
            "    mark[me] := true\n    LL(mark[me])\n    SC(mark[me], true)\n",
        ),
        (
            "turns",
            "    owner := none\n    return copy",
            "    owner := none\n    for p in processes: mark[p] := true\n    return copy",
        ),
    ];
    let mut wrong = 0;
    for (name, from, to) in edits {
        let text = corpus::small(name);
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        assert!(!is_proved(&text), "{text}");
        wrong += 1;
    }
    assert_eq!(wrong, 15);
}

/// Rounds: a scan returns a view that another process may have published meanwhile.
#[test]
fn views_that_others_publish_are_proved_by_rounds() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let program = parsed(corpus::small("published"), None);
    let answer = answer(&program);
    assert!(answer.proved);
    let last = answer.rungs.last().map(|rung| rung.obligation.name());
    assert_eq!(last.as_deref(), Some("rounds.observer"));
    let edits = [
        // Not every scan makes a round.
        (
            "scan:\n    local copy: view\n",
            "scan:\n    local copy: view\n    if old: return latest\n    old := true\n",
        ),
        ("    acquire()\n    for s", "    for s"),
        ("    latest := copy\n    owner := none\n", "    owner := none\n    latest := copy\n"),
        (
            "    for s in segments:\n        copy[s] := a[s]\n    latest := copy\n",
            "    latest := copy\n    for s in segments:\n        copy[s] := a[s]\n",
        ),
        (
            "    result := latest\n    return result",
            "    result := latest\n    result[me] := initial\n    return result",
        ),
        ("    for s in segments:\n", "    for s in segments except me:\n"),
        (
            "    owner := none\n    result := latest\n",
            "    owner := none\n    latest := copy\n    result := latest\n",
        ),
        // The view is read before the round.
        ("    acquire()\n    for s", "    result := latest\n    acquire()\n    for s"),
    ];
    for (at, (from, to)) in edits.into_iter().enumerate() {
        let mut text = corpus::small("published").to_owned();
        assert!(text.contains(from), "{from}");
        if to.contains("old") {
            text = text.replace("update(v)", "private old: bool\nupdate(v)");
        }
        if at == 7 {
            text = text.replace("    result := latest\n    return", "    return");
        }
        let text = text.replacen(from, to, 1);
        assert!(!is_proved(&text), "{text}");
    }
}

/// The scanner of `undisturbed` would not see that others broke its link.
#[test]
fn links_that_others_do_not_break_lose_the_proof() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let model = compile(&parsed(corpus::small("undisturbed"), None), OBSERVER).expect("modelled");
    let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
    assert!(prove(&model, limits, Sabotage::default()).finding.holds());
    let broken = Sabotage { lasting_links: true, ..Sabotage::default() };
    let finding = prove(&model, limits, broken).finding;
    assert!(matches!(finding.attempt, Attempt::Fails(..)), "a spurious violation");
}
