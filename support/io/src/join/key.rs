//! The key that all processes of a cluster share.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use thiserror::Error;

/// The environment variable with the key, if no file is named.
pub const VARIABLE: &str = "SNAPSHOT_CLUSTER_KEY";

/// Minimum length of a key in bytes.
const LEAST: usize = 16;

/// Maximum length of a key in bytes.
const MOST: usize = 4096;

/// A key. It is never printed.
#[derive(Clone)]
pub struct Key(Arc<[u8]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Error in a key or its file.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The key is too short.
    #[error(
        "the key has {0} bytes, and needs at least {LEAST}: make one by \
         `head -c 32 /dev/urandom | base64`"
    )]
    Short(usize),
    /// The key is too long.
    #[error("the key has more than {MOST} bytes: name the file that holds it, and nothing else")]
    Long,
}

impl Key {
    /// Creates a key from bytes, without the white space around them.
    ///
    /// # Errors
    /// If there are too few or too many bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        match bytes.trim_ascii() {
            bytes if bytes.len() < LEAST => Err(KeyError::Short(bytes.len())),
            bytes if bytes.len() > MOST => Err(KeyError::Long),
            bytes => Ok(Self(bytes.into())),
        }
    }

    /// Reads a key from a file.
    ///
    /// # Errors
    /// If the file cannot be read, or contains no valid key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST as u64 + 3).read_to_end(&mut bytes)?;
        Self::new(&bytes)
    }
}

/// Returns the keyed hash of some texts. The hash without a key can be computed by anyone.
pub(super) fn keyed(key: Option<&Key>, texts: &[&[u8]]) -> Hmac<Sha256> {
    let bytes = key.map_or(&[][..], |key| &key.0);
    let mut hash = Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length");
    texts.iter().for_each(|text| hash.update(text));
    hash
}

/// Address at which a process listens, and processes that may join it. By default it listens at the
/// loopback only, and any process may join.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub(super) is_network: bool,
    pub(super) key: Option<Key>,
}

impl Access {
    /// Listens at the loopback, for processes with this key.
    pub const fn loopback(key: Key) -> Self {
        Self { is_network: false, key: Some(key) }
    }

    /// Listens at any address, for processes with this key.
    pub const fn network(key: Key) -> Self {
        Self { is_network: true, key: Some(key) }
    }
}

/// Options that say which processes may join a cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct AccessOptions {
    /// With --cluster: listen also at addresses that other machines reach. Then all processes need
    /// the same key, by --key-file or the variable SNAPSHOT_CLUSTER_KEY.
    #[arg(long, requires = "cluster")]
    network: bool,
    /// With --cluster: a file with the key that all processes share, of at least 16 bytes; by
    /// default the variable SNAPSHOT_CLUSTER_KEY, if it is set.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    key_file: Option<PathBuf>,
}

impl AccessOptions {
    /// Returns the access that these options give.
    ///
    /// # Errors
    /// The message, if a required key is missing or invalid.
    pub fn access(&self) -> Result<Access, String> {
        let variable = std::env::var_os(VARIABLE);
        let key = match (&self.key_file, variable) {
            (Some(path), _) => Key::read(path)
                .map(Some)
                .map_err(|error| format!("--key-file {}: {error}", path.display()))?,
            (None, Some(key)) => Key::new(key.as_encoded_bytes())
                .map(Some)
                .map_err(|error| format!("{VARIABLE}: {error}"))?,
            (None, None) => None,
        };
        if self.network && key.is_none() {
            return Err(format!(
                "--network lets other machines connect, so it asks for a key: add --key-file FILE, or \
                 set {VARIABLE}, the same for all processes"
            ));
        }
        Ok(Access { is_network: self.network, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_length_is_bounded() {
        assert!(matches!(Key::new(b"0123456789abcde"), Err(KeyError::Short(15))));
        assert!(matches!(Key::new(b"  0123456789abcde\n"), Err(KeyError::Short(15))));
        assert!(matches!(Key::new(&[b'a'; 4097]), Err(KeyError::Long)));
        let bytes = |bytes: &[u8]| Key::new(bytes).unwrap().0.to_vec();
        assert_eq!(bytes(b"0123456789abcdef\r\n"), b"0123456789abcdef");
        assert_eq!(bytes(&[b'a'; 4096]).len(), 4096);
        assert_eq!(format!("{:?}", Key::new(b"0123456789abcdef").unwrap()), "Key(..)");
    }

    #[test]
    fn unreadable_and_overlong_key_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Key::read(folder.path()), Err(KeyError::Io(_))));
        assert!(matches!(Key::read(&folder.path().join("none")), Err(KeyError::Io(_))));
        let path = folder.path().join("key");
        std::fs::write(&path, [b'a'; 9000]).unwrap();
        assert!(matches!(Key::read(&path), Err(KeyError::Long)));
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        assert!(Key::read(&path).is_ok());
    }

    /// RFC 4231, test case 2.
    #[test]
    fn the_keyed_hash_is_hmac() {
        let key = Key(b"Jefe"[..].into());
        let hash = keyed(Some(&key), &[b"what do ya want ", b"for nothing?"]);
        let hex: String =
            hash.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
