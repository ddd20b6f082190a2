//! The first bytes of a connection: each side proves that it has the key.
//!
//! ```text
//! caller   -> listener: hello (magic, version, whether it has a key, 32 random bytes)
//! listener -> caller:   hello
//! caller   -> listener: HMAC-SHA256(key, "caller"   | both hellos)
//! listener -> caller:   1 | HMAC-SHA256(key, "listener" | both hellos | the caller's proof)
//!                       or 0: the proof is wrong
//! ```
//!
//! Both proofs cover the random bytes of both sides, so a proof of another connection is wrong in
//! this one, and the names of the sides keep a proof from being sent back. The caller proves first:
//! an arbitrary client learns nothing that depends on the key. Without a key the proofs use an
//! empty one: they prove nothing, and the bytes have the same form.
//!
//! The proofs cover only the beginning of a connection. Later bytes are neither encrypted nor
//! signed: a machine that all bytes pass through can read and change them.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hmac::Mac as _;
use thiserror::Error;

use super::key::{Access, Key, VARIABLE, keyed};
use crate::socket::{Within, keep_watch};

/// Time limit of a whole handshake, for any timing of its bytes.
pub const HANDSHAKE: Duration = Duration::from_secs(5);

const MAGIC: [u8; 8] = *b"snapjoin";
const VERSION: u8 = 1;
const HELLO: usize = 42;
const PROOF: usize = 32;

/// Bytes of a handshake, in both directions.
pub const BYTES: u64 = 2 * HELLO as u64 + 2 * PROOF as u64 + 1;

/// Reason why a process does not join.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The connection fails, or takes too long.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other side uses another protocol.
    #[error("something else listens there")]
    Foreign,
    /// The other side is another build.
    #[error("it is of another version: use the same program everywhere")]
    Version,
    #[error(
        "it has no key, and this process has one: give all the same --key-file, or the same {VARIABLE}"
    )]
    WithoutKey,
    #[error("it has a key, and this process has none: add the same --key-file, or set {VARIABLE}")]
    KeyWanted,
    #[error("the keys differ: give all processes the same --key-file, or the same {VARIABLE}")]
    WrongKey,
    /// The other side is on another machine, and there is no key.
    #[error(
        "it is not at the loopback of this machine, so a key is needed: add --key-file FILE, or set {VARIABLE}"
    )]
    Unprotected,
}

impl JoinError {
    /// Returns true if another attempt would fail, too.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Io(_) | Self::Foreign)
    }
}

/// The first message of a side.
type Hello = [u8; HELLO];

fn hello(key: Option<&Key>) -> io::Result<Hello> {
    let mut hello = [0; HELLO];
    hello[..8].copy_from_slice(&MAGIC);
    (hello[8], hello[9]) = (VERSION, u8::from(key.is_some()));
    getrandom::fill(&mut hello[10..]).map_err(io::Error::other)?;
    Ok(hello)
}

/// Compares the other side's hello with this side's configuration.
fn compare(theirs: &Hello, key: Option<&Key>) -> Result<(), JoinError> {
    match (theirs[8], theirs[9] == 1, key.is_some()) {
        _ if theirs[..8] != MAGIC => Err(JoinError::Foreign),
        (version, ..) if version != VERSION => Err(JoinError::Version),
        (_, true, false) => Err(JoinError::KeyWanted),
        (_, false, true) => Err(JoinError::WithoutKey),
        _ => Ok(()),
    }
}

/// Performs the caller's part.
///
/// # Errors
/// If the connection fails, or the other side does not prove that it has the same key.
pub(super) fn call(socket: &TcpStream, access: &Access) -> Result<(), JoinError> {
    let key = access.key.as_ref();
    let mut connection = begin(socket, HANDSHAKE)?;
    let ours = hello(key)?;
    connection.write_all(&ours)?;
    let mut theirs = [0; HELLO];
    connection.read_exact(&mut theirs)?;
    compare(&theirs, key)?;
    let proof = keyed(key, &[b"caller", &ours, &theirs]).finalize().into_bytes();
    connection.write_all(&proof)?;
    let mut answer = [0; 1 + PROOF];
    connection.read_exact(&mut answer[..1])?;
    if answer[0] != 1 {
        return Err(JoinError::WrongKey);
    }
    connection.read_exact(&mut answer[1..])?;
    keyed(key, &[b"listener", &ours, &theirs, &proof])
        .verify_slice(&answer[1..])
        .map_err(|_| JoinError::WrongKey)?;
    end(socket)
}

/// Performs the listener's part.
///
/// # Errors
/// As [`call`].
pub(super) fn answer(
    socket: &TcpStream,
    access: &Access,
    limit: Duration,
) -> Result<(), JoinError> {
    let key = access.key.as_ref();
    let mut connection = begin(socket, limit)?;
    let mut theirs = [0; HELLO];
    connection.read_exact(&mut theirs)?;
    // Other protocols get no answer.
    if theirs[..8] != MAGIC {
        return Err(JoinError::Foreign);
    }
    let ours = hello(key)?;
    connection.write_all(&ours)?;
    compare(&theirs, key)?;
    let mut proof = [0; PROOF];
    connection.read_exact(&mut proof)?;
    if keyed(key, &[b"caller", &theirs, &ours]).verify_slice(&proof).is_err() {
        connection.write_all(&[0])?;
        return Err(JoinError::WrongKey);
    }
    let ours = keyed(key, &[b"listener", &theirs, &ours, &proof]).finalize().into_bytes();
    connection.write_all(&[&[1], &ours[..]].concat())?;
    end(socket)
}

fn begin(socket: &TcpStream, limit: Duration) -> io::Result<Within<'_>> {
    socket.set_nodelay(true)?;
    keep_watch(socket)?;
    Ok(Within::new(socket, Instant::now() + limit))
}

/// Removes the time limits for the bytes after the handshake.
fn end(socket: &TcpStream) -> Result<(), JoinError> {
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)?;
    Ok(())
}
