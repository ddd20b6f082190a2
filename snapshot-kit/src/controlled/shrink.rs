//! A failing execution, made small: fewer operations first, then fewer switches.

use rand_chacha::ChaCha8Rng;

use super::scheduler::Directed;
use super::trial::Trial;

/// Random schedules that are tried where an operation is left out.
const TRIES: usize = 400;

/// Executions that may be spent in all.
const MOST: usize = 40_000;

/// Makes an execution; where threads were switched, if it fails.
type Fails<'a> = dyn FnMut(&Directed, &Trial) -> Option<Vec<super::Switch>> + 'a;

/// An execution that fails, too, from which no operation was found that could be left out,
/// and no switch can.
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

/// Without the operation of this number, counted thread by thread.
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
            // Those that were made: without the ones that came too late to be.
            Some(switches) if switches.len() <= smaller.switches.len() => {
                trial = Trial { switches, ..smaller };
            }
            _ => at += 1,
        }
    }
    trial
}
