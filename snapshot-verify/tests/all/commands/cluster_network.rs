//! `check --cluster` over a network that is slow, and one that is cut.
//!
//! Process 1 reaches process 0 through a relay, which forwards bytes piece by piece.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use test_support::network::Relay;

use super::cluster::{CASE, counts, ended, hosts, kills, start};
use super::json;

/// Bytes of the handshake and both greetings: a process that is cut off before them is called
/// again, for a minute.
const GREETINGS: u64 = snapshot_io::join::BYTES + 2 * 32;

/// Returns the output of both processes, and the number of bytes between them.
fn relayed(case: &str, left: u64, delay: Duration) -> (Vec<(Option<i32>, String, String)>, u64) {
    let (_folder, hosts) = hosts(2);
    let (relay, others) = Relay::start(&hosts, left, delay);
    let ended = ended(vec![start(case, &hosts, 0), start(case, &others, 1)]);
    (ended, relay.passed())
}

#[test]
fn a_slow_network_gives_the_same_answer() {
    for (bug, code) in [("", 0), (" --bug early_exit", 1)] {
        let expected = counts(&json(code, &format!("{CASE}{bug}")));
        let case = format!("{CASE}{bug} --report json");
        let (ended, passed) = relayed(&case, 1 << 40, Duration::from_millis(1));
        assert!(passed > 100 * GREETINGS, "{passed} bytes");
        assert!(ended.iter().all(|(found, ..)| *found == Some(code)), "{ended:?}");
        let lines = ended[0].1.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(counts(&lines.collect::<Vec<_>>()), expected);
    }
}

/// Returns the output without the seconds and the memory.
fn timeless(out: &str) -> (&str, &str) {
    let (counts, rest) = out.split_once(" s, ").unwrap();
    (counts.rsplit_once(", ").unwrap().0, rest.split_once('\n').unwrap().1)
}

/// For any cut of the connection, each process has the answer, or names the process that it has
/// lost.
#[test]
fn cut_network_is_reported_by_both() {
    let (whole, total) = relayed(CASE, 1 << 40, Duration::ZERO);
    let is_right = |out: &str| out.contains("verified (");
    assert!(whole[0].0 == Some(0) && is_right(&whole[0].1), "{whole:?}");
    let mut random = ChaCha8Rng::seed_from_u64(224);
    let (mut cut, mut answered) = (0, 0);
    for number in 0..=kills() {
        // Some cuts are right after the greetings, some near the end.
        let left = match number {
            0 => GREETINGS,
            1 => total - 1,
            _ => GREETINGS + random.next_u64() % (total - GREETINGS),
        };
        let began = Instant::now();
        let (ended, _) = relayed(CASE, left, Duration::ZERO);
        assert!(began.elapsed() < Duration::from_secs(60), "they hang");
        for (process, (code, out, error)) in ended.iter().enumerate() {
            match code {
                Some(0) => {
                    answered += 1;
                    let is_same = process > 0 || timeless(out) == timeless(&whole[0].1);
                    assert!(is_same, "{left} of {total}: {ended:?}");
                }
                Some(2) => {
                    cut += 1;
                    let other = format!("process {} of the cluster", 1 - process);
                    assert!(
                        !is_right(out) && error.contains(&other),
                        "{left} of {total}: {ended:?}"
                    );
                }
                _ => panic!("{left} of {total}: {ended:?}"),
            }
        }
    }
    println!("{total} bytes: {cut} cut off, {answered} with the answer");
    assert!(cut > kills(), "most were cut off in time");
}
