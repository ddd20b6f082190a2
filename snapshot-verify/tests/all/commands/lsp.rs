//! The language server from an editor's point of view.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Maximum time of an answer, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

const URI: &str = "file:///somewhere/bowman.snapshot";

/// A client that sends the messages of a test.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications received while waiting for a response.
    notifications: Vec<Value>,
    /// Responses to other requests received meanwhile.
    responses: Vec<Value>,
    requests: u64,
}

impl Client {
    /// Starts a server without sending a message.
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            while out.read_line(&mut line).unwrap() > 0 {
                let length = line.trim().strip_prefix("Content-Length: ").unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                let mut empty = String::new();
                out.read_line(&mut empty).unwrap();
                assert_eq!(empty, "\r\n");
                out.read_exact(&mut body).unwrap();
                if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let input = child.stdin.take();
        let [notifications, responses] = [(); 2].map(|()| Vec::new());
        Self { child, input, messages, notifications, responses, requests: 0 }
    }

    /// Starts and initializes a server.
    fn new(arguments: &[&str]) -> Self {
        let mut client = Self::start(arguments);
        let result = client.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(result["serverInfo"]["name"], "snapshot-verify");
        assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 1);
        client.notify("initialized", json!({}));
        client
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn next(&self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).expect("an answer comes");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its number.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Stores a message received while waiting for another.
    fn keep(&mut self, message: Value) {
        if message.get("method").is_some() {
            self.notifications.push(message);
        } else {
            let id = message["id"].as_u64();
            assert!(id.is_some_and(|id| id <= self.requests), "no request: {message}");
            self.responses.push(message);
        }
    }

    /// Returns the response to a request.
    fn response(&mut self, id: u64) -> Value {
        if let Some(at) = self.responses.iter().position(|message| message["id"] == id) {
            return self.responses.remove(at);
        }
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.keep(message);
        }
    }

    /// Returns the result of a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Returns the error code of a request.
    fn refused(&mut self, method: &str, params: Value) -> i64 {
        let id = self.begin(method, params);
        let response = self.response(id);
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{response}"))
    }

    /// Returns the next notification of this method.
    fn notified(&mut self, method: &str) -> Value {
        loop {
            let of_method = |message: &Value| message["method"] == method;
            if let Some(at) = self.notifications.iter().position(of_method) {
                return self.notifications.remove(at)["params"].clone();
            }
            let message = self.next();
            self.keep(message);
        }
    }

    /// Returns the next diagnostics.
    fn diagnostics(&mut self) -> Vec<Value> {
        let params = self.notified("textDocument/publishDiagnostics");
        params["diagnostics"].as_array().unwrap().clone()
    }

    fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri, "languageId": "snapshot", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics()
    }

    fn change(&mut self, version: i32, text: &str) {
        let document = json!({ "uri": URI, "version": version });
        let changes = json!([{ "text": text }]);
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    fn end(mut self) -> i32 {
        self.ask("shutdown", Value::Null);
        assert_eq!(self.refused("shutdown", Value::Null), -32_600);
        self.notify("exit", Value::Null);
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bowman() -> &'static str {
    corpus::algorithm("bowman").unwrap().text
}

/// Returns the position of the first occurrence of a text, in UTF-16 units.
fn place(text: &str, part: &str) -> Value {
    let at = text.find(part).unwrap();
    let line = text[..at].matches('\n').count();
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    json!({ "line": line, "character": text[begin..at].encode_utf16().count() })
}

fn at(text: &str, part: &str) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": place(text, part) })
}

fn whole() -> Value {
    json!({ "textDocument": { "uri": URI } })
}

#[test]
fn errors_have_positions_and_remedies() {
    let mut client = Client::new(&["--stdio"]);
    // Characters of one and of two units before the error, on its line.
    let text = bowman().replace("    a[me] := v\n", "    a[me] := v; \u{e9}\u{10400} <- v\n");
    let found = client.open(URI, &text);
    let [error] = &found[..] else { panic!("{found:?}") };
    assert_eq!(error["range"]["start"], place(&text, "<- v"));
    assert_eq!((&error["severity"], &error["source"]), (&json!(1), &json!("snapshot-verify")));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("help: assign with `:=`"), "{message}");

    // An error in the text of a bug, with a related place.
    let text = bowman().replace("by `active != none`", "by `active != nobody`");
    client.change(2, &text);
    let found = client.diagnostics();
    assert_eq!(found[0]["range"]["start"], place(&text, "nobody`"), "{found:?}");
    let text = bowman().replace("scan:\n", "scan:\n    local active: bool\n");
    client.change(3, &text);
    let related = client.diagnostics()[0]["relatedInformation"][0].clone();
    assert_eq!(related["location"]["range"]["start"], place(&text, "active: process"));

    client.change(4, bowman());
    assert_eq!(client.diagnostics(), [] as [Value; 0]);
    // A program that looks at values has no proof: a diagnostic, but no error.
    let looks = corpus::algorithm("double_collect").unwrap().text;
    client.change(5, looks);
    let found = client.diagnostics();
    assert!(!found.is_empty() && found.iter().all(|one| one["severity"] == 3), "{found:?}");
    client.notify("textDocument/didClose", whole());
    assert_eq!(client.diagnostics(), [] as [Value; 0]);
    assert_eq!(client.refused("textDocument/hover", at(bowman(), "scan:")), -32_602);
    assert_eq!(client.end(), 0);
}

