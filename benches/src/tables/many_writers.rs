//! Histories in which any process may update any segment: ours, and the peers.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use corpus::generate::{Contradiction, ManyWriters};
use snapshot_test::format::Format;
use snapshot_test::generate::generate_many;

use super::{Measuring, Question, TableError};
use crate::method::METHODS;
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "many-writers";

/// Seconds that a history may take.
pub const PATIENCE: f64 = 20.0;

const SEGMENTS: usize = 4;

/// Processes, operations, and how many histories of that size, each with its wrong twins.
const SIZES: [(usize, usize, u64); 8] = [
    (8, 16, 4),
    (8, 40, 4),
    (8, 200, 4),
    (16, 1_000, 4),
    (16, 10_000, 1),
    (16, 1_000_000, 1),
    (373, 10_000, 1),
    (1_000, 1_000, 1),
];

/// What is planted: a value that another one had replaced, a value that returns, and a ring.
const PLANTED: [Option<Contradiction>; 4] =
    [None, Some(Contradiction::Block), Some(Contradiction::Return), Some(Contradiction::Ring)];

/// What one case must reach, by `linear`.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The case.
    pub case: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// Seconds of processor time, reading included.
    pub seconds: f64,
    /// Memory of the whole process, in MiB.
    pub mebibytes: Option<f64>,
}

const fn wanted(case: &'static str, what: &'static str, seconds: f64) -> Wanted {
    Wanted { case, what, seconds, mebibytes: None }
}

/// The targets, case by case.
pub const WANTED: [Wanted; 6] = [
    wanted("server-gets", "15,000 operations of 12 clients of a server, a GET per key", 0.1),
    wanted("server-mget", "the same with one MGET: linearizable", 1.0),
    Wanted {
        mebibytes: Some(1024.0),
        ..wanted("linearizable-16-1000000-0", "10^6 operations, 16 overlapping: linearizable", 5.0)
    },
    Wanted {
        mebibytes: Some(1024.0),
        ..wanted("ring-16-1000000-0", "the same with a planted ring", 5.0)
    },
    wanted("linearizable-373-10000-0", "10^4 operations, 373 overlapping: linearizable", 2.0),
    wanted("linearizable-1000-1000-0", "1,000 operations, all concurrent: linearizable", 0.5),
];

/// Measures recordings of a server: `gets.txt`, a violation, and `mget.txt`, linearizable.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure_server(measuring: &mut Measuring, directory: &Path) -> Result<(), TableError> {
    for (name, is_linearizable) in [("gets", false), ("mget", true)] {
        let path = directory.join(name).with_extension("txt");
        let question = Question {
            group: format!("  15000 operations of a server, {}", name.to_uppercase()),
            x: None,
            expected: Some(Outcome::of(is_linearizable)),
            case: format!("server-{name}"),
        };
        for method in METHODS {
            measuring.judge(&question, method, &["--recording".into(), (&path).into()])?;
        }
    }
    Ok(())
}

/// Measures all of the generated ones; quick: the smallest.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("recording");
    let sizes = SIZES.into_iter().take(if quick { 1 } else { SIZES.len() });
    for (processes, operations, seeds) in sizes {
        for violation in PLANTED {
            for seed in 0..if quick { 1 } else { seeds } {
                let mut recipe = ManyWriters::new(processes, SEGMENTS, operations, seed);
                recipe.violation = violation;
                let output = BufWriter::new(File::create(&path)?);
                generate_many(&recipe, Format::Text, &[], output)
                    .map_err(|error| std::io::Error::other(error.to_string()))?;
                let planted = violation.map_or("linearizable", Contradiction::name);
                let question = Question {
                    group: format!(
                        "{operations:>7} operations, {processes:>4} processes, {planted}"
                    ),
                    x: None,
                    expected: Some(Outcome::of(violation.is_none())),
                    case: format!("{planted}-{processes}-{operations}-{seed}"),
                };
                for method in METHODS {
                    measuring.judge(&question, method, &["--recording".into(), (&path).into()])?;
                }
            }
        }
    }
    Ok(())
}
