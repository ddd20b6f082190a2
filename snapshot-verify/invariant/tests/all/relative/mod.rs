//! Bits that are listed relative to others, against the same lists without them: every flip is
//! written out, and the plain rules must find the set closed.

mod programs;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::claim::Obligation;
use snapshot_invariant::flips;
use snapshot_invariant::interference::Effect;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{ViewSets, close};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::views::{initial, steps};
use snapshot_invariant::write::{Part, lay_out};
use snapshot_invariant::{Budget, byte, centre::centre};
use snapshot_language::program::Program;
use test_support::effort::either;

use crate::altered::{lines, sealed};
use crate::programs::{certificate, checked, of_corpus, parsed, parts, refused, small};
use crate::wrong;

pub use self::programs::{LED, MARKED, NOTED, TOGGLED, TOLD};

/// Ignores failures: the comparison concerns the sets.
pub const SILENT: InjectedFault = InjectedFault {
    no_others: false,
    no_scans: false,
    two_named: false,
    unknown_is_false: false,
    no_failures: true,
    symbols_differ: false,
    late_is_unseen: false,
    any_round: false,
};

fn closed(layout: &Layout<'_>) -> ViewSets {
    let mut proceed = || true;
    close(layout, SILENT, &mut Budget { memory: 2 << 30, proceed: &mut proceed }).unwrap()
}

/// Returns every view with any of its classes flipped.
fn unfolded(layout: &Layout<'_>, views: &FxHashSet<Box<[u8]>>) -> FxHashSet<Vec<u8>> {
    let mut all: FxHashSet<Vec<u8>> = views.iter().map(|view| view.to_vec()).collect();
    for class in 0..layout.classes.len() {
        let flipped = |view: &Vec<u8>| {
            let mut view = view.clone();
            for &at in layout.class_bits.keys() {
                let is_known = matches!(view[at], 2 | 3);
                if is_known && layout.class_of(&view, at) == Some(class) {
                    view[at] = flips::negated(view[at]);
                }
            }
            view
        };
        let more: Vec<Vec<u8>> = all.iter().map(flipped).collect();
        all.extend(more);
    }
    all
}

/// Checks that the plain rules find the set of all flips closed; returns the number of views, and
/// of views that stand for more than themselves.
fn check_unfolded(program: &Program, part: &Part) -> (usize, usize) {
    check_unfolded_by(program, &Part { alike: true, ..part.clone() });
    check_unfolded_by(program, part)
}

fn check_unfolded_by(program: &Program, part: &Part) -> (usize, usize) {
    let layout = lay_out(program, part).unwrap();
    assert!(!layout.classes.is_empty(), "no classes");
    let family = closed(&layout);
    let plain = lay_out(program, &Part { classes: Vec::new(), ..part.clone() }).unwrap();
    let views: Vec<FxHashSet<Vec<u8>>> =
        family.views.iter().map(|views| unfolded(&layout, views)).collect();
    type SharedPartEntry<'a> = (Vec<(usize, &'a Vec<u8>)>, FxHashSet<Effect>);
    let mut homes: FxHashMap<Vec<u8>, SharedPartEntry<'_>> = FxHashMap::default();
    for (number, (kind, all)) in family.kinds.iter().zip(&views).enumerate() {
        assert!(initial(&plain, kind).unwrap().iter().all(|view| all.contains(view)));
        for view in all {
            let steps = steps(&plain, kind, view, SILENT).unwrap();
            assert!(steps.views.iter().all(|next| all.contains(next)), "a step leads out");
            let home = homes.entry(centre(&plain, kind, view)).or_default();
            home.0.push((number, view));
            home.1.extend(steps.effects);
        }
    }
    for (at_home, effects) in homes.values() {
        for &(number, view) in at_home {
            for effect in effects {
                let made = effect.apply(&plain, &family.kinds[number], view, SILENT).unwrap();
                assert!(
                    made.iter().all(|next| views[number].contains(next)),
                    "an effect leads out"
                );
            }
        }
    }
    let whole: usize = views.iter().map(FxHashSet::len).sum();
    (family.len(), whole)
}

