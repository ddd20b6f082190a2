//! A short run of each fuzz target: its seeds, each unchanged, cut off, and spoilt.
//! `SNAPSHOT_EFFORT=night cargo test -p fuzz-checks --lib smoke::import_edn` multiplies the number
//! of inputs by a thousand.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use snapshot_test::format::Format;
use test_support::effort::by_effort;

use crate::{
    agreement, algorithm, checkpoint, cli, history, import, parse, proof, seeds, simple, trace,
};

/// A test for each target, with this number of spoilt inputs of each seed; and the names of all
/// targets.
macro_rules! targets {
    ($($name:ident($count:literal): $check:expr;)*) => {
        const TARGETS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                run(stringify!($name), $check, $count);
            }
        )*
    };
}

targets! {
    check_against_oracle(40): |bytes| agreement::check(&history::history(bytes));
    simple_against_oracle(40): of_word;
    parse_text(100): |bytes| parse::check(Format::Text, bytes);
    parse_jsonl(100): |bytes| parse::check(Format::Jsonl, bytes);
    parse_disc22(100): |bytes| parse::check(Format::Disc22, bytes);
    parse_algorithm(5): algorithm::check;
    import_edn(100): import::check_edn;
    import_intervals(100): import::check_intervals;
    certificate_recording(100): proof::check_recording;
    certificate_one_n(8): proof::check_one_n;
    certificate_every_n(4): proof::check_every_n;
    trace(100): trace::check;
    checkpoint(100): checkpoint::check;
    cluster_frames(100): cli::cluster::check;
    language_server(10): cli::lsp::check;
}

fn of_word(bytes: &[u8]) {
    let (processes, letters) = simple::word(bytes);
    simple::check(processes, letters);
}

/// Bytes with a meaning in one of the languages.
const TELLING: &[u8] = b"0123456789-_.,:;{}[]()\"\\'#@!^ \n\t\0\x7f\xff\xc3pe";

fn spoilt(seed: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = random.random_range(0..bytes.len());
        let to = (at + random.random_range(0..40)).min(bytes.len());
        match random.random_range(0..6) {
            0 => bytes.truncate(at),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = TELLING[random.random_range(0..TELLING.len())],
            3 => drop(bytes.drain(at..to)),
            4 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes.insert(at, TELLING[random.random_range(0..TELLING.len())]),
        }
    }
    bytes
}

/// Runs a target on its seeds and on variants of them.
fn run(name: &str, check: impl Fn(&[u8]), count: u64) {
    let seeds = seeds::of(name);
    let times = by_effort(1, 10, 1_000);
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut inputs = 0;
    for seed in &seeds {
        check(seed);
        for _ in 0..count * times {
            check(&spoilt(seed, &mut random));
            inputs += 1;
        }
    }
    println!("{name}: {inputs} spoilt inputs of {} seeds", seeds.len());
}

#[test]
fn every_target_is_run_here() {
    let manifest = include_str!("../../Cargo.toml");
    let declared = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"));
    let mut declared: Vec<&str> = declared.filter_map(|line| line.strip_suffix(".rs\"")).collect();
    let mut run = TARGETS.to_vec();
    declared.sort_unstable();
    run.sort_unstable();
    assert_eq!(declared, run);
}
