//! The known word that an unknown one probably means.

/// Words of other tools and formats, with the word of this one.
const MEANT: [(&str, &str); 17] = [
    ("write", "update"),
    ("set", "update"),
    ("put", "update"),
    ("read", "scan"),
    ("get", "scan"),
    ("snapshot", "scan"),
    ("return", "ok"),
    ("returns", "ok"),
    ("done", "ok"),
    ("error", "fail"),
    ("info", "unknown"),
    ("timeout", "unknown"),
    ("type", "event"),
    ("f", "operation"),
    ("key", "segment"),
    ("index", "segment"),
    ("result", "values"),
];

/// Returns the candidate that is called `word` elsewhere, or else the candidate within two edits of
/// `word` (one edit for short words), if any: the closest, the first among equally close ones.
pub(crate) fn nearest(word: &str, candidates: &[&'static str]) -> Option<&'static str> {
    const LONGEST: usize = 32;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let meant = MEANT.iter().filter(|(other, _)| *other == word).map(|(_, meant)| *meant);
    if let Some(meant) = meant.into_iter().find(|meant| candidates.contains(meant)) {
        return Some(meant);
    }
    candidates
        .iter()
        .map(|candidate| (strsim::osa_distance(&word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= if candidate.len() < 4 { 1 } else { 2 })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_recognised() {
        let words = ["update", "scan", "ok"];
        assert_eq!(nearest("upadte", &words), Some("update"));
        assert_eq!(nearest("UPDATE", &words), Some("update"));
        assert_eq!(nearest("scann", &words), Some("scan"));
        assert_eq!(nearest("o", &words), Some("ok"));
        assert_eq!(nearest("ab", &words), None);
        assert_eq!(nearest("jump", &words), None);
    }

    #[test]
    fn words_of_other_tools_are_understood() {
        let words = ["update", "scan", "ok", "event", "time"];
        assert_eq!(nearest("read", &words), Some("scan"));
        assert_eq!(nearest("Write", &words), Some("update"));
        // Not `time`, though that is two edits away.
        assert_eq!(nearest("type", &words), Some("event"));
        assert_eq!(nearest("key", &words), None, "there is no such word to be meant");
    }
}
