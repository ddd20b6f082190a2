//! Certificates from the command line: written with a proof, and checked.

use std::fs;

use super::answer_in;

#[test]
fn a_proof_is_written_and_certified() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (code, out, error) = answer_in(at, "check bowman -n 2 --certificate a.cert");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("  certificate: a.cert: 3080 states of the interpreter"), "{out}");
    let (code, out, error) = answer_in(at, "certify bowman a.cert");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.starts_with("a.cert: proves that bowman is linearizable for n = 2"), "{out}");
    let (code, out, _) = answer_in(at, "certify bowman a.cert --report json");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    assert_eq!(report["answer"], "accepted");
    assert_eq!(report["proved"]["linearizable"], true);
    assert_eq!(report["proved"]["states"], 3080);

    let (code, out, _) = answer_in(at, "certify bowman a.cert --bug early_exit");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("proves nothing of bowman: it is for the bug none"), "{out}");
    let (code, out, _) = answer_in(at, "certify bowman a.cert --memory 10K");
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("memory ran out"), "{out}");
}

#[test]
fn malformed_certificate_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("other"), "something else\n").unwrap();
    for arguments in ["certify bowman other", "certify bowman missing", "certify bowmann other"] {
        let (code, out, error) = answer_in(at, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
    }
}

#[test]
fn there_is_no_certificate_without_a_proof() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.cert"), "before\n").unwrap();
    let wrong = "check bowman -n 3 --bug early_exit --certificate a.cert";
    let (code, _, error) = answer_in(at, wrong);
    assert_eq!(code, 1);
    assert!(error.contains("no certificate a.cert: there is no proof"), "{error}");
    assert_eq!(fs::read_dir(at).unwrap().count(), 0, "an older file does not look like a new one");
    fs::write(at.join("a.cert"), "before\n").unwrap();
    for (arguments, reason) in [
        ("check riany -n 2 --certificate a.cert", "with counters there are infinitely many"),
        ("check bowman -n 2..3 --certificate a.cert", "one number of processes"),
        ("check bowman -n 2 --operations grow --certificate a.cert", "a number or none"),
        (
            "check bowman -n 2 --method refinement --certificate a.cert",
            "works only with exploration",
        ),
    ] {
        let (code, out, error) = answer_in(at, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        assert!(error.contains(reason), "{arguments}: {error}");
    }
    assert_eq!(fs::read_to_string(at.join("a.cert")).unwrap(), "before\n");
    let (code, _, error) = answer_in(at, "check bowman -n 3 --certificate a.cert --memory 8M");
    assert!(code == 3, "{code}: {error}");
    assert_eq!(fs::read_dir(at).unwrap().count(), 0, "neither the older nor a temporary file");
}

#[test]
fn a_proof_for_every_n_is_written_and_certified() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (code, out, error) = answer_in(at, "check bowman -n every --certificate a.cert");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("  certificate: a.cert: ") && out.contains(" views, "), "{out}");
    let (code, out, error) = answer_in(at, "certify bowman a.cert");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let proves = "a.cert: proves that bowman is linearizable for every n >= 2 (all pairs";
    assert!(out.starts_with(proves), "{out}");
    let (code, out, _) = answer_in(at, "certify bowman a.cert --report json");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["proved"]["processes"]), (0, &"every".into()));
    assert_eq!(report["proved"]["obligations"][0]["obligation"], "scans.observer");
    for (arguments, expected, text) in [
        ("certify bowman a.cert --bug early_exit", 1, "it is for the bug none"),
        ("certify afek_unbounded a.cert", 1, "it is for the algorithm bowman"),
        ("certify bowman a.cert --memory 10K", 3, "memory ran out"),
    ] {
        let (code, out, _) = answer_in(at, arguments);
        assert_eq!(code, expected, "{arguments}: {out}");
        assert!(out.contains(text), "{arguments}: {out}");
    }
    fs::write(at.join("c.snapshot"), corpus::algorithm("bowman").unwrap().text.to_owned() + "\n")
        .unwrap();
    let (code, out, _) = answer_in(at, "certify c.snapshot a.cert");
    assert!(code == 1 && out.contains("which has changed since: that with SHA-256"), "{out}");
    fs::remove_file(at.join("c.snapshot")).unwrap();
    let (code, _, error) = answer_in(at, "certify a.cert bowman");
    let first = "a.cert is a certificate: name the algorithm first, then its certificate\n";
    assert_eq!((code, error.as_str()), (2, first));
    let wrong = "check bowman -n every --bug early_exit --certificate b.cert";
    let (code, _, error) = answer_in(at, wrong);
    assert_eq!(code, 1);
    assert!(error.contains("no certificate b.cert: there is no proof"), "{error}");
    let (code, _, error) = answer_in(at, "check jayanti -n every --certificate b.cert --time 0.5");
    assert!(code == 3 && error.contains("no certificate b.cert: there is no proof"), "{error}");
    assert_eq!(fs::read_dir(at).unwrap().count(), 1, "no temporary file is left");
}
