//! The file that names the processes of a cluster, one `host:port` per line, as in timely's
//! examples.

use std::fs;
use std::path::Path;

use thiserror::Error;

use crate::join::{Access, AccessOptions};

#[derive(Clone, Debug)]
pub struct Members {
    addresses: Vec<String>,
    process: usize,
    access: Access,
}

impl Members {
    /// Creates a cluster of processes at these addresses; this one is number `process`.
    ///
    /// # Errors
    /// If `process` is out of range.
    pub fn new(addresses: Vec<String>, process: usize) -> Result<Self, HostsError> {
        match addresses.len() {
            count if process < count => Ok(Self { addresses, process, access: Access::default() }),
            count => Err(HostsError::Process { process, count }),
        }
    }

    /// Gives access to processes beyond the loopback.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Reads the members from a file.
    ///
    /// # Errors
    /// The message, if the file cannot be read, or names no cluster, or lacks this process; or if a
    /// required key is missing.
    pub fn read(path: &Path, process: usize, access: &AccessOptions) -> Result<Self, String> {
        let at = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read --cluster {at}: {error}"))?;
        let members = hosts(&text).and_then(|addresses| Self::new(addresses, process));
        let members = members.map_err(|error| format!("--cluster {at}: {error}"))?;
        Ok(members.with_access(access.access()?))
    }

    /// Returns the addresses of the processes; there is at least one.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Returns which processes may join this one.
    pub(crate) const fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the number of this process.
    pub const fn process(&self) -> usize {
        self.process
    }
}

/// Error in the text or number of a cluster.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum HostsError {
    /// A line is not an address.
    #[error("line {line}: {text:?} is no address: write host:port, such as 10.0.0.1:2101")]
    Address {
        /// The line's number, from 1.
        line: usize,
        text: String,
    },
    /// A line repeats another.
    #[error("line {line}: {text} was named before: each process needs an address of its own")]
    Twice {
        /// The line's number, from 1.
        line: usize,
        text: String,
    },
    /// The number of this process is out of range.
    #[error(
        "there is no process {process}: {count} are named, and the first is process 0; choose \
         another --process"
    )]
    Process {
        /// The requested number.
        process: usize,
        /// The number of processes.
        count: usize,
    },
    /// The file has no lines with addresses.
    #[error("no process is named: write a line host:port for each")]
    Empty,
}

/// Parses the addresses of all processes, in order. Ignores empty lines and those that begin with
/// `#`.
///
/// # Errors
/// If a line is not an address, an address is repeated, or the text has no addresses.
fn hosts(text: &str) -> Result<Vec<String>, HostsError> {
    let mut addresses: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (line, text) = (number + 1, line.trim());
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let is_address =
            port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
        if !is_address {
            return Err(HostsError::Address { line, text: text.to_owned() });
        }
        if addresses.iter().any(|address| address == text) {
            return Err(HostsError::Twice { line, text: text.to_owned() });
        }
        addresses.push(text.to_owned());
    }
    if addresses.is_empty() { Err(HostsError::Empty) } else { Ok(addresses) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_addresses_and_skips_comments() {
        let named = hosts("# two machines\n\n10.0.0.1:2101\r\n [::1]:2102 \n");
        assert_eq!(named, Ok(vec!["10.0.0.1:2101".to_owned(), "[::1]:2102".to_owned()]));
    }

    #[test]
    fn invalid_hosts_are_reported_with_their_line() {
        let wrong = |line, text: &str| Err(HostsError::Address { line, text: text.to_owned() });
        for text in ["10.0.0.1", ":2101", "a:0", "a:65536", "a:b"] {
            assert_eq!(hosts(&format!("a:1\n{text}\n")), wrong(2, text));
        }
        assert_eq!(hosts("a:1\na:1"), Err(HostsError::Twice { line: 2, text: "a:1".to_owned() }));
        assert_eq!(hosts("# none\n"), Err(HostsError::Empty));
        let two = vec!["a:1".to_owned(), "a:2".to_owned()];
        let error = HostsError::Process { process: 2, count: 2 };
        assert_eq!(Members::new(two, 2).err(), Some(error));
    }
}
