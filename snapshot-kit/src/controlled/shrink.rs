//! Shrinking of a failing execution: fewer operations first, then fewer switches.

use rand_chacha::ChaCha8Rng;

use super::scheduler::Directed;
use super::trial::Trial;

/// Number of random schedules tried when an operation is omitted.
const TRIES: usize = 400;

/// Maximum number of executions.
const MOST: usize = 40_000;

/// Makes an execution; returns its switches if it fails.
type Fails<'a> = dyn FnMut(&Directed, &Trial) -> Option<Vec<super::Switch>> + 'a;

/// Returns a smaller execution that also fails. Unless [`MOST`] executions were spent, each of its
/// switches is needed, and for each of its operations no failing schedule without it was found.
pub(super) fn shrink(
    mut trial: Trial,
    random: &mut ChaCha8Rng,
    steps: usize,
    fails: &mut Fails<'_>,
) -> Trial {
    let mut spent = 0;
    loop {
        let before = (trial.operations(), trial.switches.len());
        trial = fewer_operations(trial, random, steps, &mut spent, fails);
        trial = fewer_switches(trial, steps, &mut spent, fails);
        if (trial.operations(), trial.switches.len()) == before || spent >= MOST {
            return trial;
        }
    }
}

fn fewer_operations(
    mut trial: Trial,
    random: &mut ChaCha8Rng,
    steps: usize,
    spent: &mut usize,
    fails: &mut Fails<'_>,
) -> Trial {
    let mut at = 0;
    while at < trial.operations() && *spent < MOST {
        let smaller = without(&trial, at);
        let mut found = None;
        for attempt in 0..TRIES {
            let directed = match attempt {
                0 => Directed::along(&smaller, steps),
                _ => Directed::random(random, steps),
            };
            *spent += 1;
            found = fails(&directed, &smaller);
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(switches) => trial = Trial { switches, ..smaller },
            None => at += 1,
        }
    }
    trial
}

/// Returns the trial without the operation of this number, counted thread by thread.
fn without(trial: &Trial, mut at: usize) -> Trial {
    let mut smaller = trial.clone();
    for operations in &mut smaller.threads {
        if at < operations.len() {
            operations.remove(at);
            break;
        }
        at -= operations.len();
    }
    smaller
}

fn fewer_switches(
    mut trial: Trial,
    steps: usize,
    spent: &mut usize,
    fails: &mut Fails<'_>,
) -> Trial {
    let mut at = 0;
    while at < trial.switches.len() && *spent < MOST {
        let mut smaller = trial.clone();
        smaller.switches.remove(at);
        *spent += 1;
        match fails(&Directed::along(&smaller, steps), &smaller) {
            // Only the switches that were made: not those after the end.
            Some(switches) if switches.len() <= smaller.switches.len() => {
                trial = Trial { switches, ..smaller };
            }
            _ => at += 1,
        }
    }
    trial
}
