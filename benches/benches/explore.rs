//! Algorithms verified; target: 1 M states/s on one core with all reductions.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::Explored;
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    for row in Explored::ALL {
        bench(criterion, &row);
    }
}

criterion_group!(rows, measure);
criterion_main!(rows);
