//! The structure of instances: their slots and locations, and the effects of constant propagation
//! and fusing.

use snapshot_explorer::instance::{Domain, Graph, Instance, Location, NONE, Owner};

use crate::instance::programs::{BOWMAN, INDICES, WHOLE, program};
use crate::passes::{constant, shrink};

fn instance(text: &str, n: usize, pair: (usize, usize)) -> Instance {
    Instance::new(&program(text, None), n, pair).unwrap()
}

fn names(instance: &Instance, of: impl Fn(Owner) -> bool) -> Vec<&str> {
    let slots = instance.slots.iter().filter(|slot| of(slot.owner));
    slots.map(|slot| slot.name.as_str()).collect()
}

fn labels(graph: &Graph) -> Vec<&str> {
    let locations = graph.every_location().skip(1);
    locations.map(|location| graph.standing(location).label.as_str()).collect()
}

#[test]
fn each_event_is_a_separate_step() {
    let fresh = instance(BOWMAN, 3, (0, 1));
    assert_eq!(names(&fresh, |owner| owner == Owner::Shared), ["active", "a[0]", "a[1]", "a[2]"]);
    let expected = [
        "update: active := none",
        "update: a[1] := v",
        "response",
        "scan: active := 1",
        "scan: copy[0] := a[0]",
        "scan: copy[1] := a[1]",
        "scan: copy[2] := a[2]",
        "scan: active",
        "response",
    ];
    assert_eq!(labels(&fresh.graphs[1]), expected);
    let updating = fresh.graphs[1].locations.iter().map(|standing| standing.updating);
    assert_eq!(updating.filter(|updating| *updating).count(), 3);
    let active = &fresh.slots[0];
    let domain = Domain::Range { low: 0, high: 2, optional: true, names_processes: true };
    assert_eq!((active.domain, active.initial), (domain, NONE));
    assert!(fresh.graphs.iter().flat_map(|graph| &graph.blocks).all(|block| block.accesses < 2));
    for (process, graph) in fresh.graphs.iter().enumerate() {
        assert_eq!(graph.argument.is_some(), process < 2, "only i and j choose");
    }
}

#[test]
fn other_segments_are_constant_and_their_accesses_no_steps() {
    for (pair, a) in [((0, 1), ["a[0]", "a[1]"]), ((0, 2), ["a[0]", "a[2]"])] {
        let reduced = constant(&instance(BOWMAN, 4, pair));
        let shared = names(&reduced, |owner| owner == Owner::Shared);
        assert_eq!(shared, [["active"].as_slice(), &a].concat());
        let other = &reduced.graphs[3];
        let reads = a.map(|cell| format!("scan: copy{} := {cell}", &cell[1..]));
        let expected = [
            "update: active := none",
            "response",
            "scan: active := 3",
            &reads[0],
            &reads[1],
            "scan: active",
            "response",
        ];
        assert_eq!(labels(other), expected);
    }
}

#[test]
fn operations_shrink_to_observable_accesses() {
    let reduced = shrink(&constant(&instance(BOWMAN, 3, (0, 1))));
    let expected =
        ["update: a[0] := v", "scan: active := 0", "scan: copy[1] := a[1]", "scan: active"];
    assert_eq!(labels(&reduced.graphs[0]), expected, "its own segment it reads at once");
    let expected =
        ["scan: active := 2", "scan: copy[0] := a[0]", "scan: copy[1] := a[1]", "scan: active"];
    assert_eq!(labels(&reduced.graphs[2]), expected, "its update is one step");
}

