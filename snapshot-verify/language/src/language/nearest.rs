//! Finds the known name that a misspelt name may mean.

/// Longest name that is compared: the comparison takes the product of the lengths.
const LONGEST: usize = 40;

/// Most known names that are compared.
const MOST: usize = 1000;

/// The known name that is most like this one, if any is alike at all; the first of the
/// alphabet among several.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |other: &str| strsim::damerau_levenshtein(&lower, &other.to_lowercase());
    let (distance, nearest) = known
        .filter(|other| other.len() <= LONGEST)
        .take(MOST)
        .map(|other| (distance(other), other))
        .min()?;
    (distance <= tolerated(name.chars().count())).then(|| nearest.to_owned())
}

/// Returns the number of letters that may be wrong in a name of this length; case is ignored.
const fn tolerated(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        length => length / 3,
    }
}
