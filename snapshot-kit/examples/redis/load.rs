//! Many clients of a server, and a recording of their operations.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use snapshot_core::History;
use snapshot_core::history::{Declaration, Writers};
use snapshot_kit::record::{Handle, RecordError, Recorder, Reply};

use super::server::Client;

/// Method of reading the keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reading {
    /// `MGET` of all keys: an atomic snapshot.
    Mget,
    /// `MGET` of some keys: an atomic partial scan.
    MgetOfSome,
    /// A `GET` per key: not a snapshot.
    Gets,
}

/// Workload of the clients.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of clients, each of which sets any key.
    pub clients: usize,
    /// Number of keys.
    pub keys: usize,
    /// Operations per client.
    pub operations: usize,
    /// Method of reading, for half of the operations.
    pub reading: Reading,
}

impl Load {
    /// Runs the clients, and returns their recorded history. `meanwhile` runs beside them, with the
    /// number of clients still at work. It may kill the server: operations in flight then have an
    /// unknown outcome.
    ///
    /// # Errors
    /// If the recording is not a history.
    pub fn run(
        self,
        address: SocketAddr,
        meanwhile: impl FnOnce(&AtomicUsize),
    ) -> Result<History<i64>, RecordError> {
        let mut declaration = Declaration::new(0).with_segments(self.keys);
        declaration.writers = Writers::Many;
        let recorder = Recorder::new(declaration);
        let handles: Vec<Handle<i64>> =
            (0..self.clients).map(|process| recorder.process(process)).collect::<Result<_, _>>()?;
        let busy = AtomicUsize::new(self.clients);
        std::thread::scope(|scope| {
            for (number, handle) in handles.into_iter().enumerate() {
                let busy = &busy;
                scope.spawn(move || {
                    self.client(number, handle, address);
                    busy.fetch_sub(1, Ordering::Relaxed);
                });
            }
            meanwhile(&busy);
        });
        recorder.history()
    }

    fn client(self, number: usize, mut handle: Handle<i64>, address: SocketAddr) {
        let keys: Vec<String> = (0..self.keys).map(|key| format!("k{key}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut connection = None;
        // A fixed sequence per client: the interleaving of clients is random enough.
        let mut state = number as u64 + 1;
        for operation in 0..self.operations {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0xb504_f333);
            let choice = (state >> 33) as usize;
            let client = match connect(&mut connection, address) {
                Ok(client) => client,
                Err(_) => continue,
            };
            let is_lost = if choice & 1 == 0 {
                let key = (choice >> 1) % self.keys;
                let value = (number * self.operations + operation + 1) as i64;
                let reply = handle.try_update(key, value, || outcome(client.set(keys[key], value)));
                reply == Reply::Unknown
            } else {
                self.read(client, &mut handle, &keys, choice >> 1)
            };
            if is_lost {
                connection = None;
            }
        }
    }

    /// Returns true if the outcome is unknown.
    fn read(
        self,
        client: &mut Client,
        handle: &mut Handle<i64>,
        keys: &[&str],
        choice: usize,
    ) -> bool {
        match self.reading {
            Reading::Mget => handle.try_scan(|| outcome(client.mget(keys))) == Reply::Unknown,
            Reading::Gets => {
                let gets = |client: &mut Client| keys.iter().map(|key| client.get(key)).collect();
                handle.try_scan(|| outcome::<Vec<i64>>(gets(client))) == Reply::Unknown
            }
            Reading::MgetOfSome => {
                let wanted: Vec<usize> =
                    (0..keys.len()).filter(|key| choice >> key & 1 == 1 || *key == 0).collect();
                let names: Vec<&str> = wanted.iter().map(|key| keys[*key]).collect();
                let read = |client: &mut Client| {
                    let values = client.mget(&names)?;
                    io::Result::Ok(wanted.iter().copied().zip(values).collect::<Vec<_>>())
                };
                handle.try_scan_some(|| outcome(read(client))) == Reply::Unknown
            }
        }
    }
}

fn outcome<T>(result: io::Result<T>) -> Reply<T> {
    result.map_or(Reply::Unknown, Reply::Done)
}

/// Returns the connection, and reconnects if it was lost.
fn connect(connection: &mut Option<Client>, address: SocketAddr) -> io::Result<&mut Client> {
    let mut tries = 0;
    while connection.is_none() {
        match Client::connect(address) {
            Ok(client) => *connection = Some(client),
            Err(error) if tries == 500 => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
        tries += 1;
    }
    connection.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
}
