//! The linear-time check of a differentiated history in memory, 8 processes,
//! half scans, and the same with a linearization; target: 30 M events/s.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::{Check, Linearize};
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &Check);
    bench(criterion, &Linearize);
}

criterion_group!(rows, measure);
criterion_main!(rows);
