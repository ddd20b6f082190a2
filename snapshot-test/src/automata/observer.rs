//! The observer as a graph, the same for any number of processes.
//!
//! The observer of n processes has six bits of state and two bits, `must`, for
//! each open scan; as an automaton over the letters of n processes it would
//! have exponentially many states in n. But a letter changes at most the six
//! bits and what its own process must return. So a small graph says all there
//! is to say: its nodes are the reachable values of the six bits, and its edges
//! carry, for the response of a scan, the `must` of that scan.

use std::collections::BTreeSet;
use std::fmt::Write;

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::{Switching, Symbol};

/// What the observer does at one letter in one state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ObserverTransition {
    /// The state before the letter.
    pub from: ObserverState,
    /// The letter, without its process.
    pub symbol: Symbol,
    /// What the scan must return, if the letter is the response of one.
    pub must: Option<Must>,
    /// The state after the letter; `None`: the history is a violation.
    pub to: Option<ObserverState>,
}

/// All that the observer can do in simple histories.
///
/// Invariant: states and transitions are those of well-formed words, as far as
/// there are processes enough for the operations that must be open at once
/// (four are enough for all).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObserverGraph {
    states: Vec<ObserverState>,
    transitions: Vec<ObserverTransition>,
}

impl ObserverGraph {
    /// Explores the observer.
    ///
    /// One scan is watched; all others may be taken to be open from the
    /// beginning on: these have nothing that they must return, and any other
    /// scan can only do less. So the pairs of a state and the watched scan's
    /// `must` are all that has to be explored.
    #[must_use]
    pub fn new() -> Self {
        let mut reached = BTreeSet::new();
        let mut unexplored = vec![(ObserverState::INITIAL, Must::NOTHING)];
        while let Some((state, must)) = unexplored.pop() {
            if !reached.insert((state, must)) {
                continue;
            }
            let others = transitions(state, Must::NOTHING).filter_map(|transition| transition.to);
            unexplored.extend(others.map(|next| (next, must)));
            unexplored.push((state, state.invoke_scan()));
        }
        let states: BTreeSet<ObserverState> = reached.iter().map(|(state, _)| *state).collect();
        let of_updates = |state: &ObserverState| {
            transitions(*state, Must::NOTHING).filter(|transition| transition.must.is_none())
        };
        let of_scans = |(state, must): &(ObserverState, Must)| {
            transitions(*state, *must).filter(|transition| transition.must.is_some())
        };
        let transitions =
            states.iter().flat_map(of_updates).chain(reached.iter().flat_map(of_scans));
        Self { transitions: transitions.collect(), states: states.into_iter().collect() }
    }

    /// The values that the six bits can have before a violation, ascending.
    pub fn states(&self) -> &[ObserverState] {
        &self.states
    }

    /// What can happen in these states, but for letters that never change
    /// anything: invocations of scans, updates to 0, updates of other segments.
    pub fn transitions(&self) -> &[ObserverTransition] {
        &self.transitions
    }

    /// A drawing for Graphviz. Violations are not drawn: the caption says which
    /// they are.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut dot = DOT_HEAD.to_owned();
        for state in &self.states {
            line(&mut dot, format_args!("  q{} [label=\"{}\"];", state.bits(), name(*state)));
        }
        for from in &self.states {
            for to in &self.states {
                let symbols = self.symbols(*from, *to);
                if !symbols.is_empty() {
                    let label = symbols.join("\\n");
                    let (from, to) = (from.bits(), to.bits());
                    line(&mut dot, format_args!("  q{from} -> q{to} [label=\"{label}\"];"));
                }
            }
        }
        dot.push_str("}\n");
        dot
    }

    /// What leads from one state to another, without repetition.
    fn symbols(&self, from: ObserverState, to: ObserverState) -> Vec<String> {
        let mut symbols: Vec<Symbol> = Vec::new();
        for transition in &self.transitions {
            let leads = transition.from == from && transition.to == Some(to);
            // That an update responds, or is invoked again, is worth an edge
            // only if it changes something.
            let is_drawn = from != to || transition.must.is_some();
            if leads && is_drawn && !symbols.contains(&transition.symbol) {
                symbols.push(transition.symbol);
            }
        }
        symbols.iter().map(Symbol::to_string).collect()
    }
}

impl Default for ObserverGraph {
    fn default() -> Self {
        Self::new()
    }
}

const DOT_HEAD: &str = r#"digraph "observer" {
  rankdir=LR;
  labelloc=b;
  label="Letters that are not drawn change nothing, except that the history is a violation\nif a scan returns what is not drawn, or 0 where 1 was needed when it was invoked.";
  node [shape=box, style=rounded];
  start [shape=point];
  start -> q0;