#[test]
fn unfolding_classes_gives_a_closed_list() {
    let programs = [(parsed(TOGGLED, None), vec!["scans.memory-t", "scans.memory-i"])];
    for (program, rungs) in programs {
        for part in parts(&program, &rungs) {
            let name = part.obligation.name();
            let (listed, whole) = check_unfolded(&program, &part);
            println!("{} {name}: {listed} views for {whole}", program.name);
            assert!(whole > listed, "{} {name}", program.name);
        }
    }
}

/// A bit written by t that no other view shows is unknown to all other views.
#[test]
fn bits_shown_to_t_alone_are_unknown_in_other_views() {
    let program = parsed(MARKED, None);
    let (listed, whole) = check_unfolded(&program, &marked(&program));
    assert!(whole >= 2 * listed - listed / 4, "{listed} {whole}");
}

/// Returns the part of [`MARKED`] with the mark and the bits, each in a separate class.
pub fn marked(program: &Program) -> Part {
    let kept = ["a[i]", "a[j]", "m.by", "m.bit", "i:toggle", "j:toggle", "t:toggle"];
    let kept = kept.map(str::to_owned).to_vec();
    let class = |name: &str| vec![(name.to_owned(), None)];
    let classes = ["i:toggle", "j:toggle", "t:toggle"].map(class).to_vec();
    Part { kept, classes, ..parts(program, &["scans.memory-i"]).remove(0) }
}

/// Returns the part of [`LED`] with the bits of i in one class, and the bits of j in another.
pub fn led(program: &Program) -> Part {
    let of =
        |owner: &str| [format!("f[{owner}][t]"), format!("g[{owner}]"), format!("{owner}:mine")];
    let classes = ["i", "j"].map(|owner| of(owner).map(|name| (name, None)).to_vec()).to_vec();
    let found = parts(program, &["scans.observer"]).remove(0);
    let kept = [found.kept, of("i").to_vec(), of("j").to_vec()].concat();
    Part { kept, classes, ..found }
}

/// Returns the part of [`NOTED`] with the bits by which i records its updates for j and t, each in
/// a class: i's local belongs to the class in the round of j, or t, only. If `loose`, the loop of
/// its update is loose.
pub fn noted(program: &Program, rung: &str, loose: bool) -> Part {
    let found = parts(program, &[rung]).remove(0);
    let (update, scan) = (program.update().0 as usize, program.scan().0 as usize);
    let local = |procedure: usize, name: &str| {
        let locals = &program.procedures[procedure].locals;
        locals.iter().position(|local| local.name == name).unwrap()
    };
    let of_update = |member: u8| {
        let bit = format!("i:update.b#{}", local(update, "b"));
        (bit, Some((local(update, "k"), member)))
    };
    let of_scan = (format!("t:scan.b#{}", local(scan, "b")), Some((local(scan, "k"), byte::I)));
    let mine = (format!("t:scan.mine#{}[i]", local(scan, "mine")), None);
    let to_t = vec![("h[t][i]".to_owned(), None), of_update(byte::T), of_scan, mine];
    let mut to_j = vec![("h[j][i]".to_owned(), None)];
    // Where j's round counts as a round of any other, so does its bit.
    if !loose {
        to_j.push(of_update(byte::J));
    }
    // A bit of the centre has a class in all views, or in none.
    let classes = vec![to_t, to_j, vec![of_update(byte::OTHER)]];
    let mut kept: Vec<String> = classes.iter().flatten().map(|(name, _)| name.clone()).collect();
    kept.extend(found.kept.iter().cloned());
    kept.sort_unstable();
    kept.dedup();
    Part {
        kept,
        classes,
        loose: if loose { vec![(byte::I, update, 0)] } else { Vec::new() },
        ..found
    }
}

/// Classes that are bound to rounds, in loops that are loose or not.
#[test]
fn unfolding_classes_of_rounds_gives_a_closed_list() {
    let program = parsed(NOTED, None);
    for loose in [false, true] {
        let part = noted(&program, "scans.memory-i", loose);
        let layout = lay_out(&program, &part).unwrap();
        let bound = layout.classes.iter().flatten().filter(|bit| bit.round.is_some()).count();
        let (listed, whole) = check_unfolded(&program, &part);
        println!("loose {loose}: {listed} views for {whole}, {bound} bits of rounds");
        assert!(bound >= 3 && layout.loose.is_empty() != loose);
        assert!(whole > 2 * listed, "{listed} {whole}");
    }
}

