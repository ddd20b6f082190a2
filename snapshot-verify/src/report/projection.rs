//! Executions that were projected into a proof for every n, as text and as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use snapshot_invariant::projection::Coverage;
use snapshot_invariant::step::Kind;

use super::quantity::{count, seconds};

/// Returns which executions were projected into the views of a proof, and the share of it that they
/// cover.
pub fn projected(all: &[Coverage]) -> String {
    let of: Vec<&Coverage> = all.iter().filter(|one| one.unfit.is_none()).collect();
    let unfit = all.iter().find_map(|one| Some((one.obligation.name(), one.unfit?)));
    let left_out = unfit.map_or_else(String::new, |(name, reason)| {
        let name = if of.is_empty() { "nothing".to_owned() } else { format!("; not {name}") };
        format!("{name}: the program has {reason}")
    });
    if of.is_empty() {
        return left_out;
    }
    let sum = |part: &dyn Fn(&Coverage) -> usize| of.iter().map(|one| part(one)).sum::<usize>();
    let [two, three] = [sum(&|one| one.two), sum(&|one| one.three)];
    let whole = if of.iter().all(|one| one.is_whole) { "all " } else { "" };
    let [views, seen] = [0, 1].map(|part| sum(&|one| one.views()[part]));
    let [joins, shown] = [0, 1].map(|part| sum(&|one| one.joins[part]));
    let elapsed: Duration = of.iter().map(|one| one.elapsed).sum();
    format!(
        "{whole}{} states of n = 2, {} of n = 3, and random executions of n = 3, 4 lie in the proof: \
         {} % of its views, {shown} of {joins} joins ({}){left_out}",
        count(two as u64),
        count(three as u64),
        100 * seen / views.max(1),
        seconds(elapsed),
    )
}

/// Returns the projection of an obligation.
pub fn projection(one: &Coverage) -> Value {
    let kind = |kind: &Kind| {
        let name = |member: &u8| ["i", "j", "t"].get(usize::from(*member)).copied();
        let members: Vec<&str> = kind.members.iter().filter_map(name).collect();
        json!({"members": members, "follows": name(&kind.followed)})
    };
    let list = |(kinds, views, seen): &(Vec<Kind>, usize, usize)| {
        let kinds: Vec<Value> = kinds.iter().map(kind).collect();
        json!({"kinds": kinds, "views": views, "covered": seen})
    };
    let lists: Vec<Value> = one.kinds.iter().map(list).collect();
    json!({
        "obligation": one.obligation.name(),
        "unfit": one.unfit,
        "states": {"2": one.two, "3": one.three},
        "all_of_two": one.is_whole,
        "random_projections": one.random,
        "lists": lists,
        "joins": {"sites": one.joins[0], "covered": one.joins[1]},
        "seconds": one.elapsed.as_secs_f64(),
    })
}
