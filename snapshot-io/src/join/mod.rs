//! How the processes of a cluster come together: where they listen, and which of them may join.
//!
//! A process listens at the loopback only, unless it is to be reached from other machines; then
//! all processes need the same key, and each side of a connection proves to the other that it has
//! it ([`handshake`](self) below). So the key decides who may join. It does not keep secret what
//! processes say, nor keep a machine between them from changing it: that takes a network that is
//! trusted, or a tunnel.
//!
//! | module | contents |
//! | --- | --- |
//! | `key` | the key, and the options that name it |
//! | `handshake` | the first bytes of a connection |
//!
//! A listener takes connections from anywhere: each handshake has a limit of time and of bytes,
//! and there are never more than a few at once.

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

/// Handshakes at once.
const MOST: usize = 64;

/// Between two looks for a connection.
const LOOK: Duration = Duration::from_millis(10);

/// Refusals that are reported.
const REPORTS: usize = 10;

/// Takes connections of the other processes of a cluster.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    access: Access,
    /// How long each handshake may take.
    limit: Duration,
    /// Sockets whose handshake has ended, and the reason of those that were refused.
    ended: Receiver<(SocketAddr, Result<TcpStream, JoinError>)>,
    sender: Sender<(SocketAddr, Result<TcpStream, JoinError>)>,
    /// Counts the handshakes that have not ended.
    open: Arc<()>,
    reports: usize,
}

impl Listener {
    /// Listens at an address.
    ///
    /// # Errors
    /// The reason, if it is to be reached from other machines and access is not given to these, or
    /// if the system cannot.
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

    /// The next connection of a process that may join; none if there is none by this instant. A
    /// refused one is reported in a line, as long as there were few.
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

    /// In a thread of its own: a silent connection is not to hold up others.
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
        // Without a thread the connection is closed, and tried again by the other side.
        let _ = thread::Builder::new().name("handshake".to_owned()).spawn(shake);
    }

    /// Connections of other programs say nothing of the cluster; a wrong key does.
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
    /// The reason, as [`Listener::bind`].
    pub fn listen(&self) -> Result<Listener, String> {
        Listener::bind(&self.addresses()[self.process()], self.access())
    }

    /// A connection with another process, which is waited for that long.
    ///
    /// # Errors
    /// Why there is none.
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
