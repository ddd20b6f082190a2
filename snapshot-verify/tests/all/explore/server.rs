//! The program as a server: its address, hostile requests, and its end.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::commands::answer_in;

/// A running `snapshot-verify explore`.
pub(super) struct Server {
    child: Child,
    pub port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it, in a folder; the arguments are separated by blanks.
    pub fn start(folder: &Path, arguments: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .arg("explore")
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let port = port.strip_suffix('/').unwrap().parse().unwrap();
        Self { child, port }
    }

    /// Presses Ctrl-C, and returns the exit code.
    fn interrupted(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// Sends bytes, and returns the answer.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may answer, and close, before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn status(&self, request: &str) -> String {
        let answer =
            self.send(request.replace("HOST", &format!("127.0.0.1:{}", self.port)).as_bytes());
        answer.split(' ').nth(1).unwrap_or("none").to_owned()
    }
}

#[test]
fn hostile_requests_are_refused_and_the_server_goes_on() {
    let server = Server::start(Path::new("."), "bowman -n 2");
    let json = "Content-Type: application/json\r\n";
    let good = format!(
        "POST /view HTTP/1.1\r\nHost: HOST\r\n{json}Content-Length: 21\r\n\r\n{{\"moves\":[],\"at\":0}}\n\n"
    );
    let long = format!("GET / HTTP/1.1\r\nHost: HOST\r\nA: {}\r\n\r\n", "a".repeat(40_000));
    let many = format!("GET / HTTP/1.1\r\nHost: HOST\r\n{}\r\n", "A: a\r\n".repeat(70));
    let endless = "a".repeat(300_000);
    let post = |rest: &str| format!("POST /view HTTP/1.1\r\nHost: HOST\r\n{json}{rest}");
    let requests: Vec<(String, &str)> = vec![
        ("GET / HTTP/1.1\r\nHost: HOST\r\n\r\n".into(), "200"),
        (good.clone(), "200"),
        ("".into(), "none"),
        ("GET".into(), "none"),
        ("\r\n\r\n\r\n".into(), "none"),
        ("\u{0}\u{1}\u{2}\r\n\r\n".into(), "400"),
        ("GET / HTTP/9.9\r\nHost: HOST\r\n\r\n".into(), "400"),
        ("GET / HTTP/1.1\r\n\r\n".into(), "403"),
        ("GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n".into(), "403"),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n".into(), "400"),
        ("GET / HTTP/1.1\r\nHost HOST\r\n\r\n".into(), "400"),
        ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n".into(), "404"),
        ("CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n".into(), "404"),
        (long, "431"),
        (many, "431"),
        (endless, "431"),
        (post("Content-Length: -1\r\n\r\n"), "400"),
        (post("Content-Length: 1e9\r\n\r\n"), "400"),
        (post("Content-Length: \r\n\r\n"), "400"),
        (post("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), "400"),
        // A length that nobody can hold, and one that no number can.
        (post("Content-Length: 9999999999999999\r\n\r\n{}"), "413"),
        (post("Content-Length: 99999999999999999999999999\r\n\r\n{}"), "413"),
        (post("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "411"),
        (post("Content-Length: 100\r\n\r\n{}"), "none"),
        (post("Content-Length: 2\r\n\r\n{}"), "400"),
        (post("Content-Length: 2\r\n\r\n\u{00ff}"), "400"),
        (post("\r\n"), "400"),
        (post("Content-Length: 4\r\n\r\nnullGET / HTTP/1.1\r\n\r\n"), "400"),
    ];
    for (request, status) in &requests {
        assert_eq!(server.status(request), *status, "{:.200}", request.escape_debug().to_string());
    }
    let answer = server
        .send(format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port).as_bytes());
    for header in
        ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"]
    {
        assert!(answer.contains(&format!("\r\n{header}\r\n")), "{header}");
    }
    assert!(!answer.contains("Access-Control"), "no other site may read an answer");
    // Connections that say nothing leave room for others, and are not waited for at the end.
    let silent: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    assert_eq!(server.status(&good), "200");
    let more: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    assert_eq!(server.status(&good), "503");
    drop(more);
    assert_eq!(server.interrupted(), Some(0));
    drop(silent);
}

#[test]
fn only_what_can_be_explored_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "wrong.snapshot",
        "algorithm wrong\nshared a[segment]: value\nupdate(v):\n    a[me] =: v\n",
    );
    write("good.trace", "snapshot-trace 2\nalgorithm bowman\nprocesses 2\np0 scan\nend\n");
    write("bad.trace", "snapshot-trace 2\nalgorithm bowman\nprocesses 2\np0 step\nend\n");
    write(
        "long.trace",
        "snapshot-trace 2\nalgorithm bowman\nprocesses 2\np0 scan\np0 step 3000\nend\n",
    );
    let taken = Server::start(folder.path(), "bowman");
    let port = taken.port;
    for (arguments, expected) in [
        ("nothing", "there is no algorithm `nothing`".to_owned()),
        ("bowman --bug nothing", "bowman has no bug `nothing`".to_owned()),
        ("wrong.snapshot", "wrong.snapshot:4:11".to_owned()),
        ("bowman --size 3", "size".to_owned()),
        ("bowman -n 1", "at least".to_owned()),
        ("bowman -n every", "one number of processes".to_owned()),
        ("--trace nothing.trace", "cannot read nothing.trace".to_owned()),
        ("afek --trace good.trace", "leave the algorithm out".to_owned()),
        ("bowman -n 2 --trace good.trace", "cannot be used with".to_owned()),
        ("--trace bad.trace", "bad.trace: move 1, `p0 step`: the process is idle".to_owned()),
        ("--trace long.trace", "`replay --step` walks along longer ones".to_owned()),
        ("", "required".to_owned()),
        (&format!("bowman --port {port}"), format!("port {port} is in use")),
        ("bowman --port 0", "--port".to_owned()),
    ] {
        let (code, out, error) = answer_in(folder.path(), &format!("explore {arguments}"));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
        assert!(error.contains(&expected), "{arguments}: {error}");
    }
    assert_eq!(taken.interrupted(), Some(0));
}
