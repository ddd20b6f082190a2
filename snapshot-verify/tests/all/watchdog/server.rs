//! The language server ends verifications of hostile texts in time, and answers meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::effort::seeds;
use test_support::lateness::processor_time;

use super::{AFTER, LATE, PROGRAM, TRIES, texts};

/// Maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server, and its output.
struct Server {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn new() -> Self {
        let after = AFTER.as_secs_f64().to_string();
        let mut child = Command::new(PROGRAM.path())
            .args(["lsp", "--time", &after, "--threads", "1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            while out.read_line(&mut line).is_ok_and(|read| read > 0) {
                let length = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
                let mut body = vec![0; length];
                out.read_line(&mut String::new()).unwrap();
                out.read_exact(&mut body).unwrap();
                if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let input = child.stdin.take().unwrap();
        let mut server = Self { child, input, messages };
        server.ask(0, "initialize", &json!({ "capabilities": {} }));
        assert!(server.answer(0).is_some());
        server
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "snapshot", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
    }

    /// Returns the response to a request; `None` if it does not arrive.
    fn answer(&self, id: u64) -> Option<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).ok()?;
            if message["id"] == id {
                return Some(message);
            }
        }
    }

    fn used(&self) -> Duration {
        processor_time(self.child.id()).unwrap_or_default()
    }

    /// Returns the processor time that a request takes beyond this time; `None` without an answer.
    fn late(&mut self, id: u64, after: Duration, ask: impl FnOnce(&mut Self)) -> Option<Duration> {
        ask(self);
        thread::sleep(after);
        let before = self.used();
        self.answer(id)?;
        Some(self.used().saturating_sub(before))
    }
}

/// Returns the late request for a text, to show or to verify it; `None` if all are in time.
fn late(text: &str) -> Option<String> {
    let mut server = Server::new();
    let uri = "file:///hostile.snapshot";
    let shown = server.late(1, Duration::ZERO, |server| {
        server.open(uri, text);
        server.ask(1, "textDocument/documentSymbol", &json!({ "textDocument": { "uri": uri } }));
    });
    // A text of maximum length is read immediately.
    if shown.is_none_or(|shown| shown >= LATE) {
        return Some(format!("shown: {shown:?}"));
    }
    let params = json!({ "command": "snapshot-verify.check", "arguments": [{ "uri": uri }] });
    let verified =
        server.late(2, AFTER, |server| server.ask(2, "workspace/executeCommand", &params));
    verified.is_none_or(|late| late >= LATE).then(|| format!("verified: {verified:?}"))
}

#[test]
fn the_server_answers_in_time() {
    for seed in seeds(4, 60) {
        let text = if seed % 4 == 3 { texts::register(seed) } else { texts::snapshot(seed) };
        let tries: Vec<String> = (0..TRIES).map_while(|_| late(&text)).collect();
        assert!(tries.len() < TRIES, "seed {seed}: {tries:?}");
    }
}
