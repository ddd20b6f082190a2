//! Normal counters: no answer that a program can compute is lost, and every step of a state is a
//! step of an expansion of its normal form.

use crate::passes::dead;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Domain, Instance, NONE, Scalar, SlotId};
use snapshot_explorer::quotient::canonical_renaming::CanonicalRenaming;
use snapshot_language::parse;

/// Counters that are moved, compared, and divided by 3, all in one class. `NAMED` may be replaced
/// by a statement that names a number.
const TEXT: &str = "algorithm counting
shared whole: view
shared c: counter
shared d: counter
private own: counter
update(v):
    x := c
    if x mod 3 = 1: d := x + 1
    y := d
    if y < x or y = own: own := x
    else: NAMED
    atomic: w := whole; w[me] := v; whole := w
scan:
    w := whole
    return w
";

const MODULUS: Scalar = 3;

/// Returns the instance, with its counters; `named` is the largest number that it names.
fn counting(named: Option<Scalar>) -> (Instance, Vec<SlotId>) {
    let statement =
        named.map_or_else(|| "skip".to_owned(), |named| format!("if own = {named}: own := y"));
    let program = parse("counting", &TEXT.replace("NAMED", &statement)).unwrap();
    let program = program.program(None).unwrap();
    // Locals start as 0 in the text; `dead` finds out that no process reads this.
    let instance = dead(&Instance::new(&program, 2, (0, 1)).unwrap());
    let slots = (0..instance.slots.len() as u32).map(SlotId);
    let counters =
        slots.filter(|&slot| matches!(instance.slot(slot).domain, Domain::Counter { .. }));
    let counters: Vec<SlotId> = counters.collect();
    assert!(counters.len() >= 6, "{counters:?}");
    (instance, counters)
}

/// Returns all answers that the program can compute from counters, now or later: their order, the
/// successor relation, remainders, and comparisons with the numbers up to `named`. Counters left
/// behind, below every counter that may be incremented, are only asked for the comparisons of the
/// text.
fn answers(
    instance: &Instance,
    counters: &[SlotId],
    state: &[Scalar],
    named: Option<Scalar>,
) -> Vec<Scalar> {
    let name = |slot: SlotId| instance.slot(slot).name.as_str();
    let value = |slot: SlotId| state[slot.index()];
    let is_x = |slot| name(slot).ends_with(".x");
    let rises = |slot| is_x(slot) || name(slot) == "c";
    let some = || counters.iter().copied().filter(|slot| value(*slot) != NONE);
    let least = some().filter(|slot| rises(*slot)).map(value).min().unwrap_or(Scalar::MAX);
    let is_behind = |slot| named.is_none() && value(slot) < least;
    // The slots whose content x and y of a process may have, or have had, by the moves of the text.
    let may_be_x =
        |slot: SlotId, p: &str| name(slot) == "c" || name(slot) == format!("{p}.update.x");
    let may_be_own = |slot: SlotId, p: &str| name(slot) == format!("{p}.own") || may_be_x(slot, p);
    let may_be_y = |slot: SlotId, p: &str| {
        !name(slot).ends_with(".own")
            && (name(slot) == format!("{p}.update.y") || !name(slot).ends_with(".y"))
    };
    let are_compared = |one: SlotId, other: SlotId| {
        ["p0", "p1"].iter().any(|p| {
            [(one, other), (other, one)].iter().any(|(y, x)| may_be_y(*y, p) && may_be_own(*x, p))
        })
    };
    let mut answers = Vec::new();
    for &slot in counters {
        if value(slot) == NONE {
            answers.push(NONE);
            continue;
        }
        answers.push(Scalar::from(is_behind(slot)));
        if rises(slot) || !is_behind(slot) {
            answers.push(value(slot) % MODULUS);
        }
        answers.extend((0..=named.unwrap_or(-1)).map(|number| number.cmp(&value(slot)) as Scalar));
        for other in some() {
            let order = value(slot).cmp(&value(other)) as Scalar;
            if !is_behind(slot) && !is_behind(other) {
                answers.extend([order, Scalar::from(value(slot) + 1 == value(other))]);
            } else if is_behind(slot) != is_behind(other) || are_compared(slot, other) {
                answers.push(order);
            }
        }
    }
    answers
}

