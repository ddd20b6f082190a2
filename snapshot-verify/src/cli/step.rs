//! `replay --step`: an execution, forwards and backwards in a terminal.

use std::io::{self, BufRead};

use snapshot_io::output::Printed;
use snapshot_verify::interpret::{Machine, Move};

/// Commands of the user.
const HELP: &str = "Enter: on; b: back; a number: that step; e: to the end; q: quit;\n\
                    a: all cells and variables, or the changed ones; ?: this help";

/// A command of the user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Wish {
    On,
    Back,
    To(usize),
    End,
    All,
    Quit,
    Help,
}

impl Wish {
    fn new(line: &str) -> Self {
        match line.trim() {
            "" | "n" | "next" => Self::On,
            "b" | "p" | "back" => Self::Back,
            "e" | "end" => Self::End,
            "a" | "all" => Self::All,
            "q" | "quit" | "exit" => Self::Quit,
            other => other.parse().map_or(Self::Help, Self::To),
        }
    }
}

/// Shows steps at the commands of `input`, until it ends or quits, the last step has been left, or
/// the output is closed. Each step is computed from the beginning: O(number of the step).
///
/// # Errors
/// If the input cannot be read or `print` fails.
pub fn interact(
    machine: &Machine<'_>,
    moves: &[Move],
    mut is_full: bool,
    mut input: impl BufRead,
    mut print: impl FnMut(&str) -> io::Result<Printed>,
) -> io::Result<()> {
    let last = moves.len();
    let mut shown = format!("{last} steps. {HELP}\n");
    let mut at = 0;
    let mut line = String::new();
    loop {
        if print(&format!("{shown}{at} of {last}> "))? == Printed::Closed {
            return Ok(());
        }
        line.clear();
        let wish = match input.read_line(&mut line)? {
            0 => Wish::Quit,
            _ => Wish::new(&line),
        };
        match wish {
            Wish::On if at == last => break,
            Wish::On => at += 1,
            Wish::Back => at = at.saturating_sub(1),
            Wish::To(step) => at = step.min(last),
            Wish::End => at = last,
            Wish::All => is_full = !is_full,
            Wish::Quit => break,
            Wish::Help => {
                shown = format!("{HELP}\n");
                continue;
            }
        }
        shown = match machine.replay(&moves[..at]).last() {
            None => "   0  nothing has happened\n".to_owned(),
            Some(Ok(scene)) => scene.text(is_full),
            Some(Err(wrong)) => format!("{at:>4}  {wrong}\n"),
        };
    }
    print("\n").map(|_| ())
}
