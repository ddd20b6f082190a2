//! An instance as a model in Promela, for Spin (Holzmann, *The SPIN Model Checker*, 2003).
//!
//! A single Promela process makes all moves, each a `d_step`. So Spin stores only the states
//! between moves, and finds an assertion violated iff a simple execution is wrong. Macros add what
//! progress needs: a label, and a claim.

mod steps;

use std::fmt::Write;

use super::names::Names;
use super::{ExportError, LONGEST, about, check};
use crate::instance::{Domain, Instance, Location, NONE, Owner, Scalar, Slot};
use steps::Steps;

/// The type of all slots, and the encoding of `none`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Width {
    name: &'static str,
    none: Scalar,
}

impl Width {
    /// Returns the smallest type that holds all scalars of the instance.
    fn new(instance: &Instance) -> Self {
        let (mut least, mut most) = (0, 0);
        for slot in &instance.slots {
            match slot.domain {
                Domain::Range { low, high, .. } => (least, most) = (least.min(low), most.max(high)),
                Domain::Version { .. } | Domain::Counter { .. } => most = Scalar::MAX,
            }
        }
        let holds = |low: Scalar, high: Scalar| low <= least && most <= high;
        if holds(0, 254) {
            Self { name: "byte", none: 255 }
        } else if holds(-32_766, 32_767) {
            Self { name: "short", none: -32_767 }
        } else {
            Self { name: "int", none: -Scalar::MAX }
        }
    }

    /// Returns the encoding of a scalar.
    fn scalar(self, scalar: Scalar) -> Scalar {
        if scalar == NONE { self.none } else { scalar }
    }
}

/// Returns the model of an instance, with at most `operations` per process, if given. `title` is a
/// one-line description.
///
/// # Errors
/// If the instance has reactions, or the model would be too long.
pub fn promela(
    instance: &Instance,
    operations: Option<u32>,
    title: &str,
) -> Result<String, ExportError> {
    check(instance, operations)?;
    let names = Names::new(instance);
    let width = Width::new(instance);
    let mut out = String::new();
    heading(&mut out, instance, operations, title);
    state(&mut out, instance, operations, &names, width);
    observer(&mut out);
    for process in 0..instance.processes {
        leave(&mut out, instance, process, &names, width);
    }
    Steps::new(instance, operations, &names, width, &mut out).write()?;
    Ok(out)
}

/// Escapes text for a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r', '\\', '"'], " ")
}

fn heading(out: &mut String, instance: &Instance, operations: Option<u32>, title: &str) {
    let grows = |slot: &Slot| matches!(slot.domain, Domain::Counter { .. });
    let _ = write!(
        out,
        "/* {}\n *\n * {}\n * A failed assertion is a violation of linearizability, or `fault`: the \
         program goes wrong.\n",
        comment(title),
        about(instance, operations)
    );
    if operations.is_none() && instance.slots.iter().any(grows) {
        out.push_str(" * It has counters, and infinitely many states without --operations.\n");
    }
    // Spin's own data takes a part of its limit on the bytes of a state.
    let vector = match instance.slots.len() * 4 > 800 {
        true => " -DVECTORSZ=65536",
        false => "",
    };
    let _ = write!(
        out,
        " *\n *   spin -o2 -a MODEL\n *   cc -O2 -DSAFETY -DNOREDUCE{vector} -o pan pan.c && ./pan \
         -m1000000\n *\n * Without -o2 Spin leaves variables out of states that are never read, and \
         counts fewer.\n *\n * With -DPROGRESS, a state behind a begin or an end of an operation is a \
         progress state:\n * a non-progress cycle refutes freedom from locks.\n *\n *   spin -DPROGRESS \
         -o2 -a MODEL\n *   cc -O2 -DNP -DNOREDUCE{vector} -o pan pan.c && ./pan -l -E -m1000000\n *\n * \
         With -DFAIR, an acceptance cycle refutes freedom from deadlock under weak fairness.\n *\n *   \
         spin -DFAIR -o2 -a MODEL\n *   cc -O2 -DNOREDUCE{vector} -o pan pan.c && ./pan -a -E \
         -m1000000\n */\n"
    );
}

