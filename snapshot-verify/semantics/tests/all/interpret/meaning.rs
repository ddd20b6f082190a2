//! Semantics of statements and expressions.

use snapshot_core::Process;
use snapshot_semantics::interpret::{Machine, Move};

use crate::interpret::texts::{alone, program};

fn writes(declarations: &str, body: &str, expected: &[&str]) {
    let told = alone(declarations, body).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
    assert_eq!(told, expected, "{declarations}\n{body}");
}

#[test]
fn statements() {
    let logs = |body, expected: &[&str]| {
        let expected: Vec<String> =
            expected.iter().map(|number| format!("log := {number}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        writes("", body, &expected);
    };
    logs("log := 1; log := 2", &["1", "2"]);
    logs("skip", &[]);
    logs("for k in 2..4: log := k", &["2", "3", "4"]);
    logs("for k in 2..1: log := k", &[]);
    logs("for k in 1..n except 2: log := k", &["1", "3"]);
    logs("for k in 1..2: for m in 1..2 except k: log := m", &["2", "1"]);
    logs("if n = 3: log := 1\nelse: log := 2", &["1"]);
    logs("if n = 2: log := 1\nelse if n = 3: log := 2\nelse: log := 3", &["2"]);
    logs("if n = 2: log := 1", &[]);
    // Long, but not endless.
    logs("x := false\nfor k in 0..999999: if x: x := false\nlog := 1", &["1"]);
    logs("local k: 0..9\nwhile k < 2:\n    log := k\n    k := k + 1", &["0", "1"]);
    logs("local k: 0..9\nrepeat\n    log := k\n    k := k + 1\nuntil k >= 2", &["0", "1"]);
    logs(
        "local k: 0..9\nloop:\n    log := k\n    if k = 2: exit\n    k := k + 1",
        &["0", "1", "2"],
    );
    logs("loop:\n    for k in 1..3:\n        log := k\n        if k = 2: exit", &["1", "2"]);
    logs(
        "loop:\n    loop:\n        log := 1\n        exit\n    log := 2\n    exit\nlog := 3",
        &["1", "2", "3"],
    );
    logs("log := 1\nreturn [initial for s in segments]\nlog := 2", &["1"]);
}

#[test]
fn values_have_numbers() {
    let logs = |body, expected| writes("", body, expected);
    logs("log := number(initial)", &["log := 0"]);
    logs("x := value(3)\nlog := number(x)", &["log := 3"]);
    logs("local k: 0..9\nk := number(value(4))\nlog := k + 1", &["log := 5"]);
    logs("if value(0) = initial: log := 1\nif value(2) = initial: log := 2", &["log := 1"]);
    let below = "local k: 0 - 1..1\nk := 0 - 1\nx := value(k)";
    assert!(alone("", below).unwrap_err().to_string().contains("-1 is out of range"));
    let above = "local k: 0..3\nk := number(value(4))";
    assert!(alone("", above).unwrap_err().to_string().contains("4 is out of range"));
}

#[test]
fn procedures() {
    let calls = "procedure twice(k: 0..9): 0..99:\n    log := k\n    return k + k\n\
                 procedure both:\n    x := twice(1)\n    log := x\n    early(x)\n    log := 8\n\
                 procedure early(k: 0..99):\n    if k = 2: return\n    log := 9\n";
    writes(calls, "x := twice(3)\nlog := x", &["log := 3", "log := 6"]);
    writes(calls, "both()", &["log := 1", "log := 2", "log := 8"]);
    // A call begins with fresh locals.
    let fresh =
        "procedure count: 0..9:\n    local k: 0..9\n    k := k + 1\n    log := k\n    return k\n";
    writes(fresh, "x := count()\nx := count()", &["log := 1", "log := 1"]);
    let both = "procedure sum(k: 0..9):\n    local m: 0..9 := 7\n    log := k + m\n";
    writes(both, "sum(1)\nsum(2)", &["log := 8", "log := 9"]);
    // Private variables keep their values.
    let kept = "private k: 0..9 := 4\nprocedure count:\n    k := k + 1\n    log := k\n";
    writes(kept, "count()\ncount()", &["log := 5", "log := 6"]);
}

#[test]
fn an_atomic_block_is_one_step() {
    writes(
        "shared b: 0..9",
        "atomic: b := 1; log := 2\nlog := 3",
        &["b := 1; log := 2", "log := 3"],
    );
    writes(
        "shared b: 0..9",
        "loop:\n    atomic:\n        b := 1\n        if n = 3: exit\n        b := 2\nlog := 3",
        &["b := 1", "log := 3"],
    );
    writes(
        "shared b: 0..9\nprocedure p: 0..9:\n    atomic:\n        b := 1\n        return 4\n",
        "x := p()\nlog := x\nlog := 5",
        &["b := 1", "log := 4", "log := 5"],
    );
}

#[test]
fn expressions() {
    let number = |expression: &str, expected: u32| {
        writes("", &format!("log := {expression}"), &[&format!("log := {expected}")]);
    };
    number("2 + 3 - 1", 4);
    number("7 mod n", 1);
    number("if me = process(1) then 5 else 6", 5);
    number("if me != process(1) then 5 else 6", 6);
    let holds = |condition: &str, expected: bool| {
        let expected = if expected { "log := 1" } else { "log := 0" };
        writes("", &format!("log := if {condition} then 1 else 0"), &[expected]);
    };
    for (condition, expected) in [
        ("not false and true", true),
        ("true and false", false),
        ("true or false", true),
        ("false or true", true),
        ("false or false", false),
        ("1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2", true),
        ("2 < 2 or 3 <= 2 or 2 > 2 or 1 >= 2", false),
        ("all k in 1..3: k >= 1", true),
        ("all k in 1..3: k >= 2", false),
        ("all k in 1..3 except 1: k >= 2", true),
        ("any k in 1..3: k = 3", true),
        ("any k in 1..3 except 3: k = 3", false),
        ("all k in 1..0: false", true),
        ("any k in 1..0: true", false),
    ] {
        holds(condition, expected);
    }
}

#[test]
fn values_of_all_types() {
    let cells = "type pair = record (x: 0..9, y: bit)\n\
                 shared r: pair\nshared o: process or none := none\n\
                 shared c: counter\nshared w: version\nshared m: array [0..1] of bool\n";
    writes(
        cells,
        "r := (4, 1)\nq := r\nr := q with (x: q.x + 1)\n(a, b) := r\nlog := a + b\n(_, b) := q\nlog := b",
        &[
            "r := (x: 4, y: 1)",
            "r is (x: 4, y: 1)",
            "r := (x: 5, y: 1)",
            "r is (x: 5, y: 1)",
            "log := 6",
            "log := 1",
        ],
    );
    // A path of different positions: element 0 of field 1 of element 2.
    writes(
        "type part = record (x: 0..9, y: array [0..1] of 0..9)",
        "local t[0..2]: part\nt[2].y[0] := 4\nt[2].y[1] := 5\nt[1].x := 6\n\
         log := t[2].y[0]\nlog := t[1].x",
        &["log := 4", "log := 6"],
    );
    writes(cells, "t := o\no := me\nif t = none: log := 1", &["o is none", "o := p1", "log := 1"]);
    writes(
        cells,
        "x := c\nx := x + 1\nc := x + 1\nlog := x mod 2\nif x < x + 1: log := 7",
        &["c is 0", "c := 2", "log := 1", "log := 7"],
    );
    writes(
        cells,
        "x := fresh\nw := x\ny := fresh\nif x != y: log := 1\nz := w\nif x = z: log := 2",
        &["w := #1", "log := 1", "w is #1", "log := 2"],
    );
    writes(
        cells,
        "local t[0..1]: bool\nm := [k = 1 for k in 0..1]\nt[0] := true\nm := t",
        &["m := [false, true]", "m := [true, false]"],
    );
}

#[test]
fn quantifier_resets_its_variable() {
    let text = "algorithm test\nshared c: bit\nupdate(v):\n    c := 0\nscan:\n    x := c\n    \
                y := any k in 4..6: k = 5\n    x := c\n    return [initial for s in segments]\n";
    let program = program(text);
    let machine = Machine::new(&program, 1).unwrap();
    let me = Process::from_index(0);
    let state = machine.run(&[Move::scan(me), Move::step(me)]).unwrap().last;
    let held = |name: &str| {
        let variables = machine.variables(&state, me);
        variables.into_iter().find(|holding| holding.name == name).unwrap().held
    };
    assert_eq!((held("y").as_str(), held("k").as_str()), ("true", "4"));
}

#[test]
fn cells_of_several_dimensions() {
    writes(
        "shared q[process][1..2]: 0..9",
        "q[process(0)][1] := 1\nq[process(0)][2] := 2\nq[me][1] := 3\nq[process(2)][2] := 4\n\
         for k in processes: for m in 1..2: x := q[k][m]",
        &[
            "q[0][1] := 1",
            "q[0][2] := 2",
            "q[1][1] := 3",
            "q[2][2] := 4",
            "q[0][1] is 1",
            "q[0][2] is 2",
            "q[1][1] is 3",
            "q[1][2] is 0",
            "q[2][1] is 0",
            "q[2][2] is 4",
        ],
    );
}

#[test]
fn undefined_expressions_are_faults() {
    let fault = |declarations: &str, body: &str, expected: &str| {
        let told = alone(declarations, body);
        let error = told.expect_err(body);
        assert!(error.contains(expected), "{body}: {error}");
    };
    fault("", "local k: 0..2 := 2\nk := k + 1\nlog := k", "3 is out of range: from 0 to 2");
    fault("", "local k: 0..2\nk := k - 1\nlog := k", "-1 is out of range: from 0 to 2");
    fault("", "local k: 0..99 := 99\nlog := k + 1", "100 is out of range: from 0 to 99");
    fault("shared x[0..1]: bit", "local k: 0..9 := 2\nx[k] := 0", "2 is out of range: from 0 to 1");
    fault("", "local x[0..1]: bit\nlocal k: 0..9 := 2\nx[k] := 1\nlog := 1", "2 is out of range");
    fault("", "local x[0..1]: bit\nlocal k: 0..9 := 2\nlog := x[k]", "2 is out of range");
    fault("", "local k: 0..9 := 3\nif process(k) = me: log := 1", "3 is out of range: from 0 to 2");
    fault(
        "shared o: process or none := none\nshared x[process]: bit",
        "q := o\nx[q] := 1",
        "this is none",
    );
}
