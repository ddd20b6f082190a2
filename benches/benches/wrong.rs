//! A non-linearizable history of 64 processes and 5,000 operations, one per
//! rule; target: 10 ms each.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::Wrong;
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    for row in Wrong::all() {
        bench(criterion, &row);
    }
}

criterion_group!(rows, measure);
criterion_main!(rows);
