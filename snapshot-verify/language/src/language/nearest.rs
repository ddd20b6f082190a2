//! Finds the known name that a misspelt name may mean.

/// Longest name that is compared: the comparison takes the product of the lengths.
const LONGEST: usize = 40;

/// Most known names that are compared.
const MOST: usize = 1000;

/// Returns the known name that is most like this one, case ignored: at most a third of the letters
/// differ, or at least half of it is written. Among equally similar names, returns the first of the
/// alphabet.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let (distance, nearest) = known
        .into_iter()
        .filter(|other| other.len() <= LONGEST)
        .take(MOST)
        .map(|other| (strsim::damerau_levenshtein(&lower, &other.to_lowercase()), other))
        .min()?;
    let is_begun = !name.is_empty() && nearest.starts_with(name) && 2 * name.len() >= nearest.len();
    let longest = name.chars().count().max(nearest.chars().count());
    (is_begun || distance <= longest / 3).then_some(nearest)
}
