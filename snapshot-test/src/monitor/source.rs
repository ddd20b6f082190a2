//! Endless inputs: a pipe, a file that grows, connections.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Interval between two reads of an input without new bytes.
const PAUSE: Duration = Duration::from_millis(50);

/// An input that another program writes, or a person: it ends where it is closed, or when `stop` is
/// set, even if no bytes come. On systems other than Unix, only after further bytes.
#[derive(Debug)]
pub struct Interruptible<'a, R> {
    input: R,
    stop: &'a AtomicBool,
}

impl<'a, R> Interruptible<'a, R> {
    /// Reads from `input`, which must not buffer.
    pub const fn new(input: R, stop: &'a AtomicBool) -> Self {
        Self { input, stop }
    }
}

#[cfg(unix)]
impl<R: Read + std::os::fd::AsFd> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let pause = Timespec::try_from(PAUSE).map_err(io::Error::other)?;
        while !self.stop.load(Ordering::Relaxed) {
            // A closed or broken input is also ready: reading reports it.
            match poll(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(&pause)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.input.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

#[cfg(not(unix))]
impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) { Ok(0) } else { self.input.read(buffer) }
    }
}

/// A file that grows: at its end, more bytes are waited for, until `stop` is set.
#[derive(Debug)]
pub struct Follow<'a, R> {
    input: R,
    stop: &'a AtomicBool,
}

impl<'a, R: Read> Follow<'a, R> {
    /// Follows the bytes of `input`.
    pub const fn new(input: R, stop: &'a AtomicBool) -> Self {
        Self { input, stop }
    }
}

impl<R: Read> Read for Follow<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.stop.load(Ordering::Relaxed) {
            match self.input.read(buffer)? {
                0 => sleep(PAUSE),
                some => return Ok(some),
            }
        }
        Ok(0)
    }
}

/// Connections to a port of this machine, one after the other, read as one input: when one is
/// closed, the next one is read. A connection that is closed within a line is an error, since half
/// a line may have another meaning than the whole.
#[derive(Debug)]
pub struct Listen<'a> {
    listener: TcpListener,
    connection: Option<TcpStream>,
    is_within_line: bool,
    stop: &'a AtomicBool,
}

impl<'a> Listen<'a> {
    /// Starts listening. Addresses of other machines are refused: every program that can connect
    /// can write into the recording.
    ///
    /// # Errors
    /// If the address is not of this machine alone, or cannot be listened at.
    pub fn new(address: SocketAddr, stop: &'a AtomicBool) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let kind = io::ErrorKind::InvalidInput;
            return Err(io::Error::new(kind, "only addresses such as 127.0.0.1 are listened at"));
        }
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connection: None, is_within_line: false, stop })
    }

    /// Returns the address: for port 0, the system has chosen the port.
    ///
    /// # Errors
    /// If the system does not know it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Read for Listen<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_quiet = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
        };
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            let Some(connection) = &mut self.connection else {
                match self.listener.accept() {
                    Ok((connection, _)) => {
                        connection.set_nonblocking(false)?;
                        connection.set_read_timeout(Some(PAUSE))?;
                        self.connection = Some(connection);
                    }
                    Err(error) if is_quiet(&error) => sleep(PAUSE),
                    Err(error) => return Err(error),
                }
                continue;
            };
            match connection.read(buffer) {
                Ok(0) if self.is_within_line => {
                    let text = "a connection was closed within a line";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                Ok(0) => self.connection = None,
                Ok(some) => {
                    self.is_within_line = buffer[some - 1] != b'\n';
                    return Ok(some);
                }
                Err(error) if is_quiet(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
