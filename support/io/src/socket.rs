//! Connections whose other end may be switched off, or cut off, without notice.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};

/// After this much silence the system probes the other machine, at this interval, and this many
/// times.
const SILENCE: Duration = Duration::from_secs(10);
const ASKED: Duration = Duration::from_secs(5);
const TIMES: u32 = 4;

/// Maximum time that sent bytes may remain unacknowledged. No shorter, because this also bounds how
/// long a process may be stopped.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RECEIPT: Duration = Duration::from_secs(120);

/// As [`RECEIPT`], for connections that send less than the system buffers for the other machine:
/// then a stopped process leaves no bytes unacknowledged.
#[cfg(any(target_os = "linux", target_os = "android"))]
const BRIEF: Duration = SILENCE.saturating_add(ASKED.saturating_mul(TIMES));

/// Makes the system probe the other machine: one that is switched off, or behind an unplugged
/// cable, sends nothing.
///
/// # Errors
/// If the system does not support it.
pub fn keep_watch(socket: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(socket);
    let asks = TcpKeepalive::new().with_time(SILENCE);
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "windows"))]
    let asks = asks.with_interval(ASKED).with_retries(TIMES);
    socket.set_tcp_keepalive(&asks)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // Linux then does not count the probes: an idle connection, too, is lost only after that time.
    socket.set_tcp_user_timeout(Some(RECEIPT))?;
    Ok(())
}

/// As [`keep_watch`], for a connection on which this side sends few bytes: a connection that is cut
/// off without notice counts as lost after half a minute.
///
/// # Errors
/// If the system does not support it.
pub fn keep_close_watch(socket: &TcpStream) -> io::Result<()> {
    keep_watch(socket)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    SockRef::from(socket).set_tcp_user_timeout(Some(BRIEF))?;
    Ok(())
}

/// Connects to one of the addresses that this text resolves to. Waits for an unresponsive machine
/// for up to `patience`, instead of the system's longer time.
///
/// # Errors
/// The error of the last address.
pub fn connect(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut failed = io::ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match connect_to(address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// A socket that is read and written until some instant, even if the other side sends slowly: a
/// limit on each read would apply to each byte separately.
#[derive(Debug)]
pub struct Within<'a> {
    socket: &'a TcpStream,
    until: Instant,
}

impl<'a> Within<'a> {
    /// Reads and writes this socket until that instant.
    pub const fn new(socket: &'a TcpStream, until: Instant) -> Self {
        Self { socket, until }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Within<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(buffer)
    }
}

impl Write for Within<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

fn connect_to(address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // If nothing listens yet, the system may choose the called port as the calling one, and connect
    // the socket with itself. That is not an answer, and must not block the port for the listener.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.connect_timeout(&address.into(), patience)?;
    let socket = TcpStream::from(socket);
    if socket.local_addr()? == socket.peer_addr()? {
        SockRef::from(&socket).set_linger(Some(Duration::ZERO))?;
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn keepalive_is_set_on_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let calling = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        keep_watch(&calling).unwrap();
        let socket = SockRef::from(&calling);
        assert!(socket.keepalive().unwrap());
        #[cfg(target_os = "linux")]
        {
            assert_eq!(socket.tcp_keepalive_time().unwrap(), SILENCE);
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), ASKED);
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), TIMES);
            assert_eq!(socket.tcp_user_timeout().unwrap(), Some(RECEIPT));
            // Otherwise an idle connection would count as lost only after that time.
            keep_close_watch(&calling).unwrap();
            assert_eq!(socket.tcp_user_timeout().unwrap(), Some(SILENCE + ASKED * TIMES));
        }
    }
}
