//! Decision whether processes are anonymous.

use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_language::program::anonymity::is_anonymous;

fn program(text: &str) -> Program {
    parse("test", text).unwrap().program(None).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// For each form in which a program distinguishes processes, a program beside one that does not.
#[test]
fn distinguishing_a_process_breaks_anonymity() {
    let text = |declared: &str, effect: &str, body: &str| {
        format!(
            "algorithm named
object cell:
    state held: value
{effect}
    take: value:
        return held
shared x: value
{declared}
put(v):
{body}
take:
    a := x
    return a
"
        )
    };
    let effect = "    put(v: value):\n        held := v";
    let put = "    x := v";
    let anonymous = text("shared y: 0..n-1", effect, "    for k in 0..n-1: y := k\n    x := v");
    assert!(is_anonymous(&program(&anonymous)));
    let named = [
        text("private p: process := me", effect, put),
        text("private p: bool := me = process(0)", effect, put),
        text("shared y[process]: value", effect, put),
        text("shared y: process or none", effect, put),
        text("shared y: array [segment] of value", effect, put),
        text("shared y: bool", effect, "    y := me = process(0)\n    x := v"),
        text(
            "shared y: bool",
            effect,
            "    y := any q in processes except me: q = process(0)\n    x := v",
        ),
        text("shared y: value", effect, "    for q in processes: y := v\n    x := v"),
        text("shared y: value", effect, "    q := choose processes\n    x := v"),
        text("shared y: llsc value", effect, "    b := LL(y)\n    x := v"),
        text("shared y: 0..1", "    put(v: value) by process 0:\n        held := v", put),
        text(
            "",
            "    put(v: value):\n        if me = process(0): held := v\n        else: held := v",
            put,
        ),
        text("", &format!("    state last: process or none\n{effect}\n        last := me"), put),
        anonymous
            .replace("put(v: value)", "put(v: process)")
            .replace("held := v", "held := initial")
            .replace("x := v", "x := initial"),
    ];
    for text in named {
        let program = program(&text);
        assert!(!is_anonymous(&program), "{text}");
    }
}
