//! The known word that was probably meant by an unknown one.

/// The candidate within two edits of `word` (one edit for short words), if any:
/// the closest, the first among equally close ones.
pub(super) fn nearest(word: &str, candidates: &[&'static str]) -> Option<&'static str> {
    const LONGEST: usize = 32;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
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
    fn slips_of_the_pen_are_recognised() {
        let words = ["update", "scan", "ok"];
        assert_eq!(nearest("upadte", &words), Some("update"));
        assert_eq!(nearest("UPDATE", &words), Some("update"));
        assert_eq!(nearest("scann", &words), Some("scan"));
        assert_eq!(nearest("o", &words), Some("ok"));
        assert_eq!(nearest("ab", &words), None);
        assert_eq!(nearest("read", &words), None);
    }
}
