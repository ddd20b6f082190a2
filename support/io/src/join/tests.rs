//! Processes that join or are refused, and a listener that survives any connection.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const SOON: Duration = Duration::from_secs(20);

fn key(text: &str) -> Key {
    Key::new(format!("the key of {text}, which is long enough").as_bytes()).unwrap()
}

fn listener(access: &Access) -> (Listener, String) {
    let listener = Listener::bind("127.0.0.1:0", access).unwrap();
    let address = listener.listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Returns process 1, which calls process 0 at this address.
fn caller(address: &str, access: &Access) -> Members {
    let addresses = vec![address.to_owned(), "127.0.0.1:1".to_owned()];
    Members::new(addresses, 1).unwrap().with_access(access.clone())
}

fn call(address: &str, access: &Access) -> Result<TcpStream, JoinError> {
    caller(address, access).call(0, SOON)
}

/// Calls a listener that waits for this long; returns the results of both sides.
fn joined(
    ours: &Access,
    theirs: &Access,
    patience: Duration,
) -> (Option<TcpStream>, Result<TcpStream, JoinError>) {
    let (mut listener, address) = listener(ours);
    thread::scope(|scope| {
        let called = scope.spawn(|| call(&address, theirs));
        let accepted = listener.accept(Some(Instant::now() + patience));
        (accepted, called.join().unwrap())
    })
}

#[test]
fn processes_with_the_same_key_or_none_join() {
    let all = [
        (Access::default(), Access::default()),
        (Access::loopback(key("a")), Access::loopback(key("a"))),
        (Access::network(key("a")), Access::loopback(key("a"))),
    ];
    for (ours, theirs) in all {
        let (accepted, called) = joined(&ours, &theirs, SOON);
        let (mut here, mut there) = (accepted.unwrap(), called.unwrap());
        // No bytes of the handshake are left, and there is no time limit any more.
        assert_eq!(here.read_timeout().unwrap(), None);
        assert_eq!(there.write_timeout().unwrap(), None);
        here.write_all(b"ping").unwrap();
        let mut word = [0; 4];
        there.read_exact(&mut word).unwrap();
        there.write_all(&word).unwrap();
        here.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"ping");
    }
}

#[test]
fn processes_with_different_keys_do_not_join() {
    let (with, other) = (Access::loopback(key("a")), Access::network(key("b")));
    let none = Access::default();
    let briefly = Duration::from_millis(300);
    let refused = |ours, theirs| {
        let (accepted, called) = joined(ours, theirs, briefly);
        assert!(accepted.is_none());
        let error = called.unwrap_err();
        assert!(error.is_final(), "{error}");
        assert!(!error.to_string().contains('\n') && error.to_string().contains("--key-file"));
        error
    };
    assert!(matches!(refused(&with, &other), JoinError::WrongKey));
    assert!(matches!(refused(&with, &none), JoinError::KeyWanted));
    assert!(matches!(refused(&none, &with), JoinError::WithoutKey));
}

/// Records the bytes of both sides of a handshake.
fn recorded(access: &Access) -> (Vec<u8>, Vec<u8>) {
    let (mut listener, address) = listener(access);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let relayed = relay.local_addr().unwrap().to_string();
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        let mut said = Vec::new();
        let mut piece = [0; 256];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            said.extend(&piece[..count]);
            to.write_all(&piece[..count]).unwrap();
        }
        let _ = to.shutdown(Shutdown::Write);
        said
    };
    thread::scope(|scope| {
        let called = scope.spawn(|| call(&relayed, access).unwrap());
        let caller = relay.accept().unwrap().0;
        let answering = TcpStream::connect(&address).unwrap();
        let of = |socket: &TcpStream| socket.try_clone().unwrap();
        let (from, to) = (of(&caller), of(&answering));
        let said = scope.spawn(move || copy(from, to));
        let answered = scope.spawn(move || copy(answering, caller));
        let accepted = listener.accept(Some(Instant::now() + SOON)).unwrap();
        drop((accepted, called.join().unwrap()));
        (said.join().unwrap(), answered.join().unwrap())
    })
}

/// The bytes of one handshake prove nothing in another.
#[test]
fn replayed_handshakes_are_refused() {
    let access = Access::loopback(key("a"));
    let (said, answered) = recorded(&access);
    assert_eq!((said.len() + answered.len()) as u64, BYTES);
    let (again, _) = recorded(&access);
    assert_ne!(said[10..42], again[10..42], "random bytes are new ones");

    // Replayed to the listener.
    let (mut listener, address) = listener(&access);
    let mut replay = TcpStream::connect(&address).unwrap();
    replay.write_all(&said).unwrap();
    assert!(listener.accept(Some(Instant::now() + Duration::from_millis(300))).is_none());
    let mut told = Vec::new();
    let _ = replay.read_to_end(&mut told);
    // Its hello, and the rejection of the proof.
    assert_eq!((told.len(), told.last()), (43, Some(&0)));

    // Replayed to a caller; and the caller's own bytes, sent back as if by a listener.
    type Answer<'a> = &'a (dyn Fn(&mut TcpStream) + Sync);
    let replayed: Answer<'_> = &|socket| {
        let mut said = [0; 42 + 32];
        socket.write_all(&answered).unwrap();
        socket.read_exact(&mut said).unwrap();
    };
    let reflected: Answer<'_> = &|socket| {
        let (mut hello, mut proof) = ([0; 42], [0; 32]);
        socket.read_exact(&mut hello).unwrap();
        socket.write_all(&hello).unwrap();
        socket.read_exact(&mut proof).unwrap();
        socket.write_all(&[&[1], &proof[..]].concat()).unwrap();
    };
    for answer in [replayed, reflected] {
        let false_listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = false_listener.local_addr().unwrap().to_string();
        thread::scope(|scope| {
            scope.spawn(|| answer(&mut false_listener.accept().unwrap().0));
            assert!(matches!(call(&address, &access), Err(JoinError::WrongKey)));
        });
    }
}