#[test]
fn names_have_types_and_declarations() {
    let mut client = Client::new(&[]);
    let text = bowman();
    client.open(URI, text);
    let hover = client.ask("textDocument/hover", at(text, "copy[s] := a"));
    let value = hover["contents"]["value"].as_str().unwrap();
    assert_eq!(value, "```snapshot\ncopy: view\n```");
    let hover = client.ask("textDocument/hover", at(text, "active = me"));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("process or none"), "{hover}");
    let definition = client.ask("textDocument/definition", at(text, "active = me"));
    assert_eq!(definition["range"]["start"], place(text, "active: process"));
    assert_eq!(definition["uri"], URI);
    assert_eq!(client.ask("textDocument/hover", at(text, "# One shared")), Value::Null);
    let symbols = client.ask("textDocument/documentSymbol", whole());
    let names: Vec<&str> =
        symbols.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bowman", "active", "a", "update", "scan", "early_exit"]);
    assert_eq!(client.end(), 0);
}

#[test]
fn formatting_edits_only_changed_lines() {
    let mut client = Client::new(&[]);
    let text =
        bowman().replace("    active := none\n    a[me] := v\n", "  active:=none\n  a[me] := v\n");
    client.open(URI, &text);
    let params = json!({
        "textDocument": { "uri": URI },
        "options": { "tabSize": 8, "insertSpaces": false },
    });
    let edits = client.ask("textDocument/formatting", params.clone());
    let [edit] = &edits.as_array().unwrap()[..] else { panic!("{edits}") };
    assert_eq!(edit["newText"], "    active := none\n    a[me] := v\n");
    assert_eq!(edit["range"]["start"], place(&text, "  active:=none"));
    assert_eq!(edit["range"]["end"]["character"], 0);
    client.change(2, bowman());
    assert_eq!(client.ask("textDocument/formatting", params.clone()), json!([]));
    client.change(3, "algorithm x\nupdate(v):\n  a[ := v\n");
    assert_eq!(client.ask("textDocument/formatting", params), Value::Null);
    assert_eq!(client.end(), 0);
}

/// Returns the command of the lens with this number.
fn lens(client: &mut Client, number: usize) -> Value {
    let lenses = client.ask("textDocument/codeLens", whole());
    let command = lenses[number]["command"].clone();
    json!({ "command": command["command"], "arguments": command["arguments"] })
}

#[test]
fn a_lens_verifies() {
    let mut client = Client::new(&["-n", "2", "--time", "600"]);
    client.open(URI, bowman());
    let lenses = client.ask("textDocument/codeLens", whole());
    assert_eq!(lenses[0]["command"]["title"], "verify (n = 2, at most 600 s)");
    assert_eq!(lenses[0]["range"]["start"], place(bowman(), "bowman\n"));
    assert_eq!(lenses.as_array().unwrap().len(), 2);

    let asked = lens(&mut client, 0);
    let result = client.ask("workspace/executeCommand", asked);
    assert_eq!(result["verdict"], "verified", "{result}");
    let shown = client.notified("window/showMessage");
    assert_eq!((&shown["type"], &shown["message"]), (&json!(3), &result["conclusion"]));
    let found = client.diagnostics();
    assert_eq!((found.len(), &found[0]["severity"]), (1, &json!(3)), "{found:?}");

    // Another answer at another place; the text has no expectation for this bug with n = 2.
    let asked = lens(&mut client, 1);
    client.ask("workspace/executeCommand", asked);
    let found = client.diagnostics();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(client.end(), 0);
}

#[test]
fn violation_is_shown_with_its_execution() {
    let mut client = Client::new(&["-n", "3", "--time", "600"]);
    let wrong = bowman().replace("until active = me", "until true");
    client.open(URI, wrong.split("bug ").next().unwrap());
    let asked = lens(&mut client, 0);
    let result = client.ask("workspace/executeCommand", asked);
    assert_eq!(result["verdict"], "violation");
    assert!(result["details"].as_str().unwrap().contains("p0"), "{result}");
    assert_eq!(client.notified("window/showMessage")["type"], 1);
    let found = client.diagnostics();
    assert_eq!((found.len(), &found[0]["severity"]), (1, &json!(1)), "{found:?}");
    // A changed text has no answer yet.
    client.change(2, bowman());
    assert_eq!(client.diagnostics(), [] as [Value; 0]);
    // An expected bug is not an error.
    let asked = lens(&mut client, 1);
    let result = client.ask("workspace/executeCommand", asked);
    assert_eq!(result["verdict"], "violation");
    let found = client.diagnostics();
    assert_eq!((found.len(), &found[0]["severity"]), (1, &json!(3)), "{found:?}");
    assert_eq!(client.end(), 0);
}

