//! Programs without an instance, and the errors.

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Instance, InstanceError, MOST_PROCESSES, Owner};
use snapshot_language::program::{Bound, ExpressionKind, ExtentError, IndexSet, Program, Type};

use crate::instance::programs::{BOWMAN, program};

fn error(text: &str, processes: usize, pair: (usize, usize)) -> InstanceError {
    of(&program(text, None), processes, pair)
}

fn of(program: &Program, processes: usize, pair: (usize, usize)) -> InstanceError {
    let error = Instance::new(program, processes, pair).err();
    error.unwrap_or_else(|| panic!("{} has an instance", program.name))
}

#[test]
fn a_pair_needs_two_processes() {
    let given = error(BOWMAN, 1, (0, 1));
    assert_eq!(given, InstanceError::TooFewProcesses { given: 1, least: 2 });
    assert_eq!(given.to_string(), "1 processes are too few: there must be at least 2");
    let given = error(BOWMAN, MOST_PROCESSES + 1, (0, 1));
    assert_eq!(given, InstanceError::TooManyProcesses { given: 65, most: 64 });
}

#[test]
fn pair_must_be_ordered_and_in_range() {
    for (i, j) in [(0, 3), (1, 1), (2, 1), (3, 4)] {
        let given = error(BOWMAN, 3, (i, j));
        assert_eq!(given, InstanceError::PairOutOfRange { i, j, processes: 3 });
    }
    let text = "the pair (2, 1) is out of range: it must be i < j < 3";
    assert_eq!(error(BOWMAN, 3, (2, 1)).to_string(), text);
}

const ARRAYS: &str = "
algorithm arrays
shared a[segment]: value
shared large[process][0..999][process]: bit
update(v): a[me] := v
scan:
    for k in processes: x := large[me][999][k]
    return [initial for s in segments]
";

#[test]
fn a_state_has_a_limit() {
    assert!(Instance::new(&program(ARRAYS, None), 7, (0, 1)).is_ok());
    let InstanceError::TooManySlots { limit: 65_536, span } = error(ARRAYS, 9, (0, 1)) else {
        panic!("there are 81,000 bits")
    };
    let declared = ARRAYS.find("large").unwrap() as u32;
    assert!((span.begin..span.end.max(span.begin + 1)).contains(&declared), "{span:?}");
}

#[test]
fn loops_have_a_limit() {
    let text = "
algorithm loops
shared a[segment]: value
update(v): a[me] := v
scan:
    for x in 0..999: for y in 0..99: z := a[segment(x mod n)]
    return [initial for s in segments]
";
    let InstanceError::TooManyBlocks { limit, span } = error(text, 2, (0, 1)) else {
        panic!("a hundred thousand accesses are too many")
    };
    assert_eq!(limit, 1 << 16);
    assert!(span.begin as usize >= text.find("for x").unwrap());
}

#[test]
fn bounds_out_of_range_are_refused() {
    let mut large = program(BOWMAN, None);
    let high = Bound { times_n: 2_000_000_000, plus: 0 };
    large.shared[0].dimensions = vec![IndexSet::Range(high, high)];
    let bound = "2000000000*n".to_owned();
    let expected = InstanceError::BoundOutOfRange { bound, processes: 3 };
    assert_eq!(of(&large, 3, (0, 1)), expected);
    large.shared[0].dimensions = vec![IndexSet::Range(Bound::constant(0), high)];
    let InstanceError::Extent(ExtentError::Scalars { name, given, .. }) = of(&large, 3, (0, 1))
    else {
        panic!("six thousand million cells are too many")
    };
    assert_eq!((name.as_str(), given), ("active", 6_000_000_001));
}

#[test]
fn initial_value_must_be_a_constant_of_its_type() {
    let mut wrong = program(BOWMAN, None);
    wrong.shared[0].initial.kind = ExpressionKind::Process(Bound::constant(2));
    wrong.shared[0].initial.content = Type::Process;
    assert!(Instance::new(&wrong, 3, (0, 1)).is_ok());
    let InstanceError::BadInitial { name, what, .. } = of(&wrong, 2, (0, 1)) else {
        panic!("there is no process 2")
    };
    assert_eq!((name.as_str(), what), ("active", "a number is out of its range"));
    wrong.shared[0].initial.kind = ExpressionKind::Fresh;
    let InstanceError::BadInitial { what, .. } = of(&wrong, 2, (0, 1)) else {
        panic!("a fresh version is not constant")
    };
    assert_eq!(what, "it is not constant");
}

/// The front end refuses all texts with such an instance, so one is made by removing assignments.
#[test]
fn use_before_assignment_is_refused() {
    let text = corpus::algorithm("naive_collect").unwrap().text;
    let whole = Instance::new(&program(text, None), 2, (0, 1)).unwrap();
    assert_eq!(whole.is_definitely_assigned(Deadline::NEVER), Ok(()));
    let mut refused = 0;
    for (process, graph) in whole.graphs.iter().enumerate() {
        for (number, block) in graph.blocks.iter().enumerate() {
            for at in 0..block.assignments.len() {
                let mut broken = whole.clone();
                let target = broken.graphs[process].blocks[number].assignments.remove(at).target;
                let slot = whole.slot(target.choices()[0]);
                match broken.is_definitely_assigned(Deadline::NEVER) {
                    Ok(()) => {}
                    Err(InstanceError::Unassigned { name }) => {
                        assert!(matches!(slot.owner, Owner::Operation(_)), "{name}");
                        assert_eq!(name, slot.name);
                        refused += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    assert!(refused > 0);
}
