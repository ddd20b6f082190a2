//! The observer over a simple history of 20 processes; target: 200 M events/s.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::Observed;
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &Observed);
}

criterion_group!(rows, measure);
criterion_main!(rows);
