//! Timing: under criterion, or the fastest of a few runs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use crate::{Row, Size};

/// Announces a row and measures it at the size that the environment selects.
///
/// # Panics
/// If the environment asks for a size that does not exist, or if the answer is
/// not the recorded one: a wrong answer has no speed.
pub fn bench<R: Row>(criterion: &mut Criterion, row: &R) {
    let size = Size::from_environment().unwrap_or_else(|error| panic!("{error}"));
    let input = row.input(size);
    let announcement = row.announce(size, &input).unwrap_or_else(|error| panic!("{error}"));
    println!("{announcement}");
    let mut group = criterion.benchmark_group(row.name());
    group.throughput(Throughput::Elements(announcement.events));
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.bench_with_input(BenchmarkId::from_parameter(size), &input, |bencher, input| {
        bencher.iter(|| black_box(row.run(black_box(input))));
    });
    group.finish();
}

/// The time of one run, its answer dropped.
fn once<R: Row>(row: &R, input: &R::Input) -> Duration {
    let start = Instant::now();
    drop(black_box(row.run(black_box(input))));
    start.elapsed()
}

/// The least time among several runs: whatever else the machine does can only
/// make a run slower. At least three runs, and as many more as fit into
/// `patience`.
pub fn fastest<R: Row>(row: &R, input: &R::Input, patience: Duration) -> Duration {
    let start = Instant::now();
    let mut least = (0..3).map(|_| once(row, input)).fold(Duration::MAX, Duration::min);
    while start.elapsed() < patience {
        least = least.min(once(row, input));
    }
    least
}

/// The middle one; of an even number, the larger of both.
///
/// # Panics
/// If there are none, or one is not a number.
pub fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    assert!(!samples.is_empty(), "a median needs a sample");
    assert!(samples.iter().all(|sample| !sample.is_nan()), "samples are numbers");
    samples.sort_unstable_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_not_moved_by_an_outlier() {
        assert_eq!(median([3.0, 1000.0, 1.0]), 3.0);
        assert_eq!(median([2.0, 1.0]), 2.0);
    }
}