#[test]
fn only_links_used_by_their_process_exist() {
    let text = "
algorithm links
shared X[process]: llsc bit
shared a[segment]: value
update(v): a[me] := v
scan:
    x := LL(X[me])
    k := process(x)
    y := LL(X[k])
    SC(X[me], y)
    X[k] := 0
    return [initial for s in segments]
";
    let links = |owner| matches!(owner, Owner::Link(_));
    let fresh = instance(text, 3, (0, 1));
    assert_eq!(names(&fresh, links).len(), 9, "by an unknown index all are used");
    let known = ["link X[0] of p0", "link X[1] of p1", "link X[2] of p2"];
    let own = text.replace("X[k]", "X[me]").replace("SC(X[me], y)", "z := SC(X[me], 1 - y)");
    assert_eq!(names(&instance(&own, 3, (0, 1)), links), known);
    let whole = instance(WHOLE, 2, (0, 1));
    assert_eq!(names(&whole, links), ["link X of p0", "link X of p1"]);
    assert_eq!(names(&constant(&whole), links), ["link X of p0", "link X of p1"]);
}

#[test]
fn domains_shrink_to_the_assigned_values() {
    let text = "
algorithm domains
shared level: 0..100 := 3
shared top: 0..100 := 3
shared a[segment]: value
update(v):
    x := level
    if x < 5: level := x + 1
    a[me] := v
scan:
    local w[segment]: value
    t := top
    x := level
    if x > 5: t := 7
    if t = 7: top := 4
    atomic: for s in segments: w[s] := a[s]
    repeat
        y := level
    until y != x
    return w
";
    let fresh = instance(text, 2, (0, 1));
    let reduced = constant(&fresh);
    let level = reduced.slots.iter().find(|slot| slot.name == "level").unwrap();
    let Domain::Range { high, .. } = level.domain else { panic!("{:?}", level.domain) };
    assert_eq!(high, 100, "order is not followed, so level may grow");
    let bounded = text.replace("level := x + 1", "level := 5");
    let reduced = constant(&instance(&bounded, 2, (0, 1)));
    let level = reduced.slots.iter().find(|slot| slot.name == "level").unwrap();
    let domain = Domain::Range { low: 3, high: 5, optional: false, names_processes: false };
    assert_eq!(level.domain, domain);
    assert!(!reduced.slots.iter().any(|slot| slot.name == "top"), "it never changes");
}

#[test]
fn unobservable_loop_keeps_a_pause() {
    let text = "
algorithm waits
shared mine[process]: bit
shared a[segment]: value
update(v): a[me] := v
scan:
    mine[me] := 0
    repeat
        x := mine[me]
        y := mine[me]
    until x = 1 or y = 1
    return [initial for s in segments]
";
    let fresh = instance(text, 2, (0, 1));
    let reduced = shrink(&fresh);
    reduced.validate();
    let scan = |graph: &Graph| {
        graph.locations.iter().skip(1).filter(|standing| !standing.updating).count()
    };
    assert_eq!(scan(&fresh.graphs[0]), 4, "the write, two reads, the response");
    assert_eq!(scan(&reduced.graphs[0]), 1, "one read");
}

#[test]
fn unwritten_elements_are_removed_by_index() {
    let reduced = constant(&instance(INDICES, 3, (0, 2)));
    let shown = reduced.to_string();
    assert!(!shown.contains("grid[1]"), "no process writes 1 there:\n{shown}");
    assert!(shown.contains("grid[0][0].val") && shown.contains("grid[2][1].val"), "{shown}");
}

#[test]
fn instances_are_shown_with_names() {
    let shown = shrink(&constant(&instance(BOWMAN, 3, (0, 2)))).to_string();
    for line in [
        "processes 3, pair (0, 2)",
        "  active           process 0..2 or none := none",
        "process 0: 5 locations, 8 blocks",
        " update, argument in p2.v",
        " L1 in update: update: a[0] := v",
        "   (accesses 1)",
        "   if (p1.scan.active = p1)",
        "     respond scan(i: p1.result[0], j: p1.result[2], foreign: 0)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\nis not in\n{shown}");
    }
    assert_eq!(Location(3).to_string(), "L3");
}

#[test]
fn sixteen_processes_need_few_slots() {
    for text in [BOWMAN, WHOLE, INDICES] {
        let reduced = shrink(&constant(&instance(text, 16, (3, 15))));
        reduced.validate();
        let arrays = reduced.slots.len() / 16;
        assert!(arrays < 40, "{arrays} slots per process");
    }
}
