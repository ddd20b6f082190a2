//! The smoke size of every row: its answer is right, and the recorded one.

use benches::rows::{Visit, visit};
use benches::{Digest, Size, expected};

#[derive(Default)]
struct Compared {
    rows: usize,
    complaints: Vec<String>,
}

impl Visit for Compared {
    fn row<I, A>(
        &mut self,
        name: &str,
        events: u64,
        input: &I,
        run: impl Fn(&I) -> A,
        digest: impl Fn(&I, &A) -> Digest,
    ) {
        assert!(events > 0, "{name} has an input");
        self.rows += 1;
        self.complaints.extend(expected(name, digest(input, &run(input))));
    }
}

/// All at once, so that one run tells all that changed.
#[test]
fn every_row_has_its_digest() {
    let mut compared = Compared::default();
    visit(Size::Smoke, &mut compared);
    assert!(compared.complaints.is_empty(), "{}", compared.complaints.join("\n"));
    assert_eq!(compared.rows, 20);
}
