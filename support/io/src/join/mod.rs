//! Connection of the processes of a cluster: their addresses, and which of them may join.
//!
//! A process listens at the loopback only, unless it is to be reached from other machines. Then all
//! processes need the same key, and each side of a connection proves to the other that it has it
//! (`handshake`). So the key decides which processes may join. It neither encrypts the messages of
//! processes, nor protects them from a machine in between: that takes a trusted network, or a
//! tunnel.
//!
//! | module | contents |
//! | --- | --- |
//! | `key` | the key, and the options that name it |
//! | `handshake` | the first bytes of a connection |
//!
//! A listener accepts connections from anywhere: each handshake has a limit of time and of bytes,
//! and there are never more than a few simultaneous ones.

mod handshake;
mod key;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use self::handshake::{BYTES, HANDSHAKE, JoinError};
pub use self::key::{Access, AccessOptions, Key, KeyError};
use crate::hosts::Members;
use crate::{output, socket};

/// Maximum number of simultaneous handshakes.
const MOST: usize = 64;

/// Time between two looks for a connection.
const LOOK: Duration = Duration::from_millis(10);

/// Maximum number of reported refusals.
const REPORTS: usize = 10;

/// Accepts connections of the other processes of a cluster.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    access: Access,
    /// Time limit of each handshake.
    limit: Duration,
    /// Sockets after their handshake, or reasons for refusals.
    ended: Receiver<(SocketAddr, Result<TcpStream, JoinError>)>,
    sender: Sender<(SocketAddr, Result<TcpStream, JoinError>)>,
    /// Counts the open handshakes.
    open: Arc<()>,
    reports: usize,
}

impl Listener {
    /// Listens at an address.
    ///
    /// # Errors
    /// The reason, if other machines can reach the address and `access` does not permit that, or if
    /// the system cannot listen.
    pub fn bind(address: &str, access: &Access) -> Result<Self, String> {
        let addresses = address.to_socket_addrs().map_err(|error| error.to_string())?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        if !access.is_network && !addresses.iter().all(is_loopback) {
            return Err("other machines can reach that address: add --network, and a key for all \
                        processes (--key-file FILE, or the variable SNAPSHOT_CLUSTER_KEY)"
                .to_owned());
        }
        let listener = TcpListener::bind(&addresses[..]).map_err(|error| error.to_string())?;
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        let (sender, ended) = channel();
        let (access, limit, open) = (access.clone(), HANDSHAKE, Arc::new(()));
        Ok(Self { listener, access, limit, ended, sender, open, reports: 0 })
    }

    /// Returns the next connection of a process that may join; `None` if none arrives by this
    /// instant. The first few refusals are reported, each in a line.
    pub fn accept(&mut self, until: Option<Instant>) -> Option<TcpStream> {
        loop {
            while Arc::strong_count(&self.open) <= MOST
                && let Ok((socket, from)) = self.listener.accept()
            {
                self.shake_hands(socket, from);
            }
            match self.ended.recv_timeout(LOOK) {
                Ok((_, Ok(socket))) => return Some(socket),
                Ok((from, Err(error))) => self.refuse(from, &error),
                Err(_) if until.is_some_and(|until| Instant::now() >= until) => return None,
                Err(_) => {}
            }
        }
    }

    /// Uses a separate thread: a silent connection must not delay others.
    fn shake_hands(&self, socket: TcpStream, from: SocketAddr) {
        let (access, limit, sender) = (self.access.clone(), self.limit, self.sender.clone());
        let open = Arc::clone(&self.open);
        let shake = move || {
            let joined = socket
                .set_nonblocking(false)
                .map_err(JoinError::Io)
                .and_then(|()| handshake::answer(&socket, &access, limit));
            drop(open);
            let _ = sender.send((from, joined.map(|()| socket)));
        };
        // Without a thread the connection is closed, and the other side tries again.
        let _ = thread::Builder::new().name("handshake".to_owned()).spawn(shake);
    }

    /// Reports a refusal. Connections of other programs do not concern the cluster; a wrong key
    /// does.
    fn refuse(&mut self, from: SocketAddr, error: &JoinError) {
        if !error.is_final() || self.reports == REPORTS {
            return;
        }
        self.reports += 1;
        let more = if self.reports == REPORTS { " (further ones are not reported)" } else { "" };
        output::report(format_args!("a process at {from} may not join: {error}{more}"));
    }
}

impl Members {
    /// Listens at the address of this process.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn listen(&self) -> Result<Listener, String> {
        Listener::bind(&self.addresses()[self.process()], self.access())
    }

    /// Connects to another process, and waits for it for up to `patience`.
    ///
    /// # Errors
    /// The reason why there is no connection.
    pub fn call(&self, process: usize, patience: Duration) -> Result<TcpStream, JoinError> {
        let (address, access) = (&self.addresses()[process], self.access());
        if access.key.is_none() && !address.to_socket_addrs()?.all(|address| is_loopback(&address))
        {
            return Err(JoinError::Unprotected);
        }
        let socket = socket::connect(address, patience)?;
        if access.key.is_none() && !is_loopback(&socket.peer_addr()?) {
            return Err(JoinError::Unprotected);
        }
        handshake::call(&socket, access)?;
        Ok(socket)
    }
}

fn is_loopback(address: &SocketAddr) -> bool {
    let ip: IpAddr = address.ip().to_canonical();
    ip.is_loopback()
}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Io(error) => error,
            other => Self::other(other),
        }
    }
}

#[cfg(test)]
mod tests;
