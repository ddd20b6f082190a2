//! Initial inputs of the targets: the files of `seeds`, and generated ones from the corpus and the
//! programs. `SNAPSHOT_FUZZ_SEEDS=fuzz/corpus cargo test -p fuzz-checks --lib smoke` writes them for a
//! fuzzer.

use std::path::Path;
use std::{env, fs};

use snapshot_core::Process;
use snapshot_verify::certificate::{self, Claim, Coverage};
use snapshot_verify::verify::every::{Rungs, every_by};
use snapshot_verify::verify::{Request, Unwatched};

use crate::agreement::tests::noise;
use crate::proof::{programs, within};

/// Returns all seeds of a target.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target);
    let mut seeds = made(target);
    if let Ok(entries) = fs::read_dir(folder) {
        let mut files: Vec<_> =
            entries.map(|entry| entry.expect("it can be read").path()).collect();
        files.sort();
        seeds.extend(files.iter().map(|file| fs::read(file).expect("it can be read")));
    }
    assert!(!seeds.is_empty(), "{target} has seeds");
    if let Some(folder) = env::var_os("SNAPSHOT_FUZZ_SEEDS") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join(target);
        fs::create_dir_all(&folder).expect("it can be made");
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed_{number}")), seed).expect("it can be written");
        }
    }
    seeds
}

/// Returns the generated seeds of a target.
fn made(target: &str) -> Vec<Vec<u8>> {
    let small = || corpus::small("two_increments").as_bytes().to_vec();
    match target {
        "check_against_oracle" | "simple_against_oracle" => noise(4, 64).collect(),
        "parse_algorithm" => {
            let register = corpus::algorithm("atomic_register").expect("it ships");
            vec![small(), register.text.as_bytes().to_vec()]
        }
        // The first bytes choose the changes of the text behind them.
        "language_server" => {
            let changes = noise(1, 64).next().expect("one");
            let returns = small().into_iter().map(|byte| if byte == b'\n' { b'\r' } else { byte });
            let returns = changes.iter().copied().chain(returns).collect();
            vec![[changes, small()].concat(), returns]
        }
        "certificate_one_n" => vec![one_n()],
        "certificate_every_n" => vec![every_n()],
        _ => Vec::new(),
    }
}

/// Returns a certificate of `bowman` for two processes.
pub(crate) fn one_n() -> Vec<u8> {
    let programs = programs();
    let claim = Claim {
        algorithm: "bowman".to_owned(),
        bug: None,
        digest: programs.digest.clone(),
        processes: 2,
        operations: None,
        coverage: Coverage { antichain: true, symmetry: false },
        pairs: vec![[Process::from_index(0), Process::from_index(1)]],
    };
    let mut written = Vec::new();
    within(|budget| certificate::write(&programs.right, &claim, &mut written, budget))
        .expect("it has one");
    written
}

/// Returns a certificate of `bowman` for every n.
pub(crate) fn every_n() -> Vec<u8> {
    let programs = programs();
    let proof = every_by(
        &programs.right,
        &Request::new(2),
        &Rungs::default(),
        false,
        &Unwatched::default(),
    )
    .expect("it is proved");
    let mut written = Vec::new();
    let size = proof.write_certificate(&programs.right, programs.digest.clone(), &mut written);
    assert!(size.expect("memory suffices").is_some(), "there is a proof");
    written
}