fn states(
    instance: &Instance,
    counters: &[SlotId],
    seed: u64,
) -> impl Iterator<Item = (Vec<Scalar>, ChaCha8Rng)> {
    let initial: Vec<Scalar> = instance.slots.iter().map(|slot| slot.initial).collect();
    (0..2_000).map(move |number| {
        let mut random = ChaCha8Rng::seed_from_u64(seed << 32 | number);
        let mut state = initial.clone();
        let most = random.random_range(1..30);
        for slot in counters {
            let is_none = random.random_bool(0.1);
            state[slot.index()] = if is_none { NONE } else { random.random_range(0..=most) };
        }
        (state, random)
    })
}

fn normal(numbering: &CanonicalRenaming, mut state: Vec<Scalar>) -> Vec<Scalar> {
    numbering.normalise(&mut state);
    state
}

#[test]
fn normal_forms_answer_alike_and_are_idempotent() {
    for (seed, (named, cap)) in
        [(None, 2), (Some(0), 2), (Some(1), 2), (Some(1), 4)].iter().enumerate()
    {
        let (instance, counters) = counting(*named);
        let numbering = CanonicalRenaming::new(&instance, *cap, Deadline::NEVER).unwrap();
        for (state, _) in states(&instance, &counters, seed as u64) {
            let once = normal(&numbering, state.clone());
            let (expected, found) = (
                answers(&instance, &counters, &state, *named),
                answers(&instance, &counters, &once, *named),
            );
            assert_eq!(found, expected, "{state:?} became {once:?}");
            assert_eq!(normal(&numbering, once.clone()), once, "{state:?}");
        }
    }
}

/// Every step of a state is a step of one of the expansions of its normal form.
#[test]
fn steps_of_a_state_are_steps_of_an_expansion() {
    for (seed, (named, cap)) in [(None, 2), (Some(1), 2), (Some(1), 4)].iter().enumerate() {
        let (instance, counters) = counting(*named);
        let numbering = CanonicalRenaming::new(&instance, *cap, Deadline::NEVER).unwrap();
        let mut widened = 0;
        for (state, mut random) in states(&instance, &counters, 100 + seed as u64) {
            // The assignment `d := x + 1` of the text determines which counters are left behind.
            let may = |slot: &SlotId, name: &str| {
                named.is_some() || instance.slot(*slot).name.ends_with(name)
            };
            let mut pick = |name: &str| {
                let slots: Vec<&SlotId> = counters.iter().filter(|slot| may(slot, name)).collect();
                slots[random.random_range(0..slots.len())].index()
            };
            let (target, source) = (pick("d"), pick(".x"));
            if state[source] == NONE {
                continue;
            }
            let after = |mut state: Vec<Scalar>| {
                state[target] = state[source] + 1;
                normal(&numbering, state)
            };
            let normal = normal(&numbering, state.clone());
            let tried = (0..).map_while(|number| {
                let mut widened = normal.clone();
                numbering.widen(&mut widened, number).then(|| after(widened))
            });
            let expected = after(state.clone());
            let found = tried.enumerate().find(|(_, tried)| *tried == expected);
            let (number, _) = found.unwrap_or_else(|| {
                panic!("slot {target} became {source} + 1 in {state:?}, normally {normal:?}")
            });
            widened += u32::from(number > 0);
        }
        assert!(widened > 20, "{widened}");
    }
}
/// Two classes of counters. The steps of an update take three consecutive successors in the first
/// class, and two in the second.
const SEVERAL: &str = "algorithm several
shared whole: view
shared c: counter
shared d: counter
shared e: counter
shared g: counter
shared h: counter
update(v):
    atomic: if c < d and e mod 2 = 1: c := d + 1; e := c + 1; d := e + 1
    atomic: if d < c: d := c; c := e; e := d
    atomic: if g < h: g := h + 1; h := g + 1
    atomic: if h < g: h := g; g := h
    atomic: w := whole; w[me] := v; whole := w
