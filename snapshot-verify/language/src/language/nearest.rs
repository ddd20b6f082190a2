//! The known name that a misspelt one may stand for.

/// Longer names are not compared: the comparison takes the product of the lengths.
const LONGEST: usize = 40;

/// At most this many known names are compared.
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

/// How many letters may be wrong in a name of this length, upper and lower case
/// aside.
const fn tolerated(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        length => length / 3,
    }
}