#[test]
fn objects_are_verified() {
    let mut client = Client::new(&["-n", "2", "--time", "600"]);
    client.open(URI, corpus::algorithm("ticket_lock").unwrap().text);
    let asked = lens(&mut client, 0);
    let result = client.ask("workspace/executeCommand", asked);
    assert_eq!(result["verdict"], "verified", "{result}");
    assert_eq!(client.end(), 0);
}

#[test]
fn verification_stops_on_a_change_or_a_cancellation() {
    let mut client = Client::new(&["-n", "9", "--time", "100000", "--threads", "1"]);
    client.open(URI, corpus::algorithm("afek_bounded").unwrap().text);
    let asked = lens(&mut client, 0);
    let id = client.begin("workspace/executeCommand", asked.clone());
    // Other requests are answered meanwhile.
    assert!(client.ask("textDocument/documentSymbol", whole()).is_array());
    client.change(2, bowman());
    assert!(client.response(id).get("error").is_some());
    let second = client.begin("workspace/executeCommand", asked.clone());
    client.notify("$/cancelRequest", json!({ "id": second }));
    assert!(client.response(second).get("error").is_some());
    let [third, fourth] = [0; 2].map(|_| client.begin("workspace/executeCommand", asked.clone()));
    assert!(client.response(third).get("error").is_some(), "one at a time");
    assert_eq!(client.end(), 0, "also while request {fourth} runs");
}

#[test]
fn protocol_is_kept_for_invalid_messages() {
    let mut client = Client::start(&[]);
    assert_eq!(client.refused("textDocument/hover", whole()), -32_002);
    client.notify("textDocument/didOpen", json!({}));
    client.raw(b"Content-Length: 3\r\n\r\n{]}");
    let answer = client.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32_700)));
    client.raw(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(client.next()["error"]["code"], -32_700);
    client.ask("initialize", json!({}));
    assert_eq!(client.refused("initialize", json!({})), -32_600);
    assert_eq!(client.refused("textDocument/rename", json!({})), -32_601);
    assert_eq!(client.refused("textDocument/hover", json!([1, 2])), -32_602);
    assert_eq!(client.refused("textDocument/codeLens", whole()), -32_602, "nothing is open");
    for arguments in [json!([]), json!([{}]), json!([{ "uri": "x" }]), json!([1, 2])] {
        let params = json!({ "command": "snapshot-verify.check", "arguments": arguments });
        assert_eq!(client.refused("workspace/executeCommand", params), -32_602);
    }
    client.notify("textDocument/didChange", json!({ "textDocument": 7 }));
    client.notify("$/setTrace", json!({ "value": "off" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": null }));

    // A text that is too long, and one of maximum length.
    let found = client.open(URI, &"#".repeat(1 << 20));
    assert!(found[0]["message"].as_str().unwrap().contains("256 KiB"), "{found:?}");
    assert_eq!(client.ask("textDocument/documentSymbol", whole()), json!([]));
    assert_eq!(client.ask("textDocument/hover", at("", "")), Value::Null);
    let long = format!("{}{}", bowman(), "# \u{1f600}\n".repeat(30_000));
    client.change(2, &long);
    assert_eq!(client.diagnostics(), [] as [Value; 0]);
    let far = json!({ "line": u32::MAX, "character": u32::MAX });
    let params = json!({ "textDocument": { "uri": URI }, "position": far });
    assert_eq!(client.ask("textDocument/hover", params), Value::Null);
    // Part of the text, though the server requests all of it.
    client.change(3, bowman());
    client.diagnostics();
    let range = json!({ "start": place(bowman(), "bowman\n"), "end": place(bowman(), "\nsource") });
    let params = json!({
        "textDocument": { "uri": URI, "version": 4 },
        "contentChanges": [{ "range": range, "text": "other" }],
    });
    client.notify("textDocument/didChange", params);
    client.diagnostics();
    let symbols = client.ask("textDocument/documentSymbol", whole());
    assert_eq!(symbols[0]["name"], "other");
    assert_eq!(client.end(), 0);
}

#[test]
fn end_without_shutdown_has_exit_code_1() {
    let mut client = Client::new(&[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
    let mut client = Client::new(&[]);
    client.input = None;
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
    let mut client = Client::start(&[]);
    client.raw(b"Content-Length: 10\r\n\r\n{");
    client.input = None;
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
}
