//! Do the clients of a Redis server observe one object?
//!
//! ```text
//! cargo run --release -p snapshot-kit --example redis -- [mget|some|gets|killed] [OPERATIONS] [FILE]
//! ```
//!
//! Starts `redis-server` (Debian: `apt-get install redis-server`), lets 12 clients set 4 keys and
//! read them, records their operations, and checks the history: `MGET` of all keys (`mget`) or of
//! some (`some`) is atomic, a `GET` per key (`gets`) is not; `killed` kills the server now and
//! then, without notice. With a FILE, leaves the recording there, for `snapshot-test`.

mod load;
mod server;

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_core::check::check;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_kit::save;

use self::load::{Load, Reading};
use self::server::{Client, Server};

const CLIENTS: usize = 12;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_else(|| "mget".to_owned());
    let (reading, is_killed) = match mode.as_str() {
        "mget" => (Reading::Mget, false),
        "some" => (Reading::MgetOfSome, false),
        "gets" => (Reading::Gets, false),
        "killed" => (Reading::Mget, true),
        other => return Err(format!("expected mget, some, gets or killed, found {other}").into()),
    };
    let operations: usize = arguments.next().map_or(Ok(12_000), |n| n.parse())?;
    let Some(mut server) = Server::start(is_killed)? else {
        return Err("redis-server is not installed (Debian: apt-get install redis-server)".into());
    };
    let load = Load { clients: CLIENTS, keys: 4, operations: operations / CLIENTS, reading };
    let address = server.address();
    // It is a new server, but the recorded history begins with keys that have no value.
    Client::connect(address)?.clear()?;
    let start = Instant::now();
    let history = load.run(address, |busy| {
        while is_killed && busy.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(200));
            if let Err(error) = server.restart() {
                eprintln!("the server does not start again: {error}");
                return;
            }
        }
    })?;
    let lost = history.pending();
    println!(
        "{} operations in {:.1?}, {lost} of them of unknown outcome",
        history.operations().len(),
        start.elapsed()
    );
    if let Some(path) = arguments.next() {
        save(
            &history,
            &["redis, as `cargo run --example redis` recorded it"],
            BufWriter::new(File::create(path)?),
        )?;
    }
    let start = Instant::now();
    let report = check(&history, &mut Budget { memory: 4 << 30, proceed: &mut || true });
    println!("{report}decided in {:.2?}", start.elapsed());
    Ok(ExitCode::from(u8::from(!matches!(report.verdict, Verdict::Linearizable(_)))))
}
