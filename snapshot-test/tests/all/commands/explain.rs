//! `snapshot-test explain`: pages, pictures, exit codes.

use std::fs;

use std::path::Path;
use std::process::Command;

use crate::commands::answer;

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
    let output = command.args(arguments).current_dir(folder).output().expect("the program starts");
    let (code, stdout, stderr) = answer(output);
    Outcome { code: Some(code), stdout, stderr }
}

const VIOLATION: &str = "# begin </script><script>x()</script>\nsegments 2\np0 update \"</script><b>\"\np0 ok\n\
                         p1 scan # late\np1 ok 0 0\n";
const LINEARIZABLE: &str = "p0 update 5\np1 scan\np1 ok 5 0\np0 ok\n";

fn explained(recording: &str, options: &[&str]) -> (Outcome, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recording.txt"), recording).unwrap();
    let mut arguments = vec!["explain", "recording.txt"];
    arguments.extend(options);
    let outcome = run_in(folder.path(), &arguments);
    (outcome, fs::read_to_string(folder.path().join("page.html")).ok())
}

#[test]
fn a_page_explains_a_violation() {
    let (outcome, page) = explained(VIOLATION, &["--html", "page.html"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("automaton M3 accepts"), "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("  page: page.html\n"), "{}", outcome.stdout);
    let page = page.unwrap();
    for part in
        ["Why it is not linearizable", "id=\"timeline\"", "The automaton's run", "id=\"renaming\""]
    {
        assert!(page.contains(part), "{part}");
    }
    // The data and the script: only these elements end with this text.
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("</script><b>"));
    assert!(page.contains("begin &lt;/script&gt;&lt;script&gt;x()"), "comments are there");
    assert!(page.contains("\"tick\":2,\"text\":\"late\""));
    let names = page.matches("http://www.w3.org/2000/svg").count();
    assert_eq!((page.matches("http").count(), page.matches("http-equiv").count()), (names + 1, 1));
}

#[test]
fn a_page_shows_a_linearization() {
    let (outcome, page) = explained(LINEARIZABLE, &["--html", "page.html"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let page = page.unwrap();
    assert!(page.contains("class=\"point\"") && page.contains("There is an order of 2 operations"));
}

#[test]
fn pictures_have_four_forms() {
    for (form, begin) in [
        ("svg", "<svg xmlns="),
        ("dot", "digraph history {"),
        ("latex", "\\begin{tikzpicture}"),
        ("text", "  p0    |- U1: update(s0: \"</script><b>\") -|\n"),
    ] {
        let (outcome, _) = explained(VIOLATION, &["--to", form]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stdout.starts_with(begin), "{}", outcome.stdout);
    }
    let (outcome, _) = explained(LINEARIZABLE, &["--to", "text"]);
    assert_eq!(
        outcome.stdout,
        "  p0    |---- U1: update(5) ----|\n  p1      |- S1: scan [5, 0] -|\n"
    );
}

#[test]
fn malformed_recording_has_no_page() {
    let (outcome, page) = explained("p0 upate 5\n", &["--html", "page.html"]);
    assert_eq!((outcome.code, page), (Some(2), None));
    assert!(outcome.stderr.contains("help: did you mean `update`?"), "{}", outcome.stderr);
    let (outcome, _) = explained(LINEARIZABLE, &["--html", "no/such/folder.html"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("cannot write no/such/folder.html"), "{}", outcome.stderr);
}

#[test]
fn automata_are_shown_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recording.txt"), VIOLATION).unwrap();
    let plain = run_in(folder.path(), &["check", "recording.txt"]).stdout;
    let with = run_in(folder.path(), &["check", "--explain", "recording.txt"]).stdout;
    assert!(
        !plain.contains("automaton") && plain.contains("|- U1: update(s0: \"</script><b>\") -|\n"),
        "{plain}"
    );
    assert!(with.starts_with(&plain) && with.contains("automaton M3 accepts"), "{with}");
}

/// Violations and linearizations with scans of some segments, in every form.
#[test]
fn partial_scans_are_drawn_with_their_gaps() {
    let violation = "segments 2\np0 update 5\np0 ok\np1 update 8\np1 ok\np2 scan\np2 ok _ 0\n";
    let linearizable = "segments 2\np0 update 5\np2 scan\np2 ok _ 0\np2 scan\np2 ok 5 _\np0 ok\n";
    for (recording, code) in [(violation, 1), (linearizable, 0)] {
        for form in ["svg", "dot", "latex", "text"] {
            let (outcome, _) = explained(recording, &["--to", form]);
            assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        }
        let (outcome, page) = explained(recording, &["--html", "page.html"]);
        assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        assert!(page.unwrap().contains("\"dictionary\":[\"_\"]"));
    }
    let (outcome, _) = explained(linearizable, &["--to", "text"]);
    assert!(outcome.stdout.contains("scan [5, _]"), "{}", outcome.stdout);
}

/// The recording of a queue in which 2 overtakes 1, and of one with keys.
const QUEUE: &str = "# first <in>\np0 enqueue 1\np0 ok\np0 enqueue \"</script>\"\np0 ok # late\n\
                     p1 dequeue\np1 ok \"</script>\"\np1 dequeue\np1 ok 1\np2 dequeue\n";

#[test]
fn objects_with_named_operations_are_explained() {
    let options = ["--object", "queue", "--html", "page.html"];
    let (outcome, page) = explained(QUEUE, &options);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let sentence = "1 was enqueued before \"</script>\", yet \"</script>\" was dequeued before the";
    assert!(outcome.stdout.contains(sentence), "{}", outcome.stdout);
    let page = page.unwrap();
    for part in [
        "Why it is not linearizable",
        "X2: dequeue = 1",
        "X3: enqueue(&quot;&lt;/script&gt;&quot;)",
        "p1 [line 8 to line 9]",
        "\"form\":\"operations\"",
        "\"decided_at\":5",
        "\"tick\":3,\"text\":\"late\"",
        "first &lt;in&gt;",
        "queue, by rules",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("</script>").count(), 2);
    for (form, begin) in [("svg", "<svg xmlns="), ("dot", "digraph"), ("latex", "\\begin{tikz")] {
        let (outcome, _) = explained(QUEUE, &["--object", "queue", "--to", form]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stdout.starts_with(begin), "{}", outcome.stdout);
    }
    let (outcome, _) = explained(QUEUE, &["--object", "queue", "--to", "text"]);
    assert!(outcome.stdout.contains("X2: dequeue = 1"), "{}", outcome.stdout);
    // Those that are right have their order, or their groups.
    let right = "p0 exchange 1\np1 exchange 2\np0 ok 2\np1 ok 1\n";
    let (outcome, page) = explained(right, &["--object", "exchanger", "--html", "page.html"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(page.unwrap().contains("There are 1 groups of 2 operations"));
    let keyed = "@1 p0 write 5\n@1 p0 ok\n@2 p0 read\n@2 p0 ok 0\n@1 p0 read\n@1 p0 ok 0\n";
    let (outcome, _) = explained(keyed, &["--object", "register"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("take one with --key"), "{}", outcome.stderr);
    let (outcome, _) = explained(keyed, &["--object", "register", "--key", "1"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let (outcome, page) = explained(
        keyed,
        &["--object", "register", "--key", "2", "--initial", "0", "--html", "page.html"],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(page.unwrap().contains("There is an order of 1 operations"));
}
