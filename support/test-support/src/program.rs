//! Runs programs for their tests: from outside, in bounded time and memory, with inputs and outputs
//! arranged by a shell.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Most memory that a program may map, in KiB: `ulimit -v`.
const MEMORY: u64 = 4_000_000;

/// Longest time that a program may run.
const TIME: Duration = Duration::from_secs(60);

/// A program, by the path of its file: `env!("CARGO_BIN_EXE_name")` in its tests.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    path: &'static str,
}

impl Program {
    /// Creates a program from its file.
    pub const fn new(path: &'static str) -> Self {
        Self { path }
    }

    pub const fn path(self) -> &'static str {
        self.path
    }

    /// Runs it in at most 4 GB of memory and a minute of time. Returns the exit code, and the two
    /// outputs unless a redirection of the shell (`> /dev/full`) takes them away.
    ///
    /// # Panics
    /// If it is ended by a signal, including the limit of time, or prints invalid text.
    pub fn run(self, arguments: &[&str], redirections: &str) -> (i32, String) {
        self.run_after(&format!("ulimit -v {MEMORY}"), arguments, redirections)
    }

    /// Runs as [`run`](Self::run), after these shell commands instead of the limit of memory.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_after(self, before: &str, arguments: &[&str], redirections: &str) -> (i32, String) {
        let script = format!("{before}; exec \"$0\" \"$@\" {redirections}");
        let mut child = Command::new("sh")
            .args(["-c", &script, self.path])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut out = child.stdout.take().expect("it is a pipe");
        let mut error = child.stderr.take().expect("it is a pipe");
        let drained = thread::spawn(move || {
            let mut bytes = Vec::new();
            error.read_to_end(&mut bytes).map(|_| bytes)
        });
        let watched = Arc::new(Mutex::new(child));
        let watch = Arc::clone(&watched);
        let (done, is_done) = mpsc::channel();
        let killer = thread::spawn(move || {
            if is_done.recv_timeout(TIME).is_err() {
                let _ = watch.lock().expect("no thread panics here").kill();
            }
        });
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).expect("outputs can be read");
        let errors = drained.join().expect("it does not panic");
        bytes.extend(errors.expect("outputs can be read"));
        let status = watched.lock().expect("no thread panics here").wait().expect("it is a child");
        let _ = done.send(());
        killer.join().expect("it does not panic");
        let code = status.code();
        let code = code.unwrap_or_else(|| panic!("{arguments:?} ended by a signal: {status}"));
        (code, String::from_utf8(bytes).expect("the output is text"))
    }

    /// Runs it, and asserts that it ends with a documented code, 0 to 3, and prints no terminal
    /// commands unless its output is data.
    pub fn answer(self, arguments: &[&str]) -> (i32, String) {
        let (code, text) = self.run(arguments, "");
        assert!((0..=3).contains(&code), "{arguments:?}: {code}: {text:.2000}");
        let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        let is_data = arguments.contains(&"json") || arguments.contains(&"convert");
        assert!(is_data || !text.contains(commands), "{arguments:?}: {text:?}");
        (code, text)
    }

    /// Runs it where outputs cannot be written: no file may be larger than 0 blocks. To check that
    /// it leaves existing files unchanged, and no others.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_without_space(self, arguments: &[&str]) -> (i32, String) {
        self.run_after("trap '' XFSZ; ulimit -f 0", arguments, "")
    }

    /// Asserts that each of these commands ends with code 2 if its results cannot be written, with
    /// 0 if nothing reads them, and with its usual code if its diagnostics cannot be written.
    pub fn assert_minds_its_outputs(self, commands: &[&[&str]]) {
        for arguments in commands {
            let (usual, _) = self.run(arguments, "");
            assert_eq!(self.run(arguments, "> /dev/full").0, 2, "{arguments:?}");
            assert_eq!(self.run(arguments, "2> /dev/full").0, usual, "{arguments:?}");
            assert_eq!(self.run(arguments, "> /dev/full 2> /dev/full").0, 2, "{arguments:?}");
            assert_eq!(self.run(arguments, "| true").0, 0, "{arguments:?}");
        }
    }

    /// Asserts that each of these commands, which are refused, ends with code 2 even if it cannot
    /// print the reason.
    pub fn assert_refuses_in_silence(self, commands: &[&[&str]]) {
        for arguments in commands {
            assert_eq!(self.run(arguments, "2> /dev/full").0, 2, "{arguments:?}");
            assert_eq!(self.run(arguments, "2>&-").0, 2, "{arguments:?}");
        }
    }
}

/// Returns variants that make most texts invalid, each with a name: other line ends and encodings,
/// terminal commands, truncation, repetition. `word` occurs in `good`.
pub fn spoilt(good: &str, word: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", vec![]),
        ("only line ends", b"\n\n\r\n".to_vec()),
        ("carriage returns", good.replace('\n', "\r\n").into_bytes()),
        ("old line ends", good.replace('\n', "\r").into_bytes()),
        ("byte order mark", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
        ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("NUL", good.replace(' ', "\0").into_bytes()),
        ("invalid UTF-8", [good.as_bytes(), b"\xff\xfe\n"].concat()),
        ("escape", good.replace(word, &format!("\u{1b}[2J{word}")).into_bytes()),
        ("C1 control", good.replace(word, "\u{9b}2J\u{202e}").into_bytes()),
        ("cut off", good.as_bytes()[..good.len() - 5].to_vec()),
        ("twice", good.repeat(2).into_bytes()),
        (
            "every line twice",
            good.lines().map(|l| format!("{l}\n{l}\n")).collect::<String>().into(),
        ),
        ("zeros", vec![0; 100_000]),
    ]
}