/// The meanings of the symbols after a step are among the views that are made of them.
#[test]
fn meanings_of_symbols_survive_a_step() {
    let program = parsed(TOGGLED, None);
    let part = parts(&program, &["scans.memory-t"]).remove(0);
    let layout = lay_out(&program, &part).unwrap();
    assert!(layout.classes.len() >= 2);
    let (mut seed, mut mixed) = (1_u64, 0);
    for _ in 0..2_000 {
        let mut state = vec![0; layout.slots.len()];
        for &at in &layout.truths {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chosen = (seed >> 33) as usize;
            let class = chosen / 8 % layout.classes.len();
            state[at] = match chosen % 8 {
                0 => 0,
                1 | 2 => 2 + (chosen % 2) as u8,
                negated => flips::symbol(class, negated % 2 == 0),
            };
        }
        let views = flips::normal(&layout, state.clone());
        mixed += usize::from(views.len() > 1);
        let all = views.into_iter().map(Vec::into_boxed_slice).collect();
        let all = unfolded(&layout, &all);
        for values in 0..1 << layout.classes.len() {
            let mut meant = state.clone();
            for &at in &layout.truths {
                if flips::is_symbol(state[at]) {
                    let value = values >> flips::class(state[at]) & 1 == 1;
                    meant[at] = 2 + u8::from(flips::is_odd(state[at]) != value);
                }
            }
            assert!(all.contains(&meant), "{state:?}, {values:b}");
        }
    }
    assert!(mixed > 500, "{mixed}");
}

/// Returns updates that have met themselves, in several ways: where all elements of an array are
/// stored, their old values are forgotten; otherwise they must be made unknown.
pub fn met() -> [String; 4] {
    let local = wrong::MET.replace("met := false\n", "local met[process]: bool\n");
    let local = local.replace("if met:", "if met[me]:");
    let stored = |how: &str| local.replace("if k = me: met := true", how);
    [
        wrong::MET.to_owned(),
        stored("met[k] := true"),
        stored("if k = me: met[k] := true"),
        stored("if not met[k]: met[k] := true"),
    ]
}

/// Returns the part of one of these programs, with all truth values.
pub fn met_part(program: &Program) -> Part {
    let found = parts(program, &["scans.observer"]).remove(0);
    let kept = [found.kept.clone(), truths(program, found.obligation)].concat();
    Part { kept, classes: Vec::new(), ..found }
}

/// An index that may be i, j or any other may be the process itself, which has a separate place.
#[test]
fn loose_loops_include_the_process_itself() {
    assert_eq!(met().iter().filter(|text| text.contains("met[")).count(), 3);
    for text in met() {
        let program = parsed(&text, None);
        for loose in [Vec::new(), loops(&program)] {
            let part = Part { loose, ..met_part(&program) };
            let made = certificate(&program, &[part], InjectedFault::default());
            assert!(made.is_err(), "it does without the lock");
        }
    }
}

/// Classes are a guess: for any guess, wrong programs have no certificate, even with operations
/// shown late.
#[test]
fn no_guess_of_classes_proves_a_wrong_program() {
    let guesses = [(1, true), (2, false), (3, true)];
    let (mut tried, most) = (0, either(1, 3));
    for (at, (program, rung)) in wrong::programs().into_iter().enumerate() {
        let found = parts(&program, &[rung]).remove(0);
        let bits = truths(&program, found.obligation);
        // In turns, in the slow suite all.
        for (number, late) in guesses.into_iter().cycle().skip(at).take(most) {
            let class = bits.iter().step_by(number).map(|name| (name.clone(), None)).collect();
            let part = Part { late, classes: vec![class], loose: loops(&program), ..found.clone() };
            assert!(
                certificate(&program, &[part], InjectedFault::default()).is_err(),
                "{}",
                program.name
            );
            tried += 1;
        }
    }
    assert!(tried >= 10 * most, "{tried}");
}

