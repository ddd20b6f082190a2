//! A real server under load, killed or not: atomic operations are never accused, others are found
//! out. If `redis-server` is not installed, nothing is tested, and a line says so.
//!
//! `SNAPSHOT_EFFORT=night` makes a million operations of each linearizable recording.

#[path = "../../examples/redis/load.rs"]
mod load;
#[path = "../../examples/redis/server.rs"]
mod server;

use std::sync::atomic::Ordering;
use std::time::Duration;

use snapshot_core::History;
use snapshot_core::certificate::witness;
use snapshot_core::check::{Report, check};
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;

use self::load::{Load, Reading};
use self::server::Server;

fn server(is_durable: bool) -> Option<Server> {
    let server = Server::start(is_durable).unwrap();
    if server.is_none() {
        eprintln!("redis-server is not installed: nothing was tested");
    }
    server
}

fn checked(history: &History<i64>) -> Report<i64> {
    check(history, &mut Budget { memory: 8 << 30, proceed: &mut || true })
}

fn operations() -> usize {
    test_support::effort::by_effort(6_000, 6_000, 1_000_000)
}

#[test]
fn histories_of_mget_are_linearizable() {
    let Some(server) = server(false) else { return };
    for (clients, reading) in [(12, Reading::Mget), (5, Reading::MgetOfSome)] {
        let operations = operations() / clients;
        let load = Load { clients, keys: 4, operations, reading };
        let history = load.run(server.address(), |_| {}).unwrap();
        assert_eq!(history.operations().len(), clients * operations);
        assert_eq!(history.pending(), 0);
        let report = checked(&history);
        assert!(matches!(report.verdict, Verdict::Linearizable(_)), "{report}");
        // The next run has its own values; keys begin with 0.
        server::Client::connect(server.address()).unwrap().clear().unwrap();
    }
}

#[test]
fn a_get_per_key_is_no_snapshot() {
    let Some(server) = server(false) else { return };
    // Each round almost surely finds a violation; ten rounds without one are practically
    // impossible.
    let is_found = (0..10).any(|_| {
        let load = Load { clients: 12, keys: 4, operations: 300, reading: Reading::Gets };
        let history = load.run(server.address(), |_| {}).unwrap();
        server::Client::connect(server.address()).unwrap().clear().unwrap();
        let report = checked(&history);
        let Verdict::Violation(found) = &report.verdict else { return false };
        assert_eq!(witness::check(&history, found), Ok(()), "{report}");
        assert!(found.operations.len() < 20, "{report}");
        true
    });
    assert!(is_found);
}

#[test]
fn histories_of_a_killed_server_lose_outcomes_and_are_linearizable() {
    let Some(mut server) = server(true) else { return };
    let address = server.address();
    let load = Load { clients: 12, keys: 4, operations: 300, reading: Reading::Mget };
    let mut kills = 0;
    let history = load.run(address, |busy| {
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(25));
            if busy.load(Ordering::Relaxed) > 0 {
                server.restart().unwrap();
                kills += 1;
            }
        }
    });
    let history = history.unwrap();
    assert!(kills > 0, "the load ended before the server was killed");
    assert!(history.pending() > 0, "no outcome of {} is unknown", history.operations().len());
    let report = checked(&history);
    assert!(matches!(report.verdict, Verdict::Linearizable(_)), "{report}");
    eprintln!("{} outcomes of {} unknown", history.pending(), history.operations().len());
}
