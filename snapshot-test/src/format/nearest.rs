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

/// Returns the candidate that is called `word` elsewhere, or else the most similar one, if any is
/// similar.
pub(crate) fn nearest(word: &str, candidates: &[&'static str]) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let mut meant = MEANT.iter().filter(|(other, _)| *other == lower).map(|(_, meant)| *meant);
    meant
        .find(|meant| candidates.contains(meant))
        .or_else(|| snapshot_language::nearest(word, candidates.iter().copied()))
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
