//! Connections between all processes of a cluster.
//!
//! Each process listens at its address. It connects to the processes before it in the list of
//! hosts, and accepts connections from the processes after it. [`snapshot_io::join`] decides which
//! processes may join, and how they prove it. Then each side sends a greeting with its number; a
//! connection without a greeting is rejected.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use snapshot_io::hosts::Members;
use snapshot_io::join::{JoinError, Listener};
use snapshot_io::socket::Within;
use thiserror::Error;

/// The first word of a greeting.
const GREETING: u64 = u64::from_le_bytes(*b"snapshot");

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(50);

/// The total time for a greeting.
const GREETED: Duration = Duration::from_secs(5);

/// Why a cluster cannot be formed.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ClusterError {
    /// The address of this process is unavailable.
    #[error("process {process} cannot listen at {address}: {reason}")]
    Listen {
        process: usize,
        address: String,
        /// The error of the system.
        reason: String,
    },
    #[error(
        "process {process} ({address}) cannot be reached within {seconds} seconds: {reason}. Start \
         it, with the same file of hosts"
    )]
    Unreachable {
        process: usize,
        address: String,
        /// The duration of the wait.
        seconds: u64,
        /// The error of the system.
        reason: String,
    },
    #[error("process {process} ({address}) cannot be joined: {reason}")]
    Refused {
        process: usize,
        address: String,
        /// The reason, with a remedy.
        reason: String,
    },
    /// A process has other counts of processes or workers.
    #[error(
        "process {process} ({address}) knows of {their} and this one of {our}: give all the same \
         file of hosts and the same --workers"
    )]
    Differs {
        process: usize,
        address: String,
        /// The counts of that process.
        their: Counts,
        /// The counts of this process.
        our: Counts,
    },
    #[error("the cluster cannot be connected: {reason}")]
    Socket {
        /// The error of the system.
        reason: String,
    },
    /// The system does not grant enough threads.
    #[error("{threads} workers cannot be started ({reason}): ask for fewer (--workers)")]
    Threads {
        /// The requested number.
        threads: usize,
        /// The error of the system.
        reason: String,
    },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    pub processes: u64,
    /// Workers per process.
    pub workers: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} processes of {} workers", self.processes, self.workers)
    }
}

/// The introduction of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Greeting {
    process: u64,
    counts: Counts,
}

impl Greeting {
    fn write(self, mut socket: impl Write) -> io::Result<()> {
        let words = [GREETING, self.process, self.counts.processes, self.counts.workers];
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        socket.write_all(&bytes)
    }

    fn read(mut socket: impl Read) -> io::Result<Self> {
        let mut bytes = [0; 32];
        socket.read_exact(&mut bytes)?;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * at..8 * at + 8]);
            u64::from_le_bytes(word)
        };
        match word(0) == GREETING {
            true => Ok(Self {
                process: word(1),
                counts: Counts { processes: word(2), workers: word(3) },
            }),
            false => Err(JoinError::Foreign.into()),
        }
    }
}

/// Connects to all other processes. Returns the sockets by process.
pub fn connect(
    members: &Members,
    workers: NonZeroUsize,
    patience: Duration,
) -> Result<Vec<Option<TcpStream>>, ClusterError> {
    let (addresses, me) = (members.addresses(), members.process());
    let (count, address) = (addresses.len(), &addresses[me]);
    let counts = Counts { processes: count as u64, workers: workers.get() as u64 };
    let mut greeter = Greeter {
        members,
        mine: Greeting { process: me as u64, counts },
        end: Instant::now() + patience,
        patience,
    };
    let mut listener = members.listen().map_err(|reason| ClusterError::Listen {
        process: me,
        address: address.clone(),
        reason,
    })?;
    let mut sockets: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
    for (process, socket) in sockets.iter_mut().enumerate().take(me) {
        *socket = Some(greeter.reach(process)?);
    }
    while let Some(missing) = (me + 1..count).find(|&process| sockets[process].is_none()) {
        let (process, socket) = greeter.accept(&mut listener, missing)?;
        sockets[process] = Some(socket);
    }
    Ok(sockets)
}

struct Greeter<'a> {
    members: &'a Members,
    mine: Greeting,
    end: Instant,
    patience: Duration,
}

impl Greeter<'_> {
    fn unreachable(&self, process: usize, reason: String) -> ClusterError {
        let address = self.members.addresses()[process].clone();
        ClusterError::Unreachable { process, address, seconds: self.patience.as_secs(), reason }
    }

    /// Connects to a process before this one.
    fn reach(&mut self, process: usize) -> Result<TcpStream, ClusterError> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now()).max(PAUSE);
            let called = self.members.call(process, left);
            if let Err(error) = &called
                && error.is_final()
            {
                let address = self.members.addresses()[process].clone();
                return Err(ClusterError::Refused { process, address, reason: error.to_string() });
            }
            let greeted = called.map_err(io::Error::from).and_then(|socket| self.greet(socket));
            match greeted {
                Ok((theirs, socket)) => {
                    self.agree(process, theirs)?;
                    return Ok(socket);
                }
                Err(error) if Instant::now() >= self.end => {
                    return Err(self.unreachable(process, error.to_string()));
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Accepts the connection of a process after this one. `missing` is the first one still
    /// missing.
    fn accept(
        &mut self,
        listener: &mut Listener,
        missing: usize,
    ) -> Result<(usize, TcpStream), ClusterError> {
        while let Some(socket) = listener.accept(Some(self.end)) {
            if let Ok((theirs, socket)) = self.greet(socket)
                && let Ok(process) = usize::try_from(theirs.process)
                && (self.members.process() + 1..self.members.addresses().len()).contains(&process)
            {
                self.agree(process, theirs)?;
                return Ok((process, socket));
            }
        }
        Err(self.unreachable(missing, "it has not called".to_owned()))
    }

    /// Exchanges greetings over a socket.
    fn greet(&self, socket: TcpStream) -> io::Result<(Greeting, TcpStream)> {
        self.mine.write(&socket)?;
        let theirs = Greeting::read(Within::new(&socket, Instant::now() + GREETED))?;
        socket.set_read_timeout(None)?;
        Ok((theirs, socket))
    }

    fn agree(&self, process: usize, theirs: Greeting) -> Result<(), ClusterError> {
        let (their, our) = (theirs.counts, self.mine.counts);
        if their == our && theirs.process == process as u64 {
            return Ok(());
        }
        let address = self.members.addresses()[process].clone();
        Err(ClusterError::Differs { process, address, their, our })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use socket2::SockRef;

    use super::*;

    #[test]
    fn cluster_sockets_have_keepalive() {
        let free: Vec<_> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let of = |free: &TcpListener| free.local_addr().unwrap().to_string();
        let addresses: Vec<String> = free.iter().map(of).collect();
        drop(free);
        let members = move |process| Members::new(addresses.clone(), process).unwrap();
        let workers = NonZeroUsize::MIN;
        let patience = Duration::from_secs(20);
        let (first, second) = (members(0), members(1));
        let other = std::thread::spawn(move || connect(&second, workers, patience));
        let here = connect(&first, workers, patience).unwrap();
        for sockets in [here, other.join().unwrap().unwrap()] {
            let sockets: Vec<&TcpStream> = sockets.iter().flatten().collect();
            assert!(matches!(sockets[..], [socket] if SockRef::from(socket).keepalive().unwrap()));
        }
    }
}
