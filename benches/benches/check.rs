//! The linear-time check of a differentiated history in memory, 8 processes,
//! half scans, and the same with a linearization; target: 30 M events/s. Immediate snapshots of
//! 8 processes: decided, with blocks, monitored; target: 20 M entries/s.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::{Check, Exchanged, Linearize};
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &Check);
    bench(criterion, &Linearize);
    for row in Exchanged::ALL {
        bench(criterion, &row);
    }
}

criterion_group!(rows, measure);
criterion_main!(rows);
