//! The server of the page: one request per connection, on the loopback address.
//!
//! A request is limited in its length, in its time, and in the number of others beside it; what is
//! announced is never allocated before it has arrived. `httparse` reads the head.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use snapshot_verify::explore::{Answer, BODY_LIMIT, Explorer, Question};

use super::super::{interrupt, trouble};

/// Most bytes of the head of a request.
const HEAD_LIMIT: usize = 1 << 14;

/// Most headers of a request.
const MOST_HEADERS: usize = 64;

/// Most requests at the same time.
const MOST_CONNECTIONS: usize = 32;

/// Time in which a request must arrive, and its answer must be taken.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time between two looks at whether Ctrl-C was pressed.
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes that are read and thrown away after a refused request, so that its sender reads the answer
/// before it learns that the connection is closed.
const DRAINED: usize = 1 << 20;

static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);

/// Listens on a port of the loopback address, or on a free one.
///
/// # Errors
/// The exit code; the diagnostics have been printed.
pub fn listen(port: Option<u16>) -> Result<TcpListener, ExitCode> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).map_err(|error| match port {
        Some(port) if error.kind() == ErrorKind::AddrInUse => trouble(format_args!(
            "port {port} is in use: choose another one, or leave --port out for a free one"
        )),
        Some(port) => trouble(format_args!("cannot listen on port {port}: {error}")),
        None => trouble(format_args!("cannot listen on 127.0.0.1: {error}")),
    })
}

/// Answers requests until Ctrl-C.
pub fn serve(listener: TcpListener, port: u16, explorer: Arc<Explorer>) -> ExitCode {
    let stop = interrupt::listen();
    // It ends with the program.
    thread::spawn(move || {
        loop {
            // A failure, such as too many open files, passes when connections are closed.
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            let explorer = Arc::clone(&explorer);
            // Counted before its thread runs: threads begin in any order.
            let others = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                // A client that is gone needs no answer.
                let _ = match others < MOST_CONNECTIONS {
                    true => talk(stream, port, &explorer, stop),
                    false => send(stream, &Answer::refused(503, "too many requests at once")),
                };
                CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
    }
    ExitCode::SUCCESS
}

/// Reads a request, and sends the answer.
fn talk(
    mut stream: TcpStream,
    port: u16,
    explorer: &Explorer,
    stop: &AtomicBool,
) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match receive(&mut stream) {
        Ok(request) => explorer.answer(port, &request.question(), stop),
        Err(Refusal::Gone) => return Ok(()),
        Err(Refusal::Answered(status, reason)) => Answer::refused(status, reason),
    };
    send(stream, &answer)
}

/// A request that has arrived.
struct Request {
    method: String,
    path: String,
    host: Option<String>,
    origin: Option<String>,
    content_type: Option<String>,
    body: Vec<u8>,
}

impl Request {
    fn question(&self) -> Question<'_> {
        Question {
            method: &self.method,
            path: &self.path,
            host: self.host.as_deref(),
            origin: self.origin.as_deref(),
            content_type: self.content_type.as_deref(),
            body: &self.body,
        }
    }
}

/// Reason why there is no request.
enum Refusal {
    /// The client is gone.
    Gone,
    /// Status code and reason of the answer.
    Answered(u16, &'static str),
}

const MALFORMED: Refusal = Refusal::Answered(400, "this is no request of HTTP");

fn receive(stream: &mut TcpStream) -> Result<Request, Refusal> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        match head.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => {
                let (mut request, announced) = of_head(&head)?;
                request.body = bytes.split_off(length);
                while request.body.len() < announced {
                    more(stream, &mut request.body, until)?;
                }
                request.body.truncate(announced);
                return Ok(request);
            }
            Ok(httparse::Status::Partial) if bytes.len() > HEAD_LIMIT => {
                return Err(Refusal::Answered(431, "the head of the request is too long"));
            }
            Ok(httparse::Status::Partial) => more(stream, &mut bytes, until)?,
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refusal::Answered(431, "the request has too many headers"));
            }
            Err(_) => return Err(MALFORMED),
        }
    }
}

/// Reads some more bytes.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, until: Instant) -> Result<(), Refusal> {
    let late = Refusal::Answered(408, "the request took too long to arrive");
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(late);
    }
    let mut piece = [0; 4096];
    match stream.read(&mut piece) {
        Ok(0) => Err(Refusal::Gone),
        Ok(count) => {
            bytes.extend_from_slice(&piece[..count]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(late)
        }
        Err(_) => Err(Refusal::Gone),
    }
}

/// Returns the request without its body, and the length of the body.
fn of_head(head: &httparse::Request<'_, '_>) -> Result<(Request, usize), Refusal> {
    let header = |name: &str| -> Result<Option<String>, Refusal> {
        let mut found = head.headers.iter().filter(|one| one.name.eq_ignore_ascii_case(name));
        let Some(first) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(Refusal::Answered(400, "a header is given twice"));
        }
        let text = String::from_utf8(first.value.to_vec()).map_err(|_| MALFORMED)?;
        Ok(Some(text.trim().to_owned()))
    };
    if header("transfer-encoding")?.is_some() {
        return Err(Refusal::Answered(411, "a request must announce its length"));
    }
    let announced = match header("content-length")? {
        None => 0,
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            // A larger number than can be counted is too large, too.
            text.parse().unwrap_or(usize::MAX)
        }
        Some(_) => return Err(MALFORMED),
    };
    if announced > BODY_LIMIT {
        return Err(Refusal::Answered(413, "the request is too long"));
    }
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: head.path.unwrap_or_default().to_owned(),
        host: header("host")?,
        origin: header("origin")?,
        content_type: header("content-type")?,
        body: Vec::new(),
    };
    Ok((request, announced))
}

fn send(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n",
        answer.status,
        phrase(answer.status),
        answer.content_type,
        answer.body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(answer.body.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut piece = [0; 4096];
    let mut drained = 0;
    while drained < DRAINED {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(count) => drained += count,
        }
    }
    Ok(())
}

const fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}
