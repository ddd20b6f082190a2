//! The 900 histories of the published corpus's shape; target: 1 s for all.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::PublishedCorpus;
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &PublishedCorpus);
}

criterion_group!(rows, measure);
criterion_main!(rows);
