//! Lists behave like those of Rust; undefined operations are faults at their place.

use std::collections::VecDeque;

use snapshot_verify::interpret::{Argument, Data, FaultKind, OperationCall, Sequential};

use super::program;

const LISTS: &str = "algorithm lists
object lists:
    state items: list of 0..9
    push_front(x: 0..9): 0..300:
        items := prepend(x, items)
        return len(items)
    push_back(x: 0..9): 0..300:
        items := append(items, x)
        return len(items)
    front: 0..9: return first(items)
    pop_front: items := rest(items)
    length: 0..300: return len(items)
    is_empty: bool: return items = []
shared cell: 0..300
push_front(x): return cell
push_back(x): return cell
front: return cell
pop_front: cell := 0
length: return cell
is_empty: return cell = 0
";

#[test]
fn lists_are_deques() {
    let program = program(LISTS);
    let sequential = Sequential::new(program.object().unwrap(), 2).unwrap();
    let mut state = sequential.initial();
    let mut expected: VecDeque<i64> = VecDeque::new();
    let mut random = 1_u32;
    let (mut faults, mut long) = (0, 0);
    for _ in 0..6_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (name, x) = match random >> 28 {
            0..=2 => ("push_front", true),
            3..=6 => ("push_back", true),
            7..=8 => ("front", false),
            9..=12 => ("pop_front", false),
            13..=14 => ("length", false),
            _ => ("is_empty", false),
        };
        let x = x.then_some(i64::from(random >> 8 & 0xff) % 10);
        let mut call = OperationCall::new(sequential.object().find(name).unwrap());
        if let Some(x) = x {
            call.arguments[0] = Argument(x as i32);
        }
        let found = sequential.apply(&state, 0, call);
        let is_fault = match name {
            "push_front" | "push_back" => expected.len() == 256,
            "front" | "pop_front" => expected.is_empty(),
            _ => false,
        };
        if is_fault {
            let kind = found.unwrap_err().kind;
            let empty = kind == FaultKind::EmptyList;
            assert!(empty || kind == FaultKind::ListTooLong { limit: 256 }, "{kind:?}");
            assert_eq!(empty, expected.is_empty());
            faults += 1;
            continue;
        }
        let result = match (name, x) {
            ("push_front", Some(x)) => {
                expected.push_front(x);
                Some(Data::Number(expected.len() as i64))
            }
            ("push_back", Some(x)) => {
                expected.push_back(x);
                Some(Data::Number(expected.len() as i64))
            }
            ("front", _) => expected.front().copied().map(Data::Number),
            ("pop_front", _) => {
                expected.pop_front();
                None
            }
            ("length", _) => Some(Data::Number(expected.len() as i64)),
            _ => Some(Data::Bool(expected.is_empty())),
        };
        let (after, returned) = found.unwrap().unwrap();
        assert_eq!(returned, result, "{name}");
        state = after;
        let held = Data::Parts(expected.iter().copied().map(Data::Number).collect());
        assert_eq!(*state, [held]);
        long += usize::from(expected.len() == 256);
    }
    assert!(faults > 20 && long > 20, "{faults} faults, {long} times full");
}
