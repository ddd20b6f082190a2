//! The specification with linearization points against plain execution: here, the instants at which
//! operations take effect are known, and so are the possible results of scans.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_language::program::linearization::Points;
use snapshot_semantics::interpret::{Action, Event};
use snapshot_semantics::refine::{Letter, Misplacement, SnapshotSpecification};

/// Open operation of a process with its progress.
#[derive(Clone, Debug)]
enum Open {
    Nothing,
    Update {
        value: u32,
        passed: usize,
    },
    /// Contents of the segments at each moment since the scan began, and at its last point.
    Scan {
        held: Vec<Vec<u32>>,
        point: Option<Vec<u32>>,
    },
}

/// An atomic snapshot with known instants at which operations take effect.
struct Executed {
    points: Points,
    segments: Vec<u32>,
    open: Vec<Open>,
}

impl Executed {
    fn new(n: usize, points: Points) -> Self {
        Self { points, segments: vec![0; n], open: vec![Open::Nothing; n] }
    }

    /// Draws a letter that a history can have there; scans return possible results.
    fn letter(&self, random: &mut ChaCha8Rng) -> Letter {
        let n = self.segments.len();
        let index = random.next_u32() as usize % n;
        let process = Process::from_index(index);
        let passes = !random.next_u32().is_multiple_of(3);
        let action = match &self.open[index] {
            Open::Nothing if random.next_u32().is_multiple_of(2) => Action::InvokeScan,
            Open::Nothing => Action::InvokeUpdate(random.next_u32() % 3),
            Open::Update { passed, .. } => {
                if self.points.updates && ((*passed == 0 && passes) || !passes && *passed > 0) {
                    return Letter::Point(process);
                }
                Action::RespondUpdate
            }
            Open::Scan { .. } if self.points.scans && passes => return Letter::Point(process),
            Open::Scan { held, point } => {
                let any = &held[random.next_u32() as usize % held.len()];
                let mut returned = point.as_ref().filter(|_| passes).unwrap_or(any).clone();
                if random.next_u32().is_multiple_of(8) {
                    returned[random.next_u32() as usize % n] = random.next_u32() % 3;
                }
                Action::RespondScan(returned)
            }
        };
        Letter::Event(Event { process, action })
    }

    /// Executes a letter; returns true if it is possible.
    fn execute(&mut self, letter: &Letter) -> bool {
        let (process, action) = match letter {
            Letter::Point(process) => {
                match &mut self.open[process.index()] {
                    Open::Update { value, passed } => {
                        *passed += 1;
                        if *passed > 1 {
                            return false;
                        }
                        self.segments[process.index()] = *value;
                    }
                    Open::Scan { point, .. } => *point = Some(self.segments.clone()),
                    Open::Nothing => panic!("a point of nothing"),
                }
                for open in &mut self.open {
                    if let Open::Scan { held, .. } = open {
                        held.push(self.segments.clone());
                    }
                }
                return true;
            }
            Letter::Past(_) => return true,
            Letter::Event(Event { process, action }) => (process.index(), action),
        };
        let open = std::mem::replace(&mut self.open[process], Open::Nothing);
        match (action, open) {
            (Action::InvokeUpdate(value), _) => {
                self.open[process] = Open::Update { value: *value, passed: 0 };
            }
            (Action::InvokeScan, _) => {
                self.open[process] = Open::Scan { held: vec![self.segments.clone()], point: None };
            }
            (Action::RespondUpdate, Open::Update { passed, .. }) => return passed == 1,
            (Action::RespondScan(returned), Open::Scan { held, point }) => {
                return match self.points.scans {
                    true => point.as_ref() == Some(returned),
                    false => held.contains(returned),
                };
            }
            (action, open) => panic!("{action} of {open:?}"),
        }
        true
    }
}

#[test]
fn operations_take_effect_at_their_points_only() {
    for scans in [true, false] {
        let points = Points { updates: true, scans };
        let (mut accepted, mut refused) = (0, [0; 4]);
        for n in 1..=3 {
            let mut specification = SnapshotSpecification::with_points(n, points);
            for seed in 0..1000 {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut executed = Executed::new(n, points);
                let mut possible = specification.initial();
                for _ in 0..30 {
                    let letter = executed.letter(&mut random);
                    let expected = executed.execute(&letter);
                    let number = specification.letter(letter.clone());
                    let successor = specification.successor(possible, number);
                    assert_eq!(successor.after.is_some(), expected, "{letter:?}");
                    let Some(after) = successor.after else {
                        let why = match specification.why(possible, number) {
                            Misplacement::Twice(_) => 0,
                            Misplacement::Never(_) => 1,
                            Misplacement::Differs { .. } => 2,
                            Misplacement::Unseen { .. } => 3,
                            Misplacement::Elsewhere(_) => panic!("a snapshot is no such object"),
                        };
                        refused[why] += 1;
                        break;
                    };
                    accepted += 1;
                    possible = after;
                }
            }
        }
        assert!(accepted > 10_000, "{accepted}");
        let expected = if scans { [true, true, true, false] } else { [true, true, false, true] };
        assert_eq!(refused.map(|count| count > 50), expected, "{refused:?}");
    }
}
