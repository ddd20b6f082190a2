//! All rows under criterion; with `SNAPSHOT_BENCH_SIZE=full`, of 10^7 events.
//!
//! Two commits are compared by criterion's baselines: `-- --save-baseline base`, then
//! `-- --baseline base`.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Duration;

use benches::rows::{Visit, visit};
use benches::{Digest, Size, expected};
use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};

struct Measured<'a> {
    criterion: &'a mut Criterion,
    size: Size,
}

impl Visit for Measured<'_> {
    fn row<I, A>(
        &mut self,
        name: &str,
        events: u64,
        input: &I,
        run: impl Fn(&I) -> A,
        digest: impl Fn(&I, &A) -> Digest,
    ) {
        let digest = digest(input, &run(input));
        println!("{name}: {:?}, {events} events, digest {digest}", self.size);
        if self.size == Size::Smoke
            && let Some(complaint) = expected(name, digest)
        {
            // A wrong answer has no speed.
            panic!("{complaint}");
        }
        let mut group = self.criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(events));
        group.sampling_mode(SamplingMode::Flat).sample_size(10);
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
        let id = BenchmarkId::from_parameter(format!("{:?}", self.size).to_lowercase());
        group.bench_with_input(id, input, |bencher, input| {
            bencher.iter(|| black_box(run(black_box(input))));
        });
        group.finish();
    }
}

fn measure(criterion: &mut Criterion) {
    let size = Size::from_environment();
    visit(size, &mut Measured { criterion, size });
}

criterion_group!(rows, measure);
criterion_main!(rows);