/// No client joins with arbitrary bytes, cut off anywhere or not at all, and the next process does
/// join.
#[test]
fn garbage_is_refused_and_the_next_process_joins() {
    let access = Access::loopback(key("a"));
    let (said, _) = recorded(&access);
    let (mut listener, address) = listener(&access);
    let mut garbage: Vec<Vec<u8>> =
        (0..said.len()).step_by(5).map(|at| said[..at].to_vec()).collect();
    garbage.push(b"GET / HTTP/1.1\r\n\r\n".repeat(10));
    garbage.push(vec![0; 100_000]);
    // An unlikely version; and each byte changed, including those of the magic number.
    for at in [0, 7, 8, 9, 41, 42, 73] {
        let mut changed = said.clone();
        changed[at] ^= 0x80;
        garbage.push(changed);
    }
    for _ in 0..20 {
        let mut random = vec![0; 80];
        getrandom::fill(&mut random).unwrap();
        garbage.push(random);
    }
    for bytes in garbage {
        let mut socket = TcpStream::connect(&address).unwrap();
        // The connection may be closed before all bytes are sent.
        let _ = socket.write_all(&bytes);
        let _ = socket.shutdown(Shutdown::Write);
        assert!(listener.accept(Some(Instant::now() + LOOK)).is_none());
    }
    thread::scope(|scope| {
        let called = scope.spawn(|| call(&address, &access));
        assert!(listener.accept(Some(Instant::now() + SOON)).is_some());
        assert!(called.join().unwrap().is_ok());
    });
}

/// Connections that send nothing, or a byte from time to time, are closed after the limit, for any
/// number of them; and there are never more than a few handshakes.
#[test]
fn slow_connections_are_closed_at_the_limit() {
    let access = Access::loopback(key("a"));
    let (mut listener, address) = listener(&access);
    listener.limit = Duration::from_millis(400);
    let mut silent: Vec<TcpStream> =
        (0..MOST + 8).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            // Right bytes, but far too slowly.
            for byte in *b"snapjoin" {
                silent.iter_mut().step_by(2).for_each(|socket| drop(socket.write(&[byte])));
                thread::sleep(Duration::from_millis(100));
            }
            silent.iter_mut().for_each(|socket| {
                let mut rest = Vec::new();
                socket.set_read_timeout(Some(SOON)).unwrap();
                // Closed, or reset.
                let _ = socket.read_to_end(&mut rest);
                assert!(rest.is_empty());
            });
            is_over.store(true, Ordering::Relaxed);
        });
        let called = scope.spawn(|| {
            loop {
                match call(&address, &access) {
                    Err(JoinError::Io(_)) => thread::sleep(LOOK),
                    called => return called,
                }
            }
        });
        assert!(listener.accept(Some(began + SOON)).is_some());
        assert!(called.join().unwrap().is_ok());
        while !is_over.load(Ordering::Relaxed) {
            assert!(listener.accept(Some(Instant::now() + LOOK)).is_none());
            assert!(Arc::strong_count(&listener.open) <= 1 + MOST);
        }
    });
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn remote_addresses_need_a_key_and_the_network_flag() {
    let (with, network) = (Access::loopback(key("a")), Access::network(key("a")));
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        for access in [&Access::default(), &with] {
            let error = Listener::bind(address, access).unwrap_err();
            assert!(error.contains("--network"), "{address}: {error}");
        }
    }
    for address in ["127.0.0.1:0", "127.0.0.2:0", "localhost:0"] {
        assert!(Listener::bind(address, &Access::default()).is_ok(), "{address}");
    }
    assert!(Listener::bind("0.0.0.0:0", &network).is_ok());
    // An address reserved for documentation: connecting would fail only after a minute.
    for address in ["192.0.2.1:9", "0.0.0.0:9", "[::ffff:192.0.2.1]:9"] {
        assert!(matches!(call(address, &Access::default()), Err(JoinError::Unprotected)));
    }
    let mapped = call("[::ffff:127.0.0.1]:1", &Access::default());
    assert!(matches!(mapped, Err(JoinError::Io(_))), "{mapped:?}");
}
