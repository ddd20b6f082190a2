//! Proofs by rules as they stand in certificates: the rule, and lists of operations.

use snapshot_core::generic::{Debt, Proof, Stay};
use snapshot_core::{IdError, OperationId};

/// Operations by number; `null` is a removal that did not respond.
pub(super) type Lists = Vec<Vec<Option<usize>>>;

/// The lists of a proof.
pub(super) fn lists(proof: &Proof) -> Lists {
    let ids = |ids: &[OperationId]| -> Vec<Option<usize>> {
        ids.iter().map(|id| Some(id.index())).collect()
    };
    let stay =
        |stay: &Stay| vec![Some(stay.addition.index()), stay.removal.map(OperationId::index)];
    match proof {
        Proof::Impossible { operation } => vec![ids(&[*operation])],
        Proof::Unfounded { removals, additions } => vec![ids(removals), ids(additions)],
        Proof::Overtaken { first, second } => vec![stay(first), stay(second)],
        Proof::Overdue { debts, removals } => {
            let mut all = vec![ids(removals)];
            all.extend(debts.iter().map(|debt| {
                let mut list = vec![Some(debt.addition.index())];
                list.extend(stay(&debt.later));
                list
            }));
            all
        }
        Proof::Crossed { chain } => chain.iter().map(stay).collect(),
        Proof::NotLeast { removed, smaller } => {
            std::iter::once(removed).chain(smaller).map(stay).collect()
        }
        Proof::NotEmpty { operation, inside } => {
            let mut all = vec![ids(&[*operation])];
            all.extend(inside.iter().map(stay));
            all
        }
        Proof::Unwritten { operation, because } => vec![ids(&[*operation]), ids(because)],
        Proof::ReplacedTwice { first, second, because } => {
            vec![ids(&[*first, *second]), ids(because)]
        }
        Proof::Circle { operations, because } => vec![ids(operations), ids(because)],
        Proof::Reversed { sequence } => vec![ids(sequence)],
        Proof::Interleaved { first, second } => vec![ids(first), ids(second)],
        Proof::NotMissed { operation, before, after } => {
            vec![ids(&[*operation, *before, *after])]
        }
        Proof::Misplaced { append, first, second } => vec![ids(&[*append, *first, *second])],
        Proof::Shown { proof, reads } => {
            // The list of reads stands before those of the rule.
            let mut all = vec![ids(reads)];
            all.append(&mut lists(proof));
            all
        }
        _ => Vec::new(),
    }
}

/// The name of a proof: that of its rule, behind that of reads which show its appends.
pub(super) fn name(proof: &Proof) -> String {
    match proof {
        Proof::Shown { proof, .. } => format!("{SHOWN}{}", proof.rule()),
        _ => proof.rule().to_owned(),
    }
}

const SHOWN: &str = "shown-";

/// The proof of this name and these lists; `None` if the rule is not known or wants others.
pub(super) fn read(rule: &str, lists: &Lists) -> Result<Option<Proof>, IdError> {
    let id = |number: &Option<usize>| number.map(OperationId::new).transpose();
    let mut all: Vec<Vec<Option<OperationId>>> = Vec::with_capacity(lists.len());
    for list in lists {
        all.push(list.iter().map(id).collect::<Result<_, _>>()?);
    }
    Ok(proof(rule, &all))
}

fn proof(rule: &str, lists: &[Vec<Option<OperationId>>]) -> Option<Proof> {
    let ids = |list: &Vec<Option<OperationId>>| list.iter().copied().collect::<Option<Vec<_>>>();
    let stay = |list: &Vec<Option<OperationId>>| match list.as_slice() {
        [Some(addition), removal] => Some(Stay { addition: *addition, removal: *removal }),
        _ => None,
    };
    let debt = |list: &Vec<Option<OperationId>>| match list.as_slice() {
        [Some(one), Some(addition), removal] => {
            Some(Debt { addition: *one, later: Stay { addition: *addition, removal: *removal } })
        }
        _ => None,
    };
    let stays = |lists: &[Vec<_>]| lists.iter().map(stay).collect::<Option<Vec<_>>>();
    let two = || match lists {
        [one, other] => Some((ids(one)?, ids(other)?)),
        _ => None,
    };
    let (first, rest) = lists.split_first()?;
    if let Some(rule) = rule.strip_prefix(SHOWN) {
        let proof = Box::new(proof(rule, rest)?);
        return Some(Proof::Shown { proof, reads: ids(first)? });
    }
    let single = || match (ids(first)?.as_slice(), rest) {
        ([operation], []) => Some(*operation),
        _ => None,
    };
    Some(match rule {
        "impossible" => Proof::Impossible { operation: single()? },
        "unfounded" => {
            let (removals, additions) = two()?;
            Proof::Unfounded { removals, additions }
        }
        "overtaken" => match stays(lists)?.as_slice() {
            [first, second] => Proof::Overtaken { first: *first, second: *second },
            _ => return None,
        },
        "overdue" => {
            let debts = rest.iter().map(debt).collect::<Option<Vec<_>>>()?;
            Proof::Overdue { debts, removals: ids(first)? }
        }
        "crossed" => Proof::Crossed { chain: stays(lists)? },
        "not-least" => Proof::NotLeast { removed: stay(first)?, smaller: stays(rest)? },
        "not-empty" => match ids(first)?.as_slice() {
            [operation] => Proof::NotEmpty { operation: *operation, inside: stays(rest)? },
            _ => return None,
        },
        "unwritten" => match two()? {
            (one, because) if one.len() == 1 => Proof::Unwritten { operation: one[0], because },
            _ => return None,
        },
        "replaced-twice" => match two()? {
            (both, because) if both.len() == 2 => {
                Proof::ReplacedTwice { first: both[0], second: both[1], because }
            }
            _ => return None,
        },
        "circle" => {
            let (operations, because) = two()?;
            Proof::Circle { operations, because }
        }
        "reversed" if rest.is_empty() => Proof::Reversed { sequence: ids(first)? },
        "interleaved" => {
            let (first, second) = two()?;
            Proof::Interleaved { first, second }
        }
        "misplaced" if rest.is_empty() => match ids(first)?.as_slice() {
            [append, first, second] => {
                Proof::Misplaced { append: *append, first: *first, second: *second }
            }
            _ => return None,
        },
        "not-missed" if rest.is_empty() => match ids(first)?.as_slice() {
            [operation, before, after] => {
                Proof::NotMissed { operation: *operation, before: *before, after: *after }
            }
            _ => return None,
        },
        _ => return None,
    })
}
