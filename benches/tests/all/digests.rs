//! The smoke size of every row: its answer is right, and the recorded one.

use benches::rows::{
    Check, Exchanged, Explored, HardCorpus, Linearize, Monitored, Observed, PublishedCorpus,
    Searched, Wrong,
};
use benches::{Row, Size};

/// What is wrong with a row at the smoke size.
fn complaint<R: Row>(row: &R) -> Option<String> {
    let input = row.input(Size::Smoke);
    assert!(row.events(&input) > 0, "{} has an input", row.name());
    row.announce(Size::Smoke, &input).err().map(|error| error.to_string())
}

/// All at once, so that one run tells all that changed.
#[test]
fn every_row_has_its_digest() {
    let complaints = [
        complaint(&Observed),
        complaint(&Check),
        complaint(&Linearize),
        complaint(&Monitored),
        complaint(&PublishedCorpus),
        complaint(&Searched),
        complaint(&HardCorpus),
    ];
    let complaints = complaints.into_iter().chain(Wrong::all().map(|row| complaint(&row)));
    let complaints = complaints.chain(Exchanged::ALL.map(|row| complaint(&row)));
    let complaints = complaints.chain(Explored::ALL.map(|row| complaint(&row)));
    let complaints: Vec<String> = complaints.flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
