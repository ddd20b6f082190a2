//! Proofs by rules in a sentence.

use snapshot_core::OperationId;
use snapshot_core::generic::{Proof, Stay};
use snapshot_core::history::Outcome;

use super::interface::Nouns;
use super::judge::Judgement;

/// The most values or operations in a list.
const MOST: usize = 12;

/// The argument that more operations removed a value than could have added it.
fn unfounded(
    judgement: &Judgement,
    removals: &[OperationId],
    additions: usize,
    words: &Nouns,
) -> String {
    let Nouns { adding, removed, .. } = words;
    let of = removals.last().and_then(|id| judgement.texts[id.index()].results.as_ref());
    let of = of.and_then(|results| results.first());
    let has_failed = judgement.texts.iter().any(|text| {
        matches!(text.outcome, Outcome::Failed { .. })
            && of.is_some_and(|value| text.arguments.first() == Some(value))
    });
    let value = of.map_or_else(String::new, |value| value.shown(judgement.format));
    let begun = if has_failed { "had begun that did not fail" } else { "had begun" };
    match removals.len() {
        1 => format!("{value} was {removed}, but no {adding} of {value} {begun}."),
        many => format!(
            "{value} was {removed} {}, but only {} of {value} {begun}.",
            times(many),
            counted(additions, adding)
        ),
    }
}

/// The argument of a proof, whose operations are named X1, X2, ... in its order.
pub(super) fn sentence(judgement: &Judgement, proof: &Proof) -> String {
    let named = proof.operations();
    let name = |id: &OperationId| {
        let place = named.iter().position(|one| one == id);
        format!("X{}", place.map_or(0, |place| place + 1))
    };
    let list = |ids: &[OperationId], last: &str| joined(ids.iter().map(name), last);
    let words = judgement.object.kind().nouns();
    let Nouns { added, removed, removal, has_owners, .. } = words;
    let value = |addition: OperationId| {
        let value = judgement.texts[addition.index()].arguments.first();
        value.map_or_else(String::new, |value| value.shown(judgement.format))
    };
    let values = |stays: &[Stay]| joined(stays.iter().map(|stay| value(stay.addition)), "then ");
    match proof {
        Proof::Impossible { operation } => {
            format!("{} returned what its operation never returns.", name(operation))
        }
        Proof::Unfounded { removals, additions } => {
            unfounded(judgement, removals, additions.len(), &words)
        }
        Proof::Overtaken { first, second } => {
            let (one, other) = (value(first.addition), value(second.addition));
            let end = match first.removal {
                Some(_) => format!("before the {removal} of {one} began"),
                None => format!("and {one} never was"),
            };
            format!("{one} was {added} before {other}, yet {other} was {removed} {end}.")
        }
        Proof::Overdue { debts, removals } => format!(
            "{} must have been {removed} before values that were {added} later, but only {} whose \
             value is not known had begun by then.",
            joined(debts.iter().map(|debt| value(debt.addition)), "and "),
            counted(removals.len(), removal)
        ),
        Proof::Crossed { chain } => crossed(chain, &value, &words),
        Proof::NotLeast { removed: stay, smaller } => format!(
            "{} was {removed} though a smaller value was inside all the time: {}.",
            value(stay.addition),
            values(smaller)
        ),
        Proof::NotEmpty { operation, inside } => format!(
            "{} found nothing, though from its beginning to its end there was always a value \
             inside: {}.",
            name(operation),
            values(inside)
        ),
        Proof::Unwritten { operation, .. } => format!(
            "{} found a value that was not there at first and was never written.",
            name(operation)
        ),
        Proof::ReplacedTwice { first, second, .. } => format!(
            "{} and {} replaced the same value, which was there only once.",
            name(first),
            name(second)
        ),
        Proof::Circle { operations, .. } => format!(
            "Each of {} found what another of them wrote, so that none can be the first.",
            list(operations, "and ")
        ),
        Proof::Reversed { sequence } => {
            let first = sequence.first().map_or_else(String::new, name);
            let last = sequence.last().map_or_else(String::new, name);
            format!(
                "By the values that they found and wrote, the order is {}; but {last} had ended \
                 before {first} began.",
                list(sequence, "")
            )
        }
        Proof::Interleaved { first, second } => match has_owners {
            true => format!(
                "{} had the lock before it was given back by {}, and the other way round: {} and \
                 {} exclude each other.",
                value(first[0]),
                value(second[0]),
                list(first, "and "),
                list(second, "and ")
            ),
            false if first.len() == 1 && second.len() == 1 => {
                replaced(judgement, first[0], second[0])
            }
            false => interleaved(&list(first, "and "), &list(second, "and ")),
        },
        Proof::NotMissed { operation, before, after } => format!(
            "{} did not find the value that it expected, though it was there from before it began, \
             as {} shows, until after it ended, as {} shows.",
            name(operation),
            name(before),
            name(after)
        ),
        Proof::Misplaced { append, first, second } if first == second => {
            format!("{} found the text twice that {} appended once.", name(first), name(append))
        }
        Proof::Misplaced { append, first, second } => format!(
            "{} and {} found the text that {} appended behind different texts, though it was \
             appended once.",
            name(first),
            name(second),
            name(append)
        ),
        Proof::Shown { proof, reads } => format!(
            "{} What was appended to is shown by {}.",
            sentence(judgement, proof),
            list(reads, "and ")
        ),
        other => format!("The operations break the rule `{}`.", other.rule()),
    }
}

/// One of two operations found the initial value: the one that began after the other had ended.
fn replaced(judgement: &Judgement, one: OperationId, other: OperationId) -> String {
    let begin = |id: OperationId| judgement.texts[id.index()].begin;
    let (reader, writer) = if begin(one) > begin(other) { ("X1", "X2") } else { ("X2", "X1") };
    format!(
        "{reader} found the value that was there at first, though {writer}, which shows another \
         value, had ended before {reader} began."
    )
}

fn interleaved(first: &str, second: &str) -> String {
    format!(
        "Operations on one value take effect before or after all those on another: {first}, and \
         {second}. But one of each ended before one of the others began."
    )
}

fn crossed(chain: &[Stay], value: &dyn Fn(OperationId) -> String, words: &Nouns) -> String {
    let Nouns { added, removed, removal, .. } = words;
    let name = |stay: &Stay| value(stay.addition);
    let end = |stay: &Stay| match stay.removal {
        Some(_) => format!("before the {removal} of {} began", name(stay)),
        None => format!("and {} was not", name(stay)),
    };
    match chain {
        [one, other] => format!(
            "{} was {added} after {} and before the {removal} of {} began, yet {} was {removed} {}.",
            name(other),
            name(one),
            name(one),
            name(one),
            end(other)
        ),
        [first, .., last] => format!(
            "There is always one of {} inside, so that the one {added} first is {removed} last; but \
             each was {added} after {} had been, or {removed} {}.",
            joined(chain.iter().map(name), "and "),
            name(first),
            end(last)
        ),
        _ => String::new(),
    }
}

/// A list in words; `last` stands before its end.
fn joined(names: impl ExactSizeIterator<Item = String>, last: &str) -> String {
    let count = names.len();
    let mut names: Vec<String> = names.take(MOST).collect();
    if count > MOST {
        names.push(format!("{} more", count - MOST));
    }
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => {
            let comma = if last == "and " { " " } else { ", " };
            format!("{}{comma}{last}{end}", rest.join(", "))
        }
        _ => names.concat(),
    }
}

fn times(count: usize) -> String {
    match count {
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
