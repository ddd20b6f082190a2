//! The 900 histories of the published corpus's shape, target: 1 s for all; the same by
//! exact search; the hard corpus.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::{HardCorpus, PublishedCorpus, Searched};
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &PublishedCorpus);
    bench(criterion, &Searched);
    bench(criterion, &HardCorpus);
}

criterion_group!(rows, measure);
criterion_main!(rows);
