//! `check --cluster` over a network that is slow, and one that is cut.
//!
//! Process 1 knows process 0 by the address of a relay, which passes on what comes, piece by piece.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::cluster::{CASE, counts, ended, hosts, kills, start};
use super::json;

/// Both greetings: a process that is cut off before these is called again, for a minute.
const GREETINGS: u64 = 2 * 32;

/// What passes between two processes.
struct Relay {
    /// Bytes that still pass; with the next one the connection is cut.
    left: AtomicI64,
    /// Bytes that have passed.
    passed: AtomicU64,
    /// What each piece waits for.
    delay: Duration,
}

impl Relay {
    /// Passes on what comes to the address that is returned.
    fn start(to: String, left: u64, delay: Duration) -> (String, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let left = AtomicI64::new(left.try_into().unwrap());
        let relay = Arc::new(Self { left, passed: AtomicU64::new(0), delay });
        let shared = Arc::clone(&relay);
        thread::spawn(move || {
            for caller in listener.incoming() {
                // Until process 0 listens, the caller is cut off, and calls again.
                let (Ok(caller), Ok(called)) = (caller, TcpStream::connect(&to)) else { continue };
                for (from, to) in [(&caller, &called), (&called, &caller)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let relay = Arc::clone(&shared);
                    thread::spawn(move || relay.pass(from, to));
                }
            }
        });
        (address, relay)
    }

    /// Passes on what comes from one to the other, until the connection is cut, or one of them
    /// ends it.
    fn pass(&self, mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
        let mut piece = [0; 1 << 12];
        loop {
            let read = from.read(&mut piece).unwrap_or(0);
            let left = self.left.fetch_sub(read as i64, Ordering::Relaxed);
            let passed = (read as i64).min(left).max(0) as usize;
            thread::sleep(self.delay);
            to.write_all(&piece[..passed])?;
            self.passed.fetch_add(passed as u64, Ordering::Relaxed);
            if read == 0 {
                return to.shutdown(Shutdown::Write);
            }
            if passed < read {
                to.shutdown(Shutdown::Both)?;
                return from.shutdown(Shutdown::Both);
            }
        }
    }
}

/// The file of hosts of process 1: it knows process 0 by another address.
fn by(hosts: &Path, address: &str) -> PathBuf {
    let text = fs::read_to_string(hosts).unwrap();
    let rest = text.split_once('\n').unwrap().1;
    let path = hosts.with_extension("relayed");
    fs::write(&path, format!("{address}\n{rest}")).unwrap();
    path
}

/// What both processes print, and how many bytes passed between them.
fn relayed(case: &str, left: u64, delay: Duration) -> (Vec<(Option<i32>, String, String)>, u64) {
    let (_folder, hosts) = hosts(2);
    let first = fs::read_to_string(&hosts).unwrap().lines().next().unwrap().to_owned();
    let (address, relay) = Relay::start(first, left, delay);
    let others = by(&hosts, &address);
    let ended = ended(vec![start(case, &hosts, 0), start(case, &others, 1)]);
    (ended, relay.passed.load(Ordering::Relaxed))
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

/// Wherever the connection is cut, each process has the answer, or says which other it has lost.
#[test]
fn when_the_network_is_cut_both_say_so() {
    let (whole, total) = relayed(CASE, 1 << 40, Duration::ZERO);
    let is_right = |out: &str| out.contains("verified (");
    assert!(whole[0].0 == Some(0) && is_right(&whole[0].1), "{whole:?}");
    let mut random = ChaCha8Rng::seed_from_u64(224);
    let (mut cut, mut answered) = (0, 0);
    for number in 0..=kills() {
        // Some behind the greetings, some when nearly all is said.
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
                    assert!(process > 0 || out == &whole[0].1, "{left} of {total}: {ended:?}");
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
