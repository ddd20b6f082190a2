//! The closest known name to a mistyped one, as a hint.

use snapshot_verify::language::nearest;

/// Returns `; did you mean ...?` if a name is similar, else lists the names.
pub fn hint<'a>(written: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(written, names.clone()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => {
            let names: Vec<&str> = names.into_iter().collect();
            match names.as_slice() {
                [] => String::new(),
                names => format!("; there are: {}", names.join(", ")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["bowman", "jayanti", "riany"];
        assert_eq!(nearest("bowmann", names), Some("bowman"));
        assert_eq!(nearest("jaynati", names), Some("jayanti"));
        assert_eq!(nearest("jaya", names), Some("jayanti"));
        assert_eq!(nearest("treiber", names), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(hint("riani", names), "; did you mean `riany`?");
        assert_eq!(hint("treiber", names), "; there are: bowman, jayanti, riany");
        assert_eq!(hint("x", []), "");
    }
}
