//! Connections whose other end may be switched off, or cut off, without a word.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// After this long without a word the system asks whether the other machine is there, this often, and
/// so many times: one that is cut off without a word counts as lost after half a minute.
const SILENCE: Duration = Duration::from_secs(10);
const ASKED: Duration = Duration::from_secs(5);
const TIMES: u32 = 4;

/// The longest that the other machine may leave what it was sent without receipt. Not less: that is
/// also how long a process may be stopped.
#[cfg(any(target_os = "linux", target_os = "android"))]
const RECEIPT: Duration = Duration::from_secs(120);

/// A machine that is switched off, or a cable that is pulled, says nothing: so the system asks.
///
/// # Errors
/// If the system cannot.
pub fn keep_watch(socket: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(socket);
    let asks = TcpKeepalive::new().with_time(SILENCE);
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "windows"))]
    let asks = asks.with_interval(ASKED).with_retries(TIMES);
    socket.set_tcp_keepalive(&asks)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(RECEIPT))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_connection_is_watched() {
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
        }
    }
}
