//! A part of a history, as monitors see it: effects and intervals.

use crate::OperationId;
use crate::generic::effect::Effect;
use crate::generic::history::History;

/// The time of an event that never comes.
pub(crate) const NEVER: u32 = u32::MAX;

/// Operations with their effects, in the order of their invocations.
///
/// Events are numbered anew, from 0 and without gaps. A *point* is a number from 0 to that of the
/// events: point g is the instant just before event g.
pub(crate) struct Part<V> {
    pub ids: Vec<OperationId>,
    pub effects: Vec<Effect<V>>,
    pub invoked: Vec<u32>,
    /// [`NEVER`] if it did not respond.
    pub responded: Vec<u32>,
    /// Number of events.
    pub events: u32,
}

impl<V> Part<V> {
    /// The part of these operations, which are in the order of their invocations and did not
    /// fail; `effects` has one for each.
    pub fn new<I, O>(
        history: &History<I, O>,
        ids: &[OperationId],
        effects: Vec<Effect<V>>,
    ) -> Self {
        let operations = history.operations();
        let (mut invoked, mut responded) = (vec![0; ids.len()], vec![NEVER; ids.len()]);
        let mut place = |event: u64, time: u32| {
            let (index, is_response) = ((event >> 1) as usize, event & 1 == 1);
            *(if is_response { &mut responded[index] } else { &mut invoked[index] }) = time;
        };
        let of = |index: usize| {
            let operation = &operations[ids[index].index()];
            (operation.invocation, operation.response())
        };
        let mut events = 0;
        if ids.len() * 8 >= history.len() {
            const NONE: u64 = u64::MAX;
            let mut at = vec![NONE; history.len()];
            for index in 0..ids.len() {
                let (invocation, response) = of(index);
                at[invocation] = (index as u64) << 1;
                if let Some(response) = response {
                    at[response] = (index as u64) << 1 | 1;
                }
            }
            for event in at.into_iter().filter(|event| *event != NONE) {
                place(event, events);
                events += 1;
            }
        } else {
            let mut at: Vec<(u32, u64)> = Vec::with_capacity(2 * ids.len());
            for index in 0..ids.len() {
                let (invocation, response) = of(index);
                at.push((invocation as u32, (index as u64) << 1));
                at.extend(response.map(|response| (response as u32, (index as u64) << 1 | 1)));
            }
            at.sort_unstable();
            for (_, event) in at {
                place(event, events);
                events += 1;
            }
        }
        Self { ids: ids.to_vec(), effects, invoked, responded, events }
    }

    /// The identifiers of operations.
    pub fn named(&self, order: impl IntoIterator<Item = u32>) -> Vec<OperationId> {
        order.into_iter().map(|index| self.ids[index as usize]).collect()
    }
}
