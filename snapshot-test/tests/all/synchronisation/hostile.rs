//! Damaged recordings are refused or judged, never a panic; if one is judged, its certificate is
//! right.

use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Certificate, Object, certify, judge};

const RECORDINGS: [(&str, &str); 4] = [
    (
        "channel",
        "object channel\np0 send 5\np1 receive\np2 send 6\np1 ok 5\np0 ok\np1 receive\np2 ok\np1 ok 6\n",
    ),
    (
        "timeout-exchanger",
        "p0 exchange 1\np1 exchange \"x\"\np0 ok \"x\"\np2 exchange 3\np1 ok 1\np2 ok none\n",
    ),
    (
        "closeable-channel",
        "{\"process\":0,\"event\":\"invoke\",\"operation\":\"send\",\"value\":5}\n\
         {\"process\":1,\"event\":\"invoke\",\"operation\":\"close\"}\n\
         {\"process\":1,\"event\":\"ok\"}\n{\"process\":0,\"event\":\"ok\",\"closed\":true}\n",
    ),
    (
        "leader-barrier:2",
        "p0 sync\np1 sync\np0 ok true\np1 ok false\np0 sync\np2 sync\np2 unknown\np0 ok true\n",
    ),
];

#[test]
fn damaged_recordings_are_judged_or_refused() {
    let mut seed = 5u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut answers = [0; 4];
    for round in 0..8_000 {
        let (object, recording) = RECORDINGS[round % RECORDINGS.len()];
        let object: Object = object.parse().unwrap();
        let mut bytes = recording.as_bytes().to_vec();
        for _ in 0..1 + random(2) {
            let at = random(bytes.len());
            match random(12) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes.truncate(at + 1),
                2 => bytes[at] = b"0123456789 \n\"{}:p"[random(17)],
                3 => {
                    bytes.remove(at);
                }
                // Swap two lines.
                _ => {
                    let mut lines: Vec<Vec<u8>> =
                        bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                    let (one, other) = (random(lines.len()), random(lines.len()));
                    lines.swap(one, other);
                    bytes = lines.concat();
                }
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        let options = Options { progress: round % 3 == 0, ..Options::default() };
        let Ok(mut judged) = judge(&object, bytes.as_slice(), None, None, &options) else {
            answers[0] += 1;
            continue;
        };
        let judgement = judged.remove(0);
        answers[match snapshot_test::synchronisation::verdict(&judgement) {
            "set-linearizable" => 1,
            "violation" => 2,
            _ => 3,
        }] += 1;
        let Some(certificate) = Certificate::new(&judgement) else { continue };
        let (named, key, read) =
            Certificate::from_text(&certificate.to_text(&object, None)).unwrap();
        assert_eq!((&named, key, &read), (&object, None, &certificate));
        assert!(certify(&object, &read, bytes.as_slice(), None, None).unwrap().is_ok());
    }
    assert!(answers[..3].iter().all(|&count| count > 100), "{answers:?}");
}

#[test]
fn malformed_certificates_are_refused() {
    for text in [
        "",
        "{}",
        "{\"snapshot-certificate\":2,\"object\":\"channel\",\"verdict\":\"violation\"}",
        "{\"snapshot-certificate\":1,\"object\":\"snapshot\",\"verdict\":\"violation\",\"partners\":[],\"components\":[]}",
        "{\"snapshot-certificate\":1,\"object\":\"channel\",\"verdict\":\"violation\",\"blocks\":[]}",
        "{\"snapshot-certificate\":1,\"object\":\"channel\",\"verdict\":\"set-linearizable\",\"blocks\":[],\"more\":1}",
        "{\"snapshot-certificate\":1,\"object\":\"channel\",\"verdict\":\"set-linearizable\",\"blocks\":[[99999999999999999999]]}",
    ] {
        assert!(Certificate::from_text(text).is_err(), "{text}");
    }
}
