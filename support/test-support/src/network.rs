//! Processes that find each other by a file of hosts, with a slow or cut network between them.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Writes a file that names this many processes on this machine, at free ports; returns its path.
///
/// # Panics
/// If no ports are free, or the file cannot be written.
pub fn hosts(folder: &Path, processes: usize) -> PathBuf {
    let bound = || TcpListener::bind("127.0.0.1:0").expect("a port that is free");
    let listeners: Vec<TcpListener> = (0..processes).map(|_| bound()).collect();
    let line = |bound: &TcpListener| bound.local_addr().map(|address| format!("{address}\n"));
    let lines: io::Result<String> = listeners.iter().map(line).collect();
    let path = folder.join("hosts");
    fs::write(&path, lines.expect("addresses of ports")).expect("room for a file");
    path
}

/// A relay of the bytes between two processes.
#[derive(Debug)]
pub struct Relay {
    /// Number of bytes that still pass; the next byte cuts the connection.
    left: AtomicI64,
    /// Number of bytes that have passed.
    passed: AtomicU64,
    /// Delay of each piece.
    delay: Duration,
}

impl Relay {
    /// Relays this many bytes to and from process 0 of these hosts. Returns the relay, and a file
    /// of hosts with the relay as the address of process 0.
    ///
    /// # Panics
    /// If the file does not list hosts, or no port is free.
    pub fn start(hosts: &Path, left: u64, delay: Duration) -> (Arc<Self>, PathBuf) {
        let text = fs::read_to_string(hosts).expect("a file of hosts");
        let (to, rest) = text.split_once('\n').expect("a line for each process");
        let to = to.to_owned();
        // The ports of the hosts are free until these run.
        let (listener, address) = loop {
            let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback works");
            let address = listener.local_addr().expect("the loopback works").to_string();
            if text.lines().all(|line| line != address) {
                break (listener, address);
            }
        };
        let left = AtomicI64::new(left.try_into().expect("a number of bytes"));
        let relay = Arc::new(Self { left, passed: AtomicU64::new(0), delay });
        let shared = Arc::clone(&relay);
        thread::spawn(move || {
            for caller in listener.incoming() {
                // Until process 0 listens, the caller is disconnected, and calls again.
                let (Ok(caller), Ok(called)) = (caller, TcpStream::connect(&to)) else { continue };
                for (from, to) in [(&caller, &called), (&called, &caller)] {
                    let (from, to) = (
                        from.try_clone().expect("the loopback works"),
                        to.try_clone().expect("the loopback works"),
                    );
                    let relay = Arc::clone(&shared);
                    thread::spawn(move || relay.pass(from, to));
                }
            }
        });
        let path = hosts.with_extension("relayed");
        fs::write(&path, format!("{address}\n{rest}")).expect("room for a file");
        (relay, path)
    }

    /// Returns the number of bytes that have passed.
    pub fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Relays bytes from one stream to the other, until the connection is cut, or one side ends it.
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
