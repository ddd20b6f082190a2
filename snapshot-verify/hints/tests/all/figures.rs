//! Views and time of the proof of each algorithm of the corpus.

use std::time::Instant;

use snapshot_hints::ladder::{Budget, prove_all};
use test_support::effort::{either, is_night};

use crate::of_corpus;

/// The sizes of the proofs.
#[test]
fn algorithms_of_the_corpus_are_proved() {
    let mut all = vec![("bowman", 3_449), ("afek_unbounded", 5_378)];
    all.extend(either(vec![], vec![("afek_bounded", 179_601), ("attiya_welch", 314_524)]));
    are_proved(&all);
}

/// At night, in minutes.
#[test]
fn the_largest_is_proved() {
    if is_night() {
        are_proved(&[("jayanti", 0)]);
    }
}

fn are_proved(all: &[(&str, usize)]) {
    for &(name, views) in all {
        let began = Instant::now();
        let answer =
            prove_all(&of_corpus(name, None), Budget { bytes: 8 << 30, views: 16_000_000 });
        println!("{name}: {} views ({:?})", answer.views(), began.elapsed());
        for rung in &answer.rungs {
            let (obligation, views) = (rung.obligation.name(), rung.views());
            println!(
                "  {obligation}: {views} views, {} centres ({:?})",
                rung.centres, rung.elapsed
            );
        }
        assert!(answer.is_proved() && answer.is_hinted, "{name}");
        assert!(views == 0 || answer.views() == views, "{name}: {}", answer.views());
    }
}
