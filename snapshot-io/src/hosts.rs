//! The file that names the processes of a cluster, one `host:port` to a line, as timely's
//! examples have it.

use std::fs;
use std::path::Path;

use thiserror::Error;

use crate::join::{Access, AccessOptions};

/// The processes of a cluster.
#[derive(Clone, Debug)]
pub struct Members {
    addresses: Vec<String>,
    process: usize,
    access: Access,
}

impl Members {
    /// The processes that listen at these addresses; this one is number `process` of them.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn new(addresses: Vec<String>, process: usize) -> Result<Self, HostsError> {
        match addresses.len() {
            count if process < count => Ok(Self { addresses, process, access: Access::default() }),
            count => Err(HostsError::Process { process, count }),
        }
    }

    /// The same, with access for others than those at the loopback.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Those that a file names.
    ///
    /// # Errors
    /// The message, if the file cannot be read, or names no cluster, or no such process; or if
    /// there is no key though one is needed.
    pub fn read(path: &Path, process: usize, access: &AccessOptions) -> Result<Self, String> {
        let at = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read --cluster {at}: {error}"))?;
        let members = hosts(&text).and_then(|addresses| Self::new(addresses, process));
        let members = members.map_err(|error| format!("--cluster {at}: {error}"))?;
        Ok(members.with_access(access.access()?))
    }

    /// Where each listens; there is at least one.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Which processes may join this one.
    pub(crate) const fn access(&self) -> &Access {
        &self.access
    }

    /// Which of them this one is.
    pub const fn process(&self) -> usize {
        self.process
    }
}

/// Why a text names no cluster.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum HostsError {
    /// A line is no address.
    #[error("line {line}: {text:?} is no address: write host:port, such as 10.0.0.1:2101")]
    Address {
        /// The line's number, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A line repeats another.
    #[error("line {line}: {text} was named before: each process needs an address of its own")]
    Twice {
        /// The line's number, from 1.
        line: usize,
        /// The address.
        text: String,
    },
    /// No such process.
    #[error(
        "there is no process {process}: {count} are named, and the first is process 0; choose \
         another --process"
    )]
    Process {
        /// Which was asked for.
        process: usize,
        /// How many there are.
        count: usize,
    },
    /// There is no line.
    #[error("no process is named: write a line host:port for each")]
    Empty,
}

/// The addresses of all processes, in order. Empty lines and those that begin with `#` say nothing.
///
/// # Errors
/// If a line is no address, or one of them stands twice, or there is none.
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
    fn lines_are_addresses_and_comments_are_not() {
        let named = hosts("# two machines\n\n10.0.0.1:2101\r\n [::1]:2102 \n");
        assert_eq!(named, Ok(vec!["10.0.0.1:2101".to_owned(), "[::1]:2102".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
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