scan:
    w := whole
    return w
";

/// Returns the outcome of a move with some assignments, each of a counter or its successor: every
/// comparison on the way, and the normal state after it.
fn outcome(
    numbering: &CanonicalRenaming,
    classes: &[Vec<SlotId>],
    moves: &[(usize, usize, Scalar)],
    mut state: Vec<Scalar>,
) -> (Vec<Scalar>, Vec<Scalar>) {
    let mut compared = Vec::new();
    for &(target, source, by) in moves {
        state[target] = state[source] + by;
        for class in classes {
            let pairs = class.iter().flat_map(|one| class.iter().map(move |other| [one, other]));
            let order = |[one, other]: [&SlotId; 2]| {
                state[one.index()].cmp(&state[other.index()]) as Scalar
            };
            compared.extend(pairs.map(order));
        }
    }
    (compared, normal(numbering, state))
}

/// Moves that take several successors, of several classes, from any state lead to the same states
/// as from an expansion of its normal form.
#[test]
fn moves_by_several_successors_are_moves_of_an_expansion() {
    let program = parse("several", SEVERAL).unwrap().program(None).unwrap();
    let instance = dead(&Instance::new(&program, 2, (0, 1)).unwrap());
    let slot = |name: &str| {
        let at = instance.slots.iter().position(|slot| slot.name == name).unwrap();
        SlotId(at as u32)
    };
    let classes = [vec!["c", "d", "e"], vec!["g", "h"]];
    let classes = classes.map(|names| names.into_iter().map(slot).collect::<Vec<SlotId>>());
    let counters = classes.concat();
    let initial: Vec<Scalar> = instance.slots.iter().map(|slot| slot.initial).collect();
    for cap in [2, 4] {
        let numbering = CanonicalRenaming::new(&instance, cap, Deadline::NEVER).unwrap();
        // By number of moduli, the moves found only with a widening by this number.
        let mut found_behind = [0; 4];
        for seed in 0..150_000 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut state = initial.clone();
            let most = random.random_range(1..12);
            for slot in &counters {
                state[slot.index()] = random.random_range(0..=most);
            }
            // At most three successors, as in the longest step; often successors of each other.
            let mut left = 3;
            let mut last = None;
            let mut moves: Vec<(usize, usize, Scalar)> = Vec::new();
            for _ in 0..random.random_range(1..6) {
                let class = usize::from(random.random_bool(0.3));
                let mut pick = || classes[class][random.random_range(0..classes[class].len())];
                let (target, source) = (pick(), pick());
                let chained = last.filter(|(of, _)| *of == class && random.random_bool(0.7));
                let source = chained.map_or(source, |(_, target)| target);
                let by = Scalar::from(left > 0 && random.random_bool(0.8));
                left -= by;
                last = Some((class, target));
                moves.push((target.index(), source.index(), by));
            }
            let begin = normal(&numbering, state.clone());
            let expected = outcome(&numbering, &classes, &moves, state.clone());
            // The second class has at most two successors.
            let in_second = moves.iter().filter(|(target, _, by)| {
                *by == 1 && classes[1].iter().any(|slot| slot.index() == *target)
            });
            if in_second.count() > 2 {
                continue;
            }
            let sum =
                |state: &[Scalar]| -> Scalar { counters.iter().map(|s| state[s.index()]).sum() };
            let widenings = (0..).map_while(|number| {
                let mut widened = begin.clone();
                numbering.widen(&mut widened, number).then_some(widened)
            });
            let found = widenings.filter(|widened| {
                outcome(&numbering, &classes, &moves, widened.clone()) == expected
            });
            let least = found.min_by_key(|widened| sum(widened));
            let least = least.unwrap_or_else(|| panic!("{moves:?} in {state:?}, {begin:?}"));
            let gaps = counters.iter().map(|slot| least[slot.index()] - begin[slot.index()]);
            found_behind[gaps.max().unwrap_or(0).clamp(0, 3) as usize] += 1;
        }
        assert!(found_behind.iter().all(|&times| times > 10), "cap {cap}: {found_behind:?}");
    }
}
