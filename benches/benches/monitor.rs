//! The online monitor over the events of the check; target: within twice its time.
#![forbid(unsafe_code)]

use benches::bench;
use benches::rows::Monitored;
use criterion::{Criterion, criterion_group, criterion_main};

fn measure(criterion: &mut Criterion) {
    bench(criterion, &Monitored);
}

criterion_group!(rows, measure);
criterion_main!(rows);
