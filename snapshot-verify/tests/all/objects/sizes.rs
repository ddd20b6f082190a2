//! `size`: a number that a text declares, and that the command line or an expectation may replace.

use std::process::Command;

use snapshot_verify::language::parse;
use snapshot_verify::refine::RefinementVerdict;

use super::{Case, bounded, program};

/// With another size, the text is equivalent to the one with that number in place of the word.
#[test]
fn size_equals_the_number_in_its_place() {
    let mut compared = 0;
    for file in corpus::object_algorithms() {
        let algorithm = parse(file.name, file.text).unwrap();
        let Some(declared) = algorithm.size() else { continue };
        for size in [declared, 3] {
            let (before, after) = file.text.split_once(&format!("\nsize {declared}\n")).unwrap();
            let (rest, _) = after.split_once("\nbug ").unwrap();
            let rest: String = rest
                .split_inclusive(|character: char| !character.is_alphanumeric())
                .map(|word| match word.strip_prefix("size") {
                    Some(end) if end.len() <= 1 => format!("{size}{end}"),
                    _ => word.to_owned(),
                })
                .collect();
            let written = program(&format!("{before}\n{rest}\n"));
            let sized = algorithm.with_size(size).unwrap().program_with_points(None).unwrap();
            // Variables for read values are named by the text of the read.
            let sized = sized.to_string().replace("mod size", &format!("mod {size}"));
            assert_eq!(sized, written.to_string(), "{}", file.name);
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}

/// A larger size gives more states.
#[test]
fn a_larger_stack_has_more_states() {
    let algorithm = parse("linked_stack", corpus::algorithm("linked_stack").unwrap().text).unwrap();
    let states = [1, 2, 3].map(|size| {
        let program = algorithm.with_size(size).unwrap().program(None).unwrap();
        let found = Case::new(&program, 2).refine(&bounded(4), true, true);
        assert_eq!(found.verdict, RefinementVerdict::Verified);
        found.states
    });
    assert!(states[0] < states[1] && states[1] < states[2], "{states:?}");
}

#[test]
fn command_line_and_expectations_set_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .args(arguments.split_whitespace())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout) + &text(output.stderr))
    };
    // With at most `size` elements in it, a bag of 2 is as good as a stack of 1.
    let text = "algorithm two
size 1
object bag:
    state items: list of value
    put(v: value) by process 0 when len(items) < size:
        items := append(items, v)
    take: value or none by process 0:
        local v: value
        if items = []: return none
        v := first(items)
        items := rest(items)
        return v
shared held[1..2]: value or none
put(v):
    if held[1] = none: held[1] := v
    else: held[2] := v
take:
    first := held[1]
    second := held[2]
    if second = none: held[1] := none
    if second = none: return first
    held[2] := none
    return second
expect n = 2: linearizable
expect n = 2, size 2: violation
";
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("two.snapshot", text);
    let (code, said) = run("expect two.snapshot");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("expect n = 2, size 2: violation"), "{said}");
    let (code, said) = run("check two.snapshot -n 2");
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("two, n = 2: verified"), "{said}");
    let (code, said) = run("check two.snapshot -n 2 --size 2 --trace found.trace");
    assert_eq!(code, 1, "{said}");
    assert!(said.starts_with("two, size 2, n = 2: violation"), "{said}");
    // The trace records the size.
    let trace = std::fs::read_to_string(folder.path().join("found.trace")).unwrap();
    assert!(trace.contains("\nsize 2\n"), "{trace}");
    assert_eq!(run("replay found.trace").0, 1);
    write("found.trace", &trace.replace("\nsize 2\n", "\nsize 3\n"));
    let (code, said) = run("replay found.trace");
    assert!(said.contains("two.snapshot has changed") || code == 1, "{code}: {said}");
    assert_eq!(run("simulate two.snapshot -n 2 --walks 200").0, 0);
    assert_eq!(run("simulate two.snapshot -n 2 --walks 200 --size 2").0, 1);
    let (code, said) = run("emit two.snapshot --stage program --size 7");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("len(items) < 7"), "{said}");
    for (arguments, cure) in [
        ("check ms_queue -n 2 --size 2", "declare it: `size 2`"),
        ("check bowman --size 2", "leave it out"),
    ] {
        let (code, said) = run(arguments);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("declares no `size`") && said.contains(cure), "{said}");
    }
    // One value suffices for an object, and proves nothing about a snapshot.
    let (code, said) = run("check two.snapshot -n 2 --size 2 --values 1");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("value 0, any number"), "{said}");
    let (code, said) = run("check bowman -n 2 --values 1");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("add --values 2"), "{said}");
    let (code, said) = run("check two.snapshot -n 2 --size 4000000000");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("greater than"), "{said}");
}
