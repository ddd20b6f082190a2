//! The model for Spin, `peers/bowman.pml`: a verifier is generated, compiled, run.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use super::{Counts, expected};

const MODEL: &str = include_str!("../../peers/bowman.pml");

/// How Spin remembers states. Both are exact.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Storage {
    /// As they are, with small compression: its default, and its fastest.
    Plain,
    /// Collapse compression (`-DCOLLAPSE`): slower, less memory for large states.
    Collapse,
}

/// Why there is no verifier.
#[derive(Debug, Error)]
pub enum SpinError {
    /// A program is not installed.
    #[error("`{program}` cannot be run: {cause}; benches/peers/install.sh installs it")]
    Missing {
        /// Which.
        program: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// A program refused its input.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// Which.
        program: &'static str,
        /// What it said.
        message: String,
    },
    /// A file could not be written.
    #[error("the model cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// Whether Spin is installed.
pub fn is_installed() -> bool {
    Command::new("spin").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// Compiles the verifier for n processes in a directory that is there for it alone;
/// the program and its arguments.
///
/// No partial-order reduction, since states are to be counted; no cycle detection,
/// which is of no use here. The hash table has as many slots as there are states,
/// and the search stack ample room for the longest path (1,554, 12,035 and 93,792
/// steps for n = 3, 4 and 5), since Spin takes memory for both at once.
///
/// # Errors
/// If Spin or the C compiler is missing, or fails.
pub fn verifier(
    processes: usize,
    storage: Storage,
    directory: &Path,
) -> Result<(OsString, Vec<OsString>), SpinError> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("bowman.pml"), MODEL)?;
    run("spin", directory, &["-a", &format!("-DN={processes}"), "bowman.pml"])?;
    let mut flags = vec!["-O3", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"];
    if storage == Storage::Collapse {
        flags.push("-DCOLLAPSE");
    }
    run("cc", directory, &flags)?;
    let slots = expected(processes).map_or(24, |counts| counts.states.ilog2() + 1);
    let depth = 5 * 10_u64.pow(processes.clamp(3, 6) as u32);
    let arguments = [format!("-w{slots}"), format!("-m{depth}")].map(OsString::from);
    let program: PathBuf = directory.canonicalize()?.join("pan");
    Ok((program.into(), arguments.to_vec()))
}

fn run(program: &'static str, directory: &Path, arguments: &[&str]) -> Result<(), SpinError> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .map_err(|cause| SpinError::Missing { program, cause })?;
    if output.status.success() {
        return Ok(());
    }
    let message = [output.stdout, output.stderr].concat();
    let message = String::from_utf8_lossy(&message).into_owned();
    Err(SpinError::Failed { program, message })
}

/// What a verifier printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Printed {
    /// It explored everything, and counted this, to its [precision](printed).
    Verified(Counts),
    /// An assertion failed.
    Violation,
    /// It did not get to the end.
    Unfinished,
}

/// A verifier prints numbers to this many digits: with C's `%.8g`.
const DIGITS: usize = 8;

/// These counts as [`read`] finds them in what a verifier prints, which is exact only
/// up to eight digits: 331,569,418 transitions become 331,569,420. A comparison
/// with the counts of a verifier takes these.
pub fn printed(counts: Counts) -> Counts {
    Counts {
        states: rounded(counts.states),
        transitions: without_first(rounded(counts.transitions.saturating_add(1))),
    }
}

/// A number to [`DIGITS`] digits; a tie goes to the even digit, as in C.
fn rounded(number: u64) -> u64 {
    let digits = number.checked_ilog10().map_or(1, |log| log as usize + 1);
    let unit = 10_u64.pow(digits.saturating_sub(DIGITS) as u32);
    let (below, rest) = (number / unit, number % unit);
    let up = match rest.cmp(&(unit - rest)) {
        Ordering::Less => 0,
        Ordering::Equal => below % 2,
        Ordering::Greater => 1,
    };
    (below + up).saturating_mul(unit)
}

/// Spin counts entering the initial state as a transition; the other tools do not.
/// In a number that is rounded there is no telling it.
const fn without_first(transitions: u64) -> u64 {
    match transitions < 10_u64.pow(DIGITS as u32) {
        true => transitions.saturating_sub(1),
        false => transitions,
    }
}

/// Reads what a verifier printed.
pub fn read(output: &str) -> Printed {
    if output.contains("assertion violated") {
        return Printed::Violation;
    }
    let number = |label: &str| -> Option<u64> {
        let line = output.lines().find(|line| line.contains(label))?;
        whole(line.split_whitespace().next()?)
    };
    let is_complete = output.contains("errors: 0")
        && !output.contains("search not completed")
        && !output.contains("max search depth too small");
    match (is_complete, number(" states, stored"), number(" transitions (=")) {
        (true, Some(states), Some(transitions)) => {
            Printed::Verified(Counts { states, transitions: without_first(transitions) })
        }
        _ => Printed::Unfinished,
    }
}

