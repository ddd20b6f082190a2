//! Noise makes operations overlap.

use std::sync::{Barrier, Mutex};

use snapshot_core::history::Declaration;
use snapshot_kit::record::Recorder;
use snapshot_kit::{Noise, judge, noise};

use crate::child;

/// Returns the number of scans, of 1000, that overlap an update of another thread.
fn overlapping_scans(noise: Noise) -> u64 {
    let scans = (0..20).map(|seed| {
        let recorder = Recorder::new(Declaration::new(0).with_segments(2)).with_noise(noise, seed);
        let cells = [Mutex::new(0), Mutex::new(0)];
        let read = |cell: &Mutex<i64>| {
            noise::point();
            *cell.lock().unwrap()
        };
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            let mut writer = recorder.process(0).unwrap();
            let mut reader = recorder.process(1).unwrap();
            let (cells, start) = (&cells, &start);
            scope.spawn(move || {
                start.wait();
                for value in 1..=50 {
                    writer.update(0, value, || {
                        noise::point();
                        *cells[0].lock().unwrap() = value;
                    });
                }
            });
            start.wait();
            for _ in 0..50 {
                reader.scan(|| cells.each_ref().map(read));
            }
        });
        judge(&recorder.history().unwrap(), "noise", &[]).unwrap().scans
    });
    scans.sum()
}

/// With a processor for each thread, operations overlap anyway. On one processor, they do if noise
/// stops a thread inside an operation.
#[test]
fn noise_makes_threads_of_one_processor_overlap() {
    child::on_one_processor("noise::noise_makes_threads_of_one_processor_overlap", || {
        // Other programs of the processor stop threads, too, now and then.
        let tried: Vec<[u64; 3]> =
            (0..5).map(|_| [Noise::Off, Noise::Some, Noise::Much].map(overlapping_scans)).collect();
        let is_quiet = |[off, some, much]: &[u64; 3]| *off < 20 && *some > 100 && *much > 100;
        assert!(tried.iter().any(is_quiet), "{tried:?}");
    });
}