/// Returns all loops of i's and j's updates, or more: a loose loop of a scan loses the values read.
pub fn loops(program: &Program) -> Vec<(u8, usize, usize)> {
    let update = program.update().0 as usize;
    (0..2).flat_map(|owner| (0..4).map(move |number| (owner, update, number))).collect()
}

pub fn truths(program: &Program, obligation: Obligation) -> Vec<String> {
    let layout = Layout::new(program, obligation).unwrap();
    let is_truth = |at: &usize| {
        let leaf = layout.slots[*at].leaf;
        leaf.is_some_and(|leaf| leaf.scalar == snapshot_invariant::layout::Scalar::Bool)
    };
    let all = (0..layout.slots.len()).filter(is_truth);
    all.map(|at| layout.slots[at].name.clone()).filter(|name| !name.is_empty()).collect()
}

/// The search takes equal bits for different ones, or omits the hidden part of late operations, and
/// so proves a wrong program: the check refuses.
#[test]
fn faults_with_bits_and_late_operations_are_refused() {
    let right = InjectedFault::default();
    let mistakes = [
        InjectedFault { symbols_differ: true, ..right },
        InjectedFault { late_is_unseen: true, ..right },
    ];
    let program = parsed(TOGGLED, None);
    let parts = parts(&program, &["scans.memory-t"]);
    assert!(certificate(&program, &parts, right).is_err(), "two writes may leave the same toggle");
    for planted in mistakes {
        let (text, _) = certificate(&program, &parts, planted).unwrap();
        let refusal = refused(&program, text.as_bytes());
        let is_right = matches!(refusal, Refusal::Escape { .. } | Refusal::Failure { .. });
        assert!(is_right, "{planted:?}: {refusal}");
    }
}

/// Resealed certificates with invalid claims are refused.
#[test]
fn unfit_claims_are_refused() {
    let program = parsed(TOGGLED, None);
    let right = InjectedFault { no_failures: true, ..InjectedFault::default() };
    let (text, _) = certificate(&program, &parts(&program, &["scans.memory-i"]), right).unwrap();
    let all = lines(&text);
    let head = all.iter().position(|line| line.starts_with("classes ")).unwrap();
    let first = all[head + 1].clone();
    assert!(first.contains(' '), "{first}");
    let words = [
        // Not kept, or not a truth value, or in two classes.
        "r[i].val".to_owned(),
        format!("{first} {first}"),
        all[head + 2].clone(),
        // Rounds of no local, of no member, of a variable that is not a loop's.
        format!("{first}@1=i"),
        "i:scan.a#0[i].toggle@900=i".to_owned(),
        "i:scan.a#0[i].toggle@1=x".to_owned(),
        String::new(),
        "@".to_owned(),
    ];
    for word in words {
        let mut lines = all.clone();
        lines[head + 1].clone_from(&word);
        let refusal = refused(&program, sealed(&lines).as_bytes());
        assert!(matches!(refusal, Refusal::Line(_)), "{word}: {refusal}");
    }
    for (from, to) in [("late 1", "late 2"), ("late 1", "late"), ("late 1", "early 1")] {
        let mut lines = all.clone();
        let at = lines.iter().position(|line| line == from).unwrap();
        lines[at] = to.to_owned();
        let refusal = refused(&program, sealed(&lines).as_bytes());
        assert!(matches!(refusal, Refusal::Line(_)), "{to}: {refusal}");
    }
    // With a class missing, the relation is not presumed any more, so the bits with lead 0 are not
    // all.
    let count: usize = all[head].strip_prefix("classes ").unwrap().parse().unwrap();
    let mut less = all.clone();
    less.remove(head + 1);
    less[head] = format!("classes {}", count - 1);
    let refusal = refused(&program, sealed(&less).as_bytes());
    assert!(matches!(refusal, Refusal::Escape { .. }), "{refusal}");
    // For nesting, operations are shown from their begin.
    let afek = of_corpus("afek_unbounded", None);
    let (text, _) =
        certificate(&afek, &parts(&afek, &["calls.nesting"]), InjectedFault::default()).unwrap();
    let mut lines = lines(&text);
    let at = lines.iter().position(|line| line == "late 0").unwrap();
    lines[at] = "late 1".to_owned();
    let refusal = refused(&afek, sealed(&lines).as_bytes());
    assert!(matches!(refusal, Refusal::Line(_)), "{refusal}");
}

