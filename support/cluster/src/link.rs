//! Sockets that record how they ended.
//!
//! A timely thread panics at an error of its socket, to end all others. Here a socket hides errors
//! from that thread: a read that can never succeed waits forever, and writes to a lost process are
//! discarded. The end of the socket is recorded for the workers, which return an error that names
//! the process. (The threads end with the program.)

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snapshot_explorer::search::distributed::Failure;
use timely::communication::allocator::zero_copy::stream::Stream;

/// The last message of a connection, a header without contents, has this many zero bytes.
const LAST: usize = 6 * size_of::<u64>();

/// The state of all connections.
#[derive(Clone, Debug)]
pub struct Links(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// By process, the address in the file of hosts.
    addresses: Vec<String>,
    /// By process, the end of its connection; `None` while it lasts. The process in `first` is
    /// reported.
    ended: Mutex<Vec<Option<End>>>,
    first: Mutex<Option<usize>>,
    /// Whether any connection has ended; checked often.
    has_ended: AtomicBool,
    /// Whether a worker of this process has panicked.
    is_halted: AtomicBool,
    words_sent: AtomicU64,
}

#[derive(Clone, Debug)]
enum End {
    /// A regular end, after the last message.
    Well,
    /// A failure, with the reason.
    Lost(String),
}

impl Links {
    /// Creates the state for a process without connections.
    pub fn none() -> Self {
        Self::new(&[])
    }

    /// Creates the state of connections with the processes at these addresses.
    pub fn new(addresses: &[String]) -> Self {
        Self(Arc::new(Shared {
            addresses: addresses.to_vec(),
            ended: Mutex::new(vec![None; addresses.len()]),
            first: Mutex::new(None),
            has_ended: AtomicBool::new(false),
            is_halted: AtomicBool::new(false),
            words_sent: AtomicU64::new(0),
        }))
    }

    /// Returns the connection with a process.
    pub fn link(&self, process: usize, socket: TcpStream) -> Link {
        Link { socket, process, links: self.clone(), zeros: 0, withheld: 0 }
    }

    fn end(&self, process: usize, end: End) {
        let Shared { ended, first, has_ended, .. } = &*self.0;
        lock(ended)[process].get_or_insert(end);
        lock(first).get_or_insert(process);
        has_ended.store(true, Ordering::Release);
    }

    /// Records that a worker of this process has panicked, so that the others stop waiting.
    pub fn halt(&self) {
        self.0.is_halted.store(true, Ordering::Release);
    }

    /// Returns the failure for which workers must stop waiting, if there is one.
    pub fn failure(&self) -> Option<Failure> {
        let Shared { addresses, ended, first, has_ended, is_halted, .. } = &*self.0;
        if is_halted.load(Ordering::Acquire) {
            let reason = "a worker of this process has panicked".to_owned();
            return Some(Failure::Lost { process: 0, address: "here".to_owned(), reason });
        }
        if !has_ended.load(Ordering::Acquire) {
            return None;
        }
        let process = (*lock(first))?;
        let address = addresses[process].clone();
        Some(match lock(ended)[process].clone()? {
            End::Well => Failure::Ended { process, address },
            End::Lost(reason) => Failure::Lost { process, address, reason },
        })
    }

    /// Returns the failure, if there is one within `patience`.
    pub fn failure_within(&self, patience: Duration) -> Option<Failure> {
        let began = Instant::now();
        loop {
            let failure = self.failure();
            if failure.is_some() || self.0.addresses.is_empty() || began.elapsed() >= patience {
                return failure;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until all connections have ended, at most for `patience`.
    pub fn wait_for_end(&self, patience: Duration) {
        let began = Instant::now();
        let all = self.0.addresses.len().saturating_sub(1);
        while lock(&self.0.ended).iter().flatten().count() < all && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Counts words that a worker has sent to another.
    pub fn count_words(&self, words: u64) {
        self.0.words_sent.fetch_add(words, Ordering::Relaxed);
    }

    /// Returns the number of words sent so far.
    pub fn words_sent(&self) -> u64 {
        self.0.words_sent.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub struct Link {
    socket: TcpStream,
    process: usize,
    links: Links,
    /// The number of zero bytes at the end of the bytes read so far, up to [`LAST`].
    zeros: usize,
    /// The number of these bytes not passed on yet.
    withheld: usize,
}

impl Link {
    fn lose(&self, reason: &str) {
        self.links.end(self.process, End::Lost(reason.to_owned()));
    }
}

/// A timely thread panics if it reads invalid messages. This records a failure, so that the workers
/// stop waiting for it.
impl Drop for Link {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.lose("it sent something else than messages of a search");
        }
    }
}

impl Read for Link {
    /// Passes on a possible last message separately: the timely thread that receives it then asks
    /// for the end of the socket first, and forwards the data received with it only after that.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.withheld > 0 {
            let count = self.withheld.min(buffer.len());
            buffer[..count].fill(0);
            self.withheld -= count;
            return Ok(count);
        }
        loop {
            match self.socket.read(buffer) {
                // Any message may end in zeros: this affects only how words are split, and never
                // passes on the end.
                Ok(0) if self.zeros >= LAST => self.links.end(self.process, End::Well),
                Ok(0) => self.lose("it closed the connection in the midst of a search"),
                Ok(count) => {
                    let zeros = buffer[..count].iter().rev().take_while(|&&byte| byte == 0).count();
                    let before = if zeros == count { self.zeros } else { 0 };
                    self.zeros = (before + zeros).min(LAST);
                    self.withheld = if zeros >= LAST && count > LAST { LAST } else { 0 };
                    return Ok(count - self.withheld);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.lose(&error.to_string()),
            }
            loop {
                std::thread::park();
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.socket.write(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.lose(&error.to_string());
                Ok(buffer.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Self> {
        let (process, links) = (self.process, self.links.clone());
        Ok(Self { socket: self.socket.try_clone()?, process, links, zeros: 0, withheld: 0 })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // A lost connection is recorded elsewhere.
        let _ = self.socket.shutdown(how);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Writes these bytes to a socket in one write, and returns the pieces in which they are read.
    fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let mut writer = TcpStream::connect(address).expect("a connection");
        let (socket, _) = listener.accept().expect("the connection");
        let mut link = Links::new(&["here".to_owned()]).link(0, socket);
        writer.write_all(bytes).expect("room for some bytes");
        // All bytes have arrived before the first read.
        std::thread::sleep(Duration::from_millis(50));
        let (mut pieces, mut left) = (Vec::new(), bytes.len());
        while left > 0 {
            let mut buffer = [7; 1024];
            let count = link.read(&mut buffer).expect("more bytes");
            left -= count;
            pieces.push(buffer[..count].to_vec());
        }
        pieces
    }

    /// Otherwise a process that ends could lose its last words, if these arrive together with its
    /// end.
    #[test]
    fn last_message_is_read_separately() {
        let message = vec![1; 100];
        let last = vec![0; LAST];
        let whole = [message.clone(), last.clone()].concat();
        assert_eq!(pieces(&whole), [message, last.clone()]);
        // Zeros that only resemble the last message are split, too, without loss.
        let zeros = [vec![2; 3], vec![0; 200]].concat();
        let read = pieces(&zeros);
        assert_eq!((read.concat(), read.len()), (zeros, 2));
        assert_eq!(pieces(&last), [last]);
    }
}
