//! Time limits apply within a step and within an analysis: hostile texts against a watchdog, for
//! every method.
//!
//! `--time` and the first Ctrl-C end each command at most [`LATE`] late, in processor time, on any
//! text. The suite tries a few texts;
//! `SNAPSHOT_SEEDS=FROM..TO cargo test -p snapshot-verify --test all watchdog::` tries the given
//! seeds.

#![cfg(target_os = "linux")]

mod server;
mod texts;

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_support::Program;
use test_support::effort::seeds;
use test_support::lateness::{Ended, Told, interrupt};

/// The program from outside.
const PROGRAM: Program = Program::new(env!("CARGO_BIN_EXE_snapshot-verify"));

/// Maximum delay of the end of a command.
const LATE: Duration = Duration::from_millis(200);

/// Time after which a command is to end.
const AFTER: Duration = Duration::from_millis(150);

/// Number of attempts before a command counts as late: on a busy machine, it may start so late that
/// a timely end looks late.
const TRIES: usize = 4;

/// Runs a command on a text until it ends in time, or is late in each attempt.
fn in_time(arguments: &[&str], told: Told) -> Ended {
    let after = AFTER.as_secs_f64().to_string();
    let limit = ["--time", &after];
    let all = [arguments, if told == Told::Limit { &limit } else { &[] }].concat();
    let mut last = PROGRAM.ended(&all, AFTER, told);
    for _ in 1..TRIES {
        // A signal may arrive before the program listens.
        if last.killed || last.late < LATE && last.code.is_some() {
            break;
        }
        last = PROGRAM.ended(&all, AFTER, told);
    }
    last
}

/// Tries commands on texts; `FILE` stands for the text, `OUT` for a file to write.
fn hunt(seeds: Range<u64>, text: fn(u64) -> String, commands: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["hostile.snapshot", "out"].map(|name| folder.path().join(name));
    let [file, out] = [file, out].map(|path| path.display().to_string());
    let (mut late, mut undecided) = (Vec::new(), 0);
    for seed in seeds {
        fs::write(&file, text(seed)).unwrap();
        for (number, command) in commands.iter().enumerate() {
            let told = if (seed + number as u64).is_multiple_of(4) {
                Told::Interrupt
            } else {
                Told::Limit
            };
            let words = command.split(' ').map(|word| match word {
                "FILE" => &file,
                "OUT" => &out,
                word => word,
            });
            let ended = in_time(&words.collect::<Vec<_>>(), told);
            undecided += usize::from(ended.code == Some(3));
            if ended.late >= LATE || !matches!(ended.code, Some(0..=3)) {
                late.push(format!("seed {seed}: {command} ({told:?}): {ended:?}"));
            }
        }
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
    // Some texts are neither refused nor decided.
    assert!(undecided > 0);
}

#[test]
fn proofs_for_every_n_end_in_time() {
    let commands = [
        "check FILE -n every --threads 1",
        "check FILE -n every --threads 1 --certificate OUT",
        "check FILE -n 2 --method proof --threads 1",
    ];
    hunt(seeds(3, 40), texts::snapshot, &commands);
}

#[test]
fn explorations_end_in_time() {
    let commands = [
        "check FILE -n 2 --threads 1",
        "check FILE -n 3 --threads 1 --self-check",
        "check FILE -n 5 --threads 1 --operations grow",
        "check FILE -n 2 --threads 1 --reductions none",
        "check FILE -n 3 --threads 1 --barriers grow",
        "emit FILE --stage steps -n 3",
    ];
    hunt(seeds(2, 40), texts::snapshot, &commands);
}

#[test]
fn refinement_ends_in_time() {
    let commands = [
        "check FILE -n 2 --method refinement --operations 1",
        "check FILE -n 3 --method refinement --operations 2",
        "check FILE -n 2 --method refinement --values 2 --operations 2",
        "points FILE --processes 2,3 --operations 1",
        "check FILE -n 2 --operations 1 --threads 1 --certificate OUT",
    ];
    hunt(seeds(2, 40), texts::snapshot, &commands);
}

#[test]
fn checks_of_objects_end_in_time() {
    let commands = [
        "check FILE -n 2 --operations 2",
        "check FILE -n 3 --operations grow",
        "points FILE --processes 2,3 --operations 2",
    ];
    hunt(seeds(3, 40), texts::register, &commands);
}

/// Of six that each take all that they may: with a limit for each of them it takes six times as long.
#[test]
fn time_limit_applies_to_all_checks_together() {
    let after = AFTER.as_secs_f64().to_string();
    let all = "check afek_bounded attiya_welch jayanti -n 4,5 --threads 1 --time";
    let arguments: Vec<&str> = all.split(' ').chain([after.as_str()]).collect();
    let is_in_time = (0..TRIES).any(|_| {
        let began = Instant::now();
        let (code, text) = PROGRAM.answer(&arguments);
        assert_eq!(code, 3, "{text}");
        began.elapsed() < AFTER * 6
    });
    assert!(is_in_time);
}

/// The text comes once it was wanted: until then, the program has not read it.
#[test]
fn ctrl_c_interrupts_reading_of_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("text.snapshot");
    assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
    let mut command = Command::new(PROGRAM.path());
    command.args(["check", "-n", "5"]).arg(&place).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut pipe = fs::File::options().write(true).open(&place).unwrap();
    interrupt(child.id());
    // Nobody may be left to read it.
    let _ = pipe.write_all(corpus::algorithm("jayanti").unwrap().text.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(3) && text.contains("interrupted"), "{output:?}");
}

/// Calls of calls: 2^40 statements in one step. It is refused, as for a given n.
#[test]
fn a_computation_that_is_too_long_is_refused_for_every_n() {
    let chain: String = (0..40)
        .map(|number| {
            let next = number + 1;
            format!("procedure p{number}():\n    p{next}()\n    p{next}()\n")
        })
        .collect();
    let text = format!(
        "algorithm calls\nshared a[segment]: value\nupdate(v):\n    p0()\n    a[me] := v\nscan:\n    local \
         copy[segment]: value\n    for s in segments: copy[s] := a[s]\n    return copy\n{chain}procedure \
         p40():\n    skip\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.snapshot").display().to_string();
    fs::write(&file, text).unwrap();
    for which in [&["-n", "every"][..], &["-n", "2", "--method", "proof"], &["-n", "2"]] {
        let (code, text) = PROGRAM.answer(&[&["check", &file], which].concat());
        assert!(
            code == 2 && text.contains("the computation is too long"),
            "{which:?}: {code} {text}"
        );
    }
}
