//! All small executions.

use snapshot_core::history::Declaration;
use snapshot_core::immediate::History;

/// The value of the `number`-th operation of a process, from 1; 0 is initial.
pub const fn value(process: usize, number: usize) -> u32 {
    (10 * (process + 1) + number) as u32
}

/// One event of a plan of calls and responses.
type Happening = (bool, usize);

/// Calls `visit` with each execution in which process k has `counts[k]` operations, the last one
/// complete or pending, and complete ones return any vector of values that occur or are initial. Of
/// event orders that differ only by exchanging neighbouring calls, or neighbouring responses, one
/// is taken.
pub fn executions(counts: &[usize], visit: &mut impl FnMut(&History<u32>)) {
    for pending in 0_u32..1 << counts.len() {
        let mut order = Vec::new();
        let begun = vec![0; counts.len()];
        let ended = begun.clone();
        orders(counts, pending, (begun, ended), &mut order, visit);
    }
}

fn orders(
    counts: &[usize],
    pending: u32,
    (begun, ended): (Vec<usize>, Vec<usize>),
    order: &mut Vec<Happening>,
    visit: &mut impl FnMut(&History<u32>),
) {
    let mut is_whole = true;
    for process in 0..counts.len() {
        let is_pending = pending >> process & 1 == 1;
        let responses = counts[process] - usize::from(is_pending);
        let happening = if begun[process] > ended[process] && ended[process] < responses {
            (true, process)
        } else if begun[process] == ended[process] && begun[process] < counts[process] {
            (false, process)
        } else {
            continue;
        };
        is_whole = false;
        // Neighbours of one kind in ascending order.
        if order.last().is_some_and(|last| last.0 == happening.0 && last.1 > process) {
            continue;
        }
        let (mut begun, mut ended) = (begun.clone(), ended.clone());
        if happening.0 {
            ended[process] += 1
        } else {
            begun[process] += 1
        }
        order.push(happening);
        orders(counts, pending, (begun, ended), order, visit);
        order.pop();
    }
    if is_whole {
        returns(counts, order, &mut Vec::new(), visit);
    }
}

fn returns(
    counts: &[usize],
    order: &[Happening],
    chosen: &mut Vec<Vec<u32>>,
    visit: &mut impl FnMut(&History<u32>),
) {
    let complete = order.iter().filter(|happening| happening.0).count();
    if chosen.len() == complete {
        visit(&history(counts.len(), order, chosen));
        return;
    }
    let mut vectors: Vec<Vec<u32>> = vec![Vec::new()];
    for (process, &count) in counts.iter().enumerate() {
        let entries =
            (0..=count).map(|number| if number == 0 { 0 } else { value(process, number) });
        let entries: Vec<u32> = entries.collect();
        vectors = vectors
            .into_iter()
            .flat_map(|vector| {
                entries.iter().map(move |&entry| [vector.clone(), vec![entry]].concat())
            })
            .collect();
    }
    for vector in vectors {
        chosen.push(vector);
        returns(counts, order, chosen, visit);
        chosen.pop();
    }
}

fn history(segments: usize, order: &[Happening], chosen: &[Vec<u32>]) -> History<u32> {
    let mut builder = History::builder(Declaration::new(0).with_segments(segments)).unwrap();
    let (mut numbers, mut vectors) = (vec![0; segments], chosen.iter());
    for &(is_response, process) in order {
        if is_response {
            builder.respond(process, vectors.next().unwrap()).unwrap();
        } else {
            numbers[process] += 1;
            builder.invoke(process, value(process, numbers[process])).unwrap();
        }
    }
    builder.finish()
}
