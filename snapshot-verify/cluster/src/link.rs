//! Sockets that note how they ended.
//!
//! A thread of timely's that meets an error of its socket panics, to take all down. Here a socket
//! never fails as far as that thread can see: a read that can never succeed waits for ever, what is
//! written to a lost process vanishes; and how the socket ended is noted for the workers, which end
//! with an error that names the process. (The threads end with the program.)

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snapshot_explorer::search::distributed::Failure;
use timely::communication::allocator::zero_copy::stream::Stream;

/// A message of this many zero bytes, a header without contents, is the last one of a connection.
const LAST: usize = 6 * size_of::<u64>();

/// How connections are.
#[derive(Clone, Debug)]
pub struct Links(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// By process, as the file of hosts has it.
    addresses: Vec<String>,
    /// By process, how its connection ended; none as long as it has not. It is the first of them
    /// that counts.
    ended: Mutex<Vec<Option<End>>>,
    first: Mutex<Option<usize>>,
    /// Whether any has ended: looked at often.
    has_ended: AtomicBool,
    /// A worker of this process has panicked.
    is_halted: AtomicBool,
    words_sent: AtomicU64,
}

/// How a connection ended.
#[derive(Clone, Debug)]
enum End {
    /// As it should, when the process had no more to say.
    Well,
    /// Otherwise; why.
    Lost(String),
}

impl Links {
    /// No connection with others.
    pub fn none() -> Self {
        Self::new(&[])
    }

    /// Connections with the processes at these addresses.
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

    /// The connection with a process.
    pub fn link(&self, process: usize, socket: TcpStream) -> Link {
        Link { socket, process, links: self.clone(), zeros: 0, withheld: 0 }
    }

    fn end(&self, process: usize, end: End) {
        let Shared { ended, first, has_ended, .. } = &*self.0;
        lock(ended)[process].get_or_insert(end);
        lock(first).get_or_insert(process);
        has_ended.store(true, Ordering::Release);
    }

    /// A worker of this process cannot go on: the others are not to wait for it.
    pub fn halt(&self) {
        self.0.is_halted.store(true, Ordering::Release);
    }

    /// Why workers need not wait for each other any more.
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

    /// The same, if it is so after that long.
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

    /// Waits until all connections have ended, but no longer than that.
    pub fn wait_for_end(&self, patience: Duration) {
        let began = Instant::now();
        let all = self.0.addresses.len().saturating_sub(1);
        while lock(&self.0.ended).iter().flatten().count() < all && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A worker has sent this many words to another.
    pub fn count_words(&self, words: u64) {
        self.0.words_sent.fetch_add(words, Ordering::Relaxed);
    }

    /// How many words workers have sent so far.
    pub fn words_sent(&self) -> u64 {
        self.0.words_sent.load(Ordering::Relaxed)
    }
}

/// A connection with one process.
#[derive(Debug)]
pub struct Link {
    socket: TcpStream,
    process: usize,
    links: Links,
    /// How many of the bytes that were read last are zero, up to [`LAST`].
    zeros: usize,
    /// How many of them have not been handed on yet.
    withheld: usize,
}

impl Link {
    fn lose(&self, reason: &str) {
        self.links.end(self.process, End::Lost(reason.to_owned()));
    }
}

/// A thread of timely's that reads something else than messages panics: the workers are not to wait
/// for it.
impl Drop for Link {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.lose("it sent something else than messages of a search");
        }
    }
}

impl Read for Link {
    /// What may be the last message is handed on by itself: the thread of timely's that has it asks
    /// for the end of the socket first, and hands on what came with it after that.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.withheld > 0 {
            let count = self.withheld.min(buffer.len());
            buffer[..count].fill(0);
            self.withheld -= count;
            return Ok(count);
        }
        loop {
            match self.socket.read(buffer) {
                // Any message may end in zeros: this decides on words only, and never hands the end on.
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
        // A connection that is lost is noted elsewhere.
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

    /// What is read of a socket that these bytes are written to at once, piece by piece.
    fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let mut writer = TcpStream::connect(address).expect("a connection");
        let (socket, _) = listener.accept().expect("the connection");
        let mut link = Links::new(&["here".to_owned()]).link(0, socket);
        writer.write_all(bytes).expect("room for some bytes");
        // All of it is there before it is read.
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

    /// Else a process that ends takes its last words along, if these came in one piece with its end.
    #[test]
    fn the_last_message_comes_by_itself() {
        let message = vec![1; 100];
        let last = vec![0; LAST];
        let whole = [message.clone(), last.clone()].concat();
        assert_eq!(pieces(&whole), [message, last.clone()]);
        // What only looks like it is cut there, too, and nothing is lost.
        let zeros = [vec![2; 3], vec![0; 200]].concat();
        let read = pieces(&zeros);
        assert_eq!((read.concat(), read.len()), (zeros, 2));
        assert_eq!(pieces(&last), [last]);
    }
}
