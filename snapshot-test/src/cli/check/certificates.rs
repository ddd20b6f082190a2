//! Files of certificates.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use snapshot_io::replacement;
use snapshot_test::Value;
use snapshot_test::certificate::Certificate;
use snapshot_test::judge::{Finding, Judgement};

/// Characters of a key in the name of a certificate.
const MOST_OF_A_KEY: usize = 60;

/// Writes the certificate of a decided input, or of each of its objects. Returns the path.
pub(super) fn write_certificates(
    directory: &Path,
    input: &Path,
    key: Option<&Value>,
    names: &mut CertificateNames,
    judgement: &mut Judgement,
) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let mut write = |key: Option<&Value>, judgement: &Judgement| {
        let place = directory.join(names.next(input, key));
        let Some(certificate) = Certificate::new(judgement) else {
            // A certificate of an earlier run does not belong to this result.
            return replacement::clear(&place).map(|()| None).map_err(|error| (place, error));
        };
        let text = certificate.to_text_of(key, &judgement.names);
        match replacement::write(&place, text.as_bytes()) {
            Ok(()) => Ok(Some(place)),
            Err(error) => Err((place, error)),
        }
    };
    if let Finding::Objects(objects) = &mut judgement.finding {
        for part in &mut objects.parts {
            let place = write(Some(&part.key), &part.judgement)?;
            part.certificate = place.map(|place| place.display().to_string());
        }
        return Ok(None);
    }
    write(key, judgement)
}

/// Distinct file names for certificates, derived from the inputs' names.
#[derive(Debug, Default)]
pub(super) struct CertificateNames {
    taken: HashSet<String>,
    /// For each name, the next number to try: 1 is not written.
    next: HashMap<String, u64>,
}

impl CertificateNames {
    fn next(&mut self, input: &Path, key: Option<&Value>) -> String {
        let name = input.file_name().map_or("-".into(), |name| name.to_string_lossy());
        let mut name = if name == "-" { "standard-input".into() } else { name.into_owned() };
        if let Some(key) = key {
            let key = key.to_string();
            let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
            let key = key.trim_matches('"').chars().take(MOST_OF_A_KEY).map(plain);
            name = format!("{name}.{}", key.collect::<String>());
        }
        let next = self.next.entry(name.clone()).or_insert(1);
        loop {
            let candidate = match *next {
                1 => format!("{name}.certificate"),
                number => format!("{name}.{number}.certificate"),
            };
            *next += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_names_differ_for_similar_keys() {
        let mut names = CertificateNames::default();
        let mut next = |file: &str, key: &str| {
            names.next(Path::new(file), (!key.is_empty()).then(|| Value::Text(key.into())).as_ref())
        };
        assert_eq!(next("a.txt", ""), "a.txt.certificate");
        assert_eq!(next("b/a.txt", ""), "a.txt.2.certificate");
        assert_eq!(next("a.txt.3", ""), "a.txt.3.certificate");
        assert_eq!(next("a.txt", ""), "a.txt.4.certificate");
        assert_eq!(next("a.txt", "?"), "a.txt._.certificate");
        // Each name is found immediately: a search from 2 on would take 10^10 trials.
        for number in 2..100_000 {
            let name = next("a.txt", &format!("{}{number}", "!".repeat(MOST_OF_A_KEY)));
            // The first of these names has no number.
            if number % 1000 == 3 {
                assert!(name.ends_with(&format!("_.{}.certificate", number - 1)), "{name}");
            }
        }
    }
}