/// A whole number in digits, `9276498`, or in scientific notation, `3.3156942e+08`.
fn whole(text: &str) -> Option<u64> {
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.parse().ok() };
    let exponent: usize = exponent.strip_prefix('+')?.parse().ok()?;
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = "0".repeat(exponent.checked_sub(after.len()).filter(|zeros| *zeros < DIGITS * 2)?);
    [before, after, &zeros].concat().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where Spin is installed, it is asked; elsewhere there is nothing to test.
    fn answer(model: &str, processes: usize) -> Option<Printed> {
        if !is_installed() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        verifier(processes, Storage::Plain, directory.path()).unwrap();
        fs::write(directory.path().join("bowman.pml"), model).unwrap();
        run("spin", directory.path(), &["-a", &format!("-DN={processes}"), "bowman.pml"]).unwrap();
        run("cc", directory.path(), &["-O2", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"])
            .unwrap();
        let output = Command::new("./pan").current_dir(directory.path()).output().unwrap();
        Some(read(&String::from_utf8_lossy(&output.stdout)))
    }

    #[test]
    fn it_counts_what_all_count() {
        if let Some(answer) = answer(MODEL, 3) {
            assert_eq!(Some(answer), expected(3).map(Printed::Verified));
        }
    }

    #[test]
    fn its_observer_finds_the_early_exit() {
        let (right, wrong) = (":: named == _pid\n", ":: named != NONE\n");
        assert_eq!(MODEL.matches(right).count(), 1);
        let guard = "named != _pid ->";
        assert_eq!(MODEL.matches(guard).count(), 1);
        let buggy = MODEL.replace(right, wrong).replace(guard, "named == NONE ->");
        if let Some(answer) = answer(&buggy, 3) {
            assert_eq!(answer, Printed::Violation);
        }
    }

    /// The end of what a verifier prints.
    fn statistics(states: &str, transitions: &str) -> String {
        format!(
            "State-vector 28 byte, depth reached 93792, errors: 0\n{states:>9} states, stored\n\
             2.6951411e+08 states, matched\n{transitions:>9} transitions (= stored+matched)\n"
        )
    }

    #[test]
    fn large_counts_are_rounded_in_print_and_compared_so() {
        let known = expected(5).unwrap();
        let printed_as = |transitions| match read(&statistics("62055312", transitions)) {
            Printed::Verified(counts) => counts,
            other => panic!("{transitions}: {other:?}"),
        };
        assert_eq!(printed_as("3.3156942e+08"), printed(known));
        for wrong in ["3.3156941e+08", "3.3156943e+08", "33156942", "3.3156942e+09"] {
            assert_ne!(printed_as(wrong), printed(known), "{wrong}");
        }
        let fewer = read(&statistics("62055311", "3.3156942e+08"));
        assert_ne!(fewer, Printed::Verified(printed(known)));
        for broken in ["3.3156942e-08", "3.3156942e", "3.3.1e+08", "-3e+08", "1.5e+00", "1e+99"] {
            assert_eq!(read(&statistics("62055312", broken)), Printed::Unfinished, "{broken}");
        }
    }

    #[test]
    fn small_counts_are_compared_exactly() {
        let known = expected(4).unwrap();
        assert_eq!(printed(known), known);
        assert_eq!(read(&statistics("2151306", "9276498")), Printed::Verified(known));
        assert_ne!(read(&statistics("2151306", "9276499")), Printed::Verified(known));
    }

    #[test]
    fn it_rounds_as_c_does() {
        // What `printf("%.8g")` makes of them.
        for (number, text) in [
            (0, "0"),
            (99_999_999, "99999999"),
            (100_000_000, "1e+08"),
            (331_569_415, "3.3156942e+08"),
            (331_569_425, "3.3156942e+08"),
            (331_569_426, "3.3156943e+08"),
            (999_999_995, "1e+09"),
            (12_345_678_949, "1.2345679e+10"),
        ] {
            assert_eq!(Some(rounded(number)), whole(text), "{number}");
        }
    }

    #[test]
    fn only_a_finished_search_is_an_answer() {
        let whole = "State-vector 28 byte, depth reached 1553, errors: 0\n    7 states, stored\n   \
                     10 transitions (= stored+matched)\n";
        assert_eq!(read(whole), Printed::Verified(Counts { states: 7, transitions: 9 }));
        let cut = format!("error: max search depth too small\n{whole}");
        assert_eq!(read(&cut), Printed::Unfinished);
        assert_eq!(read(""), Printed::Unfinished);
        assert_eq!(read("pan:1: assertion violated (copy0>=must0)"), Printed::Violation);
    }
}
