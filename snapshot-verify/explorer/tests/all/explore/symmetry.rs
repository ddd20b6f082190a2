//! Processes that the symmetry exchanges have the same behaviour.

use std::mem::discriminant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::Scalar;
use snapshot_explorer::pipeline::{self, Prepared};
use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::product::Scratch;
use snapshot_explorer::search::{Exploration, Stop, Symmetry};
use snapshot_language::parse;

/// All processes are interchangeable. A process that interferes between two collects is visible in
/// a name, in a link and in a private variable; a scan then sometimes returns a wrong result.
const ALL_ALIKE: &str = "algorithm all_alike
shared r[segment]: value
shared last: process or none
shared turn: llsc bit
private kept: view
update(v):
    t := LL(turn)
    r[me] := v
    last := me
    SC(turn, not t)
scan:
    local a[segment]: value
    p := last
    atomic: for k in segments: a[k] := r[k]
    if last != p: return kept
    atomic: for k in segments: kept[k] := r[k]
    return a
";

/// Walks at random; returns the number of canonical forms that exchanged processes, and the number
/// of violations met.
fn walk(text: &str, processes: usize, operations: Option<u32>) -> [u32; 2] {
    let program = parse("alike", text).unwrap().program(None).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let instance = pipeline::instance(&program, processes, pair, Deadline::NEVER).unwrap();
    let prepared =
        Prepared::from_instance(instance, Reductions::standard(), Deadline::NEVER).unwrap();
    let symmetry =
        prepared.symmetry(|_| true, Deadline::NEVER).unwrap().expect("there are processes alike");
    let exploration = Exploration {
        operations,
        numbering: prepared.numbering.as_ref().map(|numbering| numbering as _),
        ..Exploration::default()
    };
    let walked = exploration.product(&prepared.instance, |product| {
        let registers = product.layout().registers();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut machine = Scratch::new(product).machine;
        let mut met = [0; 2];
        let mut state = product.initial().0;
        for _ in 0..4000 {
            let mut image = state.clone();
            let by = symmetry.canonicalise(registers, &mut image);
            let mut everybody = (0..processes).map(Process::from_index);
            met[0] += u32::from(everybody.any(|process| by.image(process) != process));
            machine.begin();
            machine.state_mut().copy_from_slice(&state);
            let moves = product.moves(&machine);
            let mut after = |from: &[Scalar], process, choice| {
                machine.begin();
                machine.state_mut().copy_from_slice(from);
                let done = product.take(process, choice, &mut machine);
                (done, machine.state().to_vec())
            };
            let mut next = Vec::new();
            for (process, choice) in moves {
                let (one, there) = after(&state, process, choice);
                let (two, right) = after(&image, by.image(process), choice);
                let kind = |done: Result<(), Stop>| done.err().map(|stop| discriminant(&stop));
                assert_eq!(kind(one), kind(two), "{process} {choice:?}");
                let mut left = there.clone();
                symmetry.permute(registers, &by, &mut left);
                assert_eq!(left, right, "{process} {choice:?} in {state:?}");
                met[1] += u32::from(one.is_err());
                next.extend(one.is_ok().then_some(there));
            }
            state = match next.len() {
                0 => product.initial().0,
                ways => next.swap_remove(random.random_range(0..ways)),
            };
        }
        met
    });
    walked.unwrap()
}

#[test]
fn exchanged_processes_behave_alike() {
    let bowman = corpus::algorithm("bowman").unwrap().text;
    for (processes, operations) in [(4, None), (5, Some(3))] {
        for text in [ALL_ALIKE, bowman] {
            let [exchanged, violations] = walk(text, processes, operations);
            assert!(exchanged > 100, "{processes}: {exchanged} times");
            assert!(text == bowman || violations > 10, "{processes}: {violations}");
        }
    }
}