fn state(
    out: &mut String,
    instance: &Instance,
    operations: Option<u32>,
    names: &Names,
    width: Width,
) {
    let _ = write!(out, "\n#define NONE ({})\n\n", width.none);
    for (slot, name) in instance.slots.iter().zip(&names.slots) {
        let initial = width.scalar(slot.meaningless().unwrap_or(slot.initial));
        let initial = if initial == width.none { "NONE".to_owned() } else { initial.to_string() };
        let _ = writeln!(out, "{} {name} = {initial};\t/* {} */", width.name, comment(&slot.name));
    }
    out.push_str("\n/* Where each process stands; 0: no operation is open. */\n");
    let most = instance.graphs.iter().map(|graph| graph.locations.len()).max().unwrap_or(0);
    let name = if most <= 256 { "byte" } else { "int" };
    for process in 0..instance.processes {
        let _ = writeln!(out, "{name} at_{process} = {};", Location::IDLE.index());
    }
    if let Some(bound) = operations {
        out.push_str("\n/* The operations that are left. */\n");
        for process in 0..instance.processes {
            let _ = writeln!(out, "byte left_{process} = {bound};");
        }
    }
    let names: Vec<String> = (0..instance.processes)
        .flat_map(|process| [format!("must_i_{process}"), format!("must_j_{process}")])
        .collect();
    let _ = write!(
        out,
        "\n/* The observer: what was invoked, what scans must return from now on, or must not,\n   \
         and what the open scan of each process must return. */\n\
         bit invoked_i, invoked_j, needed_i, needed_j, bad_01, bad_10;\nbit {};\n\n\
         /* Used within a step, and 0 between steps. */\n\
         int block, returned_i, returned_j, foreign, fresh;\nbit fault;\n",
        names.join(", ")
    );
    progress(out, instance.processes);
}

/// Writes the variables for progress, and the claim that refutes freedom from deadlock: from some
/// time on no operation begins or ends, while each process with an open operation goes on moving.
fn progress(out: &mut String, processes: usize) {
    out.push_str(
        "
#ifdef FAIR
#define PROGRESS
#endif

#ifdef PROGRESS
/* Of the last move: whether it began or ended an operation, and its process. */
bit event;
byte mover;
#define BEGINS(p) event = 1; mover = p;
#define STEPS(p) event = 0; mover = p;
#define ENDS event = 1;
#else
#define BEGINS(p)
#define STEPS(p)
#define ENDS
#endif
",
    );
    let idle = Location::IDLE.index();
    let moves = (0..processes).map(|p| format!(" && []<>(at_{p} == {idle} || mover == {p})"));
    let moves: String = moves.collect();
    let claim = format!("ltl deadlock_free {{ !(<>[](event == 0){moves}) }}");
    let _ = write!(out, "\n#ifdef FAIR\n{claim}\n#endif\n");
}

/// Writes the transitions of the observer that are more than an assignment.
fn observer(out: &mut String) {
    out.push_str(
        "
inline invoke_update_i() {
	if
	:: !invoked_i -> invoked_i = 1; bad_10 = bad_10 | needed_j
	:: else
	fi
}

inline invoke_update_j() {
	if
	:: !invoked_j -> invoked_j = 1; bad_01 = bad_01 | needed_i
	:: else
	fi
}

inline respond_scan(ones_i, ones_j) {
	assert(!foreign);
	assert(returned_i >= ones_i && returned_j >= ones_j);
	assert(returned_i <= invoked_i && returned_j <= invoked_j);
	if
	:: returned_i && !returned_j -> assert(!bad_10); bad_01 = 1
	:: !returned_i && returned_j -> assert(!bad_01); bad_10 = 1
	:: else
	fi;
	needed_i = needed_i | returned_i;
	needed_j = needed_j | returned_j;
	ones_i = 0; ones_j = 0; returned_i = 0; returned_j = 0
}
",
    );
}

/// Writes the resets at the end of an operation.
fn leave(out: &mut String, instance: &Instance, process: usize, names: &Names, width: Width) {
    let _ = write!(out, "\ninline leave_{process}() {{\n");
    for (slot, name) in instance.slots.iter().zip(&names.slots) {
        let is_own = matches!(slot.owner, Owner::Operation(owner) if owner.index() == process);
        if is_own && let Some(initial) = slot.meaningless() {
            let initial = width.scalar(initial);
            let initial =
                if initial == width.none { "NONE".to_owned() } else { initial.to_string() };
            let _ = writeln!(out, "\t{name} = {initial};");
        }
    }
    let _ = write!(out, "\tENDS\n\tat_{process} = {}\n}}\n", Location::IDLE.index());
}
