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
        .map(|candidate| (distance(&word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= if candidate.len() < 4 { 1 } else { 2 })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance, with a swap of neighbours as one edit.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    // rows[i][j] is the distance of the first i characters of a to the first j of b.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