/// A class of a byte of the centre that depends on t would make centres of one state differ.
#[test]
fn classes_of_the_centre_do_not_depend_on_t() {
    let program = parsed(TOLD, None);
    let found = parts(&program, &["scans.memory-t"]).remove(0);
    let kept = truths(&program, found.obligation);
    let part = Part { kept, classes: Vec::new(), loose: Vec::new(), ..found };
    let mut layout = lay_out(&program, &part).unwrap();
    let name = part.kept.iter().find(|name| name.starts_with("i:update.t#")).unwrap();
    // Its loop has one variable, `k`.
    let locals = &program.procedures[program.update().0 as usize].locals;
    let k = locals.iter().position(|local| local.name == "k").unwrap();
    let round = |member: &str| layout.bit_of_name(&format!("{name}@{k}={member}")).unwrap();
    let [at_i, at_t, at_other] = ["i", "t", "-"].map(round);
    let of = |name: &str| layout.bit_of_name(name).unwrap();
    let (central, tracked) = (of("h[i][j]"), of("h[t][i]"));
    let cases = [
        (vec![vec![at_t, tracked], vec![at_other]], true),
        (vec![vec![at_t, tracked], vec![at_other], vec![at_i, central]], true),
        (vec![vec![at_t, tracked]], false),
        (vec![vec![at_other]], false),
        (vec![vec![at_t, central], vec![at_other]], false),
        (vec![vec![at_t, tracked], vec![at_other, central]], false),
        (vec![vec![central], vec![central]], false),
    ];
    for (classes, is_right) in cases {
        let told = format!("{classes:?}");
        layout.classes = classes;
        layout.index();
        assert_eq!(flips::check(&layout).is_ok(), is_right, "{told}");
    }
}

#[test]
fn late_operations_do_not_change_verdicts() {
    for name in ["locked", "versioned"] {
        let program = small(name);
        for late in [false, true] {
            let found = parts(&program, &["scans.observer"]).remove(0);
            let part = Part { late, ..found };
            let (text, _) = certificate(&program, &[part], InjectedFault::default()).unwrap();
            let answer = checked(&program, text.as_bytes());
            assert!(matches!(answer, Answer::Accepted(_)), "{name} {late}: {answer:?}");
        }
    }
}

/// The frame of a procedure that runs both in and outside of ghost scans is in the centre outside:
/// its bits are in a class in the rounds of t and of any other, or in none.
#[test]
fn bits_of_shared_helpers_are_in_the_centre() {
    let text = "
algorithm helped
shared a[segment]: value
shared req[process]: process or none := none
shared bad[process]: bool
shared c: bool
private never: bool
private asked: bool
update(v):
    atomic:
        r := req[me]
        if r != none:
            bad[r] := true
            req[me] := none
    if r != none:
        loop:
            z := c
    if not asked: ask()
    asked := true
    a[me] := v
procedure ask():
    local x: bool
    for p in processes except me:
        x := true
        req[p] := me
        repeat
            q := req[p]
        until q != me and x
scan:
    local w: view
    local e[segment]: bool
    if never: ask()
    req[me] := none
    atomic:
        for s in segments: e[s] := bad[s]
    for s in segments:
        if e[s]: w[s] := a[s]
    atomic:
        for s in segments:
            if not e[s]: w[s] := a[s]
    return w
";
    let classes = |text: &str| {
        let program = parsed(text, None);
        let rung = Obligation::from_name("scans.observer").unwrap();
        let bit = |owner: &str| vec![(format!("{owner}:ask.x#0"), Some((1, byte::T)))];
        let part = Part {
            obligation: rung,
            kept: Layout::new(&program, rung).unwrap().names().map(str::to_owned).collect(),
            classes: ["i", "j"].map(bit).to_vec(),
            ..parts(&program, &["scans.observer"]).remove(0)
        };
        lay_out(&program, &part).unwrap().classes.len()
    };
    assert_eq!(classes(text), 0);
    // If it runs in ghost scans only, no view of t has its bits in the centre.
    let outside = "    if not asked: ask()\n";
    assert!(text.contains(outside));
    assert_eq!(classes(&text.replacen(outside, "", 1)), 2);
}
