//! Cells that the processes can ever access, to determine independent steps.
//!
//! Two steps of different processes depend on each other if one may write a cell that the other
//! accesses (Liu, Chen, Liu and Sun, FM 2009, section 4.2: `dep`). A step is *alone* if it depends
//! on no step that another process can ever make, now or later. The text decides this: the list of
//! accesses, with the indices that are `me`. LL and VL count as reads: a link belongs to its
//! process, and only writes break it.
//!
//! A `new` writes a node that no other process can reach yet, so it depends on no step. The choice
//! of the node is irrelevant, since only pointers distinguish nodes. This fails if the program
//! frees nodes: `free` interferes with every access to a field, and an allocated node may still
//! have pointers from other processes. So in such a program no access to a field is alone, and
//! neither is `new` or `free`.

use crate::program::{Expression, ExpressionKind, Program, SharedId, Statement, StatementKind};

/// All accesses in a program's text.
#[derive(Clone, Debug)]
pub struct Footprint {
    accesses: Vec<Written>,
    /// Fields of nodes that may be freed.
    freed: Vec<SharedId>,
}

/// An access as it is written.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Written {
    variable: SharedId,
    writes: bool,
    /// Per index, true if it is `me`. Other indices are not analysed.
    is_me: Vec<bool>,
}

impl Footprint {
    pub fn new(program: &Program) -> Self {
        let mut accesses = Vec::new();
        for procedure in &program.procedures {
            Statement::each(&procedure.body, &mut |statement| {
                if let StatementKind::Access { access, .. } = &statement.kind {
                    let place = access.place();
                    let is_me = place.indices.iter().map(is_me).collect();
                    let (variable, writes) = (place.variable, access.writes());
                    let written = Written { variable, writes, is_me };
                    if !accesses.contains(&written) {
                        accesses.push(written);
                    }
                }
            });
        }
        let freed = match program.frees() {
            true => program.nodes.iter().flat_map(|node| node.fields.clone()).collect(),
            false => Vec::new(),
        };
        Self { accesses, freed }
    }

    /// Returns true if no other of n processes can ever make a step that depends on this access by
    /// process `me`.
    pub fn is_alone(
        &self,
        n: usize,
        me: usize,
        variable: SharedId,
        indices: &[i64],
        writes: bool,
    ) -> bool {
        let mut others = (0..n).filter(|&other| other != me);
        !self.freed.contains(&variable)
            && others.all(|other| {
                let depends = |written: &Written| {
                    let of_cell = written.is_me.iter().zip(indices);
                    written.variable == variable
                        && (writes || written.writes)
                        && of_cell
                            .into_iter()
                            .all(|(is_me, &index)| !is_me || index == other as i64)
                };
                !self.accesses.iter().any(depends)
            })
    }
}

fn is_me(index: &Expression) -> bool {
    match &index.kind {
        ExpressionKind::Me => true,
        ExpressionKind::Convert(inner) | ExpressionKind::Checked(inner) => is_me(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::parse;

    const TEXT: &str = "algorithm test
shared own[process]: value
shared pair[process][process]: bit
shared one: value
shared constant: bit
update(v):
    own[me] := v
    for k in processes:
        b := pair[k][me]
        pair[me][k] := not b
scan:
    local copy[segment]: value
    for s in segments: copy[s] := own[s]
    copy[me] := one
    c := constant
    private_write()
    return copy
procedure private_write():
    mine[me] := true
shared mine[process]: bool
";

    #[test]
    fn steps_without_interference_are_alone() {
        let program = parse("test", TEXT).and_then(|text| text.program(None)).expect("a program");
        let footprint = Footprint::new(&program);
        let named = |name: &str| {
            let position = program.shared.iter().position(|shared| shared.name == name);
            SharedId(position.expect("it is declared") as u32)
        };
        let (reads, writes) = (false, true);
        for (name, indices, does, expected) in [
            // All processes read it, and only its owner writes it.
            ("own", vec![1], reads, true),
            ("own", vec![0], reads, false),
            ("own", vec![1], writes, false),
            ("pair", vec![1, 0], reads, true),
            ("pair", vec![0, 1], reads, false),
            ("pair", vec![1, 0], writes, false),
            // Only its owner accesses it.
            ("pair", vec![1, 1], writes, true),
            ("mine", vec![1], writes, true),
            ("mine", vec![0], writes, false),
            // No process writes them.
            ("one", vec![], reads, true),
            ("constant", vec![], reads, true),
            ("constant", vec![], writes, false),
        ] {
            let found = footprint.is_alone(3, 1, named(name), &indices, does);
            assert_eq!(found, expected, "{name}{indices:?}, writes: {does}");
        }
        assert!(footprint.is_alone(1, 0, named("own"), &[0], writes), "there are no others");
    }

    /// Only `new` writes `held`, so access to it is alone, unless nodes are freed. `next` is
    /// written.
    #[test]
    fn fields_are_not_alone_where_nodes_are_freed() {
        let text = "algorithm test
object box:
    state x: bool
    put(v: value): skip
node Node: next: Node or none; held: value
shared top: Node or none
put(v):
    p := new Node(none, v)
    p.next := none
    top := p
    w := p.held
";
        for (text, alone) in [(text.to_owned(), true), (format!("{text}    free p\n"), false)] {
            let program = parse("test", &text).and_then(|text| text.program(None)).unwrap();
            let footprint = Footprint::new(&program);
            let [next, held] = [0, 1].map(|field| program.nodes[0].fields[field]);
            assert_eq!(footprint.is_alone(2, 0, held, &[0], false), alone, "{text}");
            assert!(!footprint.is_alone(2, 0, next, &[0], false), "{text}");
        }
    }
}
