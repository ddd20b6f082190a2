//! Certificates changed at random: none is accepted for a false verdict, and none makes the check
//! panic or run forever.

use snapshot_test::certificate::Certificate;
use snapshot_test::format::Reader;
use snapshot_test::read_history;

use crate::choices::Choices;

/// Linearizable and not, one event apart.
const TWINS: [(bool, &str, &str); 2] = [
    (
        true,
        "segments 2\np0 update 5\np1 update 8\np0 ok\np1 ok\np2 scan\np2 ok 5 8\np0 update 6\n\
         p2 scan\np0 ok\np2 ok 6 8\np3 scan\np3 unknown\n",
        r#"{"snapshot-certificate":1,"verdict":"linearizable","order":[0,1,2,3,4]}"#,
    ),
    (
        false,
        "segments 2\np0 update 5\np1 update 8\np0 ok\np1 ok\np2 scan\np2 ok 5 8\np0 update 6\n\
         p2 scan\np0 ok\np2 ok 6 0\np3 scan\np3 unknown\n",
        r#"{"snapshot-certificate":1,"verdict":"violation","rule":"stale","segments":[1],"operations":[1,4]}"#,
    ),
];

impl Choices {
    /// Changes one to three bytes or words.
    fn mutate(&mut self, text: &str) -> String {
        const PIECES: [&str; 18] = [
            "0",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            ",",
            "[",
            "]",
            "-1",
            "1e9",
            "18446744073709551615",
            "4294967295",
            "\"violation\"",
            "\"linearizable\"",
            "\"order\":",
            "null",
        ];
        let mut text = text.to_owned();
        for _ in 0..=self.below(3) {
            let at = self.below(text.len());
            let end = (at + self.below(4)).min(text.len());
            let piece = PIECES[self.below(PIECES.len())];
            match self.below(3) {
                0 => text.replace_range(at..end, ""),
                1 => text.insert_str(at, piece),
                _ => text.replace_range(at..end, piece),
            }
            if text.is_empty() {
                text.push('[');
            }
        }
        text
    }
}

#[test]
fn mutated_certificates_prove_no_false_verdict() {
    let histories = TWINS.map(|(is_linearizable, recording, certificate)| {
        let (history, _) = read_history(Reader::text(recording.as_bytes()).unwrap()).unwrap();
        Certificate::from_text(certificate).unwrap().check(&history).unwrap();
        (is_linearizable, history, certificate)
    });
    let mut choices = Choices(0x9e37_79b9_7f4a_7c15);
    let (mut malformed, mut refuted, mut accepted) = (0, 0, 0);
    for _ in 0..5_000 {
        for (_, _, certificate) in &histories {
            let text = choices.mutate(certificate);
            let Ok(certificate) = Certificate::from_text(&text) else {
                malformed += 1;
                continue;
            };
            for (is_linearizable, history, _) in &histories {
                match certificate.check(history) {
                    Ok(()) => {
                        let proves = matches!(certificate, Certificate::Linearizable(_));
                        assert_eq!(proves, *is_linearizable, "{text}");
                        accepted += 1;
                    }
                    Err(refusal) => {
                        assert!(!refusal.is_undecided(), "{text}: {refusal}");
                        refuted += 1;
                    }
                }
            }
        }
    }
    assert!(
        malformed > 3_000 && refuted > 500 && accepted > 50,
        "{malformed} {refuted} {accepted}"
    );
}
