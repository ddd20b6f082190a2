//! Records a synchronous channel of the standard library, `sync_channel(0)`, for
//! `snapshot-test check --object channel`: a line before each call, and one after its return,
//! written under one lock, so that lines are in the order of time.
//!
//! ```text
//! cargo run --release -p snapshot-test --example record_channel -- 4 1000000 > channel.txt
//! snapshot-test check --object channel --progress channel.txt
//! ```
//!
//! Arguments: the number of sending threads (one thread receives), and the total number of
//! operations.

use std::env;
use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

struct Log(Mutex<BufWriter<Stdout>>);

impl Log {
    fn line(&self, process: usize, event: impl Display) -> io::Result<()> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(out, "p{process} {event}")
    }
}

fn main() -> io::Result<()> {
    let mut numbers = env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut next = |default: usize| match numbers.next() {
        None => Ok(default),
        Some(number) => number.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error)),
    };
    let (senders, operations) = (next(4)?.max(1), next(1_000)?);
    let each = operations / 2 / senders;
    let log = &Log(Mutex::new(BufWriter::new(io::stdout())));
    writeln!(log.0.lock().unwrap_or_else(PoisonError::into_inner), "object channel")?;
    let (sender, receiver) = sync_channel(0);
    thread::scope(|scope| {
        for process in 0..senders {
            let sender = sender.clone();
            scope.spawn(move || -> io::Result<()> {
                for number in 0..each {
                    // Few values, so that most sends could have met several receives.
                    let value = (process + number) % 10;
                    log.line(process, format_args!("send {value}"))?;
                    if sender.send(value).is_err() {
                        break;
                    }
                    log.line(process, "ok")?;
                }
                Ok(())
            });
        }
        drop(sender);
        scope.spawn(move || -> io::Result<()> {
            for _ in 0..senders * each {
                log.line(senders, "receive")?;
                let Ok(value) = receiver.recv() else { break };
                log.line(senders, format_args!("ok {value}"))?;
            }
            Ok(())
        });
    });
    Ok(())
}