"#;

fn line(dot: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(dot, "{line}").expect("writing to a string never fails");
}

/// The bits that are set, on up to three lines.
fn name(state: ObserverState) -> String {
    let list = |holds: &dyn Fn(Switching) -> bool| -> Vec<Switching> {
        Switching::BOTH.into_iter().filter(|segment| holds(*segment)).collect()
    };
    let segments = |segments: Vec<Switching>| {
        segments.iter().map(Switching::to_string).collect::<Vec<_>>().join(", ")
    };
    let ahead = |segments: Vec<Switching>| {
        let vector = |segment: &Switching| match segment {
            Switching::I => "(1, 0)",
            Switching::J => "(0, 1)",
        };
        segments.iter().map(vector).collect::<Vec<_>>().join(", ")
    };
    let lines = [
        ("invoked", segments(list(&|segment| state.invoked(segment)))),
        ("needed", segments(list(&|segment| state.needed(segment)))),
        ("bad", ahead(list(&|segment| state.bad(segment)))),
    ];
    let lines = lines.iter().filter(|(_, of)| !of.is_empty());
    let lines: Vec<String> = lines.map(|(what, of)| format!("{what} {of}")).collect();
    if lines.is_empty() { "nothing yet".to_owned() } else { lines.join("\\n") }
}

/// What can happen in a state, where an open scan has this `must`.
fn transitions(from: ObserverState, must: Must) -> impl Iterator<Item = ObserverTransition> {
    Symbol::all().filter_map(move |symbol| {
        let (must, to) = match symbol {
            Symbol::InvokeUpdate { segment, value: true } => {
                (None, Some(from.invoke_update(segment)))
            }
            Symbol::RespondUpdate { segment, value: true } if from.invoked(segment) => {
                (None, Some(from.respond_update(segment)))
            }
            Symbol::RespondScan { at_i, at_j } => {
                (Some(must), from.respond_scan(must, at_i, at_j).ok())
            }
            Symbol::RespondForeign => (Some(must), None),
            _ => return None,
        };
        Some(ObserverTransition { from, symbol, must, to })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use snapshot_core::Process;
    use snapshot_core::observer::Observer;
    use snapshot_core::simple::{Letter, WellFormed};

    use super::*;

    /// The states, and the states with the `must` of each open scan, that some
    /// well-formed word over this many processes reaches.
    fn by_words(processes: usize) -> (BTreeSet<ObserverState>, BTreeSet<(ObserverState, Must)>) {
        let start = (WellFormed::new(processes), Observer::new(processes), vec![false; processes]);
        let mut seen = HashSet::from([start.clone()]);
        let mut unexplored = vec![start];
        let (mut states, mut scanning) = (BTreeSet::new(), BTreeSet::new());
        while let Some((word, observer, open)) = unexplored.pop() {
            states.insert(observer.state());
            let musts = observer.must().iter().zip(&open).filter(|(_, open)| **open);
            scanning.extend(musts.map(|(must, _)| (observer.state(), *must)));
            for (process, symbol) in
                (0..processes).flat_map(|p| Symbol::all().map(move |symbol| (p, symbol)))
            {
                let letter = Letter::new(Process::from_index(process), symbol);
                let (mut word, mut observer, mut open) =
                    (word.clone(), observer.clone(), open.clone());
                if word.admit(letter).is_err() || observer.step(letter) {
                    continue;
                }
                open[process] = symbol == Symbol::InvokeScan;
                let next = (word, observer, open);
                if seen.insert(next.clone()) {
                    unexplored.push(next);
                }
            }
        }
        (states, scanning)
    }

    #[test]
    fn the_graph_is_what_words_of_four_processes_reach() {
        let graph = ObserverGraph::new();
        let (states, scanning) = by_words(4);
        assert_eq!(graph.states(), states.into_iter().collect::<Vec<_>>());
        let in_graph: BTreeSet<(ObserverState, Must)> = graph
            .transitions()
            .iter()
            .filter_map(|transition| Some((transition.from, transition.must?)))
            .collect();
        assert_eq!(in_graph, scanning);
    }

    #[test]
    fn transitions_are_distinct_and_stay_in_the_graph() {
        let graph = ObserverGraph::new();
        let key = |t: &ObserverTransition| (t.from, t.symbol, t.must);
        let keys: HashSet<_> = graph.transitions().iter().map(key).collect();
        assert_eq!(keys.len(), graph.transitions().len());
        for transition in graph.transitions() {
            assert!(graph.states().contains(&transition.from));
            assert!(transition.to.is_none_or(|to| graph.states().contains(&to)));
        }
    }
}
