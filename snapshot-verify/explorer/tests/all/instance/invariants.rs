//! Violations of every invariant are detected.

use snapshot_core::Process;
use snapshot_explorer::instance::{
    Assignment, BlockId, End, Instance, Location, Operator, Owner, Reaction, SlotId, Target, Term,
};

use crate::instance::programs::{BOWMAN, PLAIN, VERSIONS, program};

fn broken(text: &str, harm: impl FnOnce(&mut Instance)) -> &'static str {
    let mut instance = Instance::new(&program(text, None), 2, (0, 1)).unwrap();
    assert_eq!(instance.validity(), Ok(()));
    harm(&mut instance);
    instance.validity().unwrap_err().rule
}

fn slot(instance: &Instance, name: &str) -> SlotId {
    let position = instance.slots.iter().position(|slot| slot.name == name);
    SlotId(position.unwrap_or_else(|| panic!("{name} in\n{instance}")) as u32)
}

/// Adds an assignment at the start of process 0's first step.
fn assign(instance: &mut Instance, target: Target, value: Term) {
    let begin = instance.graphs[0].locations[1].step.unwrap();
    let block = &mut instance.graphs[0].blocks[begin.index()];
    block.assignments.insert(0, Assignment { target, value });
}

#[test]
fn parts_of_an_instance_fit() {
    let rule =
        broken(BOWMAN, |instance| instance.pair = [Process::from_index(1), Process::from_index(1)]);
    assert_eq!(rule, "the pair is i < j < n");
    let rule = broken(BOWMAN, |instance| drop(instance.graphs.pop()));
    assert_eq!(rule, "every process has a graph");
    let rule = broken(BOWMAN, |instance| instance.slots[0].initial = 7);
    assert_eq!(rule, "a slot begins within its domain");
    let rule = broken(BOWMAN, |instance| instance.graphs[0].locations[2].step = None);
    assert_eq!(rule, "idle is the first location, and it alone has no step");
    let rule = broken(BOWMAN, |instance| instance.graphs[0].invocations.scan = BlockId(1_000));
    assert_eq!(rule, "blocks lead to blocks");
    let rule =
        broken(BOWMAN, |instance| instance.graphs[0].blocks[0].end = End::Pause(Location(99)));
    assert_eq!(rule, "a pause is at a location");
    let rule =
        broken(BOWMAN, |instance| instance.graphs[0].blocks[0].end = End::Pause(Location::IDLE));
    assert_eq!(rule, "an operation ends with a response");
    let rule = broken(BOWMAN, |instance| {
        let block = instance.graphs[0].invocations.update;
        instance.graphs[0].blocks[block.index()].end = End::Jump(block);
    });
    assert_eq!(rule, "every circle of blocks has a pause");
    let rule = broken(BOWMAN, |instance| {
        let active = slot(instance, "active");
        instance.graphs[0].argument = Some(active);
    });
    assert_eq!(rule, "an argument is a slot of its operation");
    let mut other = Instance::new(&program(BOWMAN, None), 3, (0, 1)).unwrap();
    other.pair[1] = Process::from_index(2);
    let rule = other.validity().unwrap_err().rule;
    assert_eq!(rule, "only updates of i and j have an argument");
}

#[test]
fn terms_are_well_formed() {
    let here = |text, name: &'static str, value: Term| {
        broken(text, |instance| {
            let target = Target::Slot(slot(instance, name));
            assign(instance, target, value);
        })
    };
    assert_eq!(here(BOWMAN, "active", Term::Slot(SlotId(999))), "slots are in the table");
    assert_eq!(here(BOWMAN, "a[0]", Term::Constant(2)), "a slot is assigned scalars of its domain");
    assert_eq!(here(BOWMAN, "a[0]", Term::Fresh), "what is fresh is a version");
    let successor = Term::Successor(SlotId(0));
    assert_eq!(here(VERSIONS, "r[0].seq", successor), "counters have successors");
    let nothing = Term::Element { index: Box::new(Term::FALSE), of: Vec::new() };
    assert_eq!(here(BOWMAN, "a[0]", nothing), "an index chooses among something");
    let lonely = Term::Apply(Operator::Equal, vec![Term::TRUE]);
    assert_eq!(here(BOWMAN, "a[0]", lonely), "operators have their operands");
    let part = Term::Apply(Operator::Not, vec![Term::Fresh]);
    assert_eq!(here(BOWMAN, "a[0]", part), "what changes numbers is assigned as a whole");
    let rule = broken(BOWMAN, |instance| {
        assign(instance, Target::Element { index: Term::FALSE, of: Vec::new() }, Term::TRUE);
    });
    assert_eq!(rule, "an assignment goes somewhere");
}

#[test]
fn processes_access_only_their_own_slots() {
    let rule = broken(BOWMAN, |instance| {
        let value = Term::Slot(slot(instance, "p1.v"));
        let target = Target::Slot(slot(instance, "a[0]"));
        assign(instance, target, value);
    });
    assert_eq!(rule, "a process reads no slot of others");
    for (value, text) in [(Term::FALSE, BOWMAN), (Term::TRUE, PLAIN)] {
        let rule = broken(text, |instance| {
            let name = if text == BOWMAN { "p1.v" } else { "link X of p1" };
            let target = Target::Slot(slot(instance, name));
            assign(instance, target, value);
        });
        assert_eq!(rule, "a process assigns no slot of others, but breaks their links");
    }
    let mut breaking = Instance::new(&program(PLAIN, None), 2, (0, 1)).unwrap();
    let target = Target::Slot(slot(&breaking, "link X of p1"));
    assign(&mut breaking, target, Term::FALSE);
    assert_eq!(breaking.validity(), Ok(()));
    let rule = broken(BOWMAN, |instance| {
        let value = Term::Slot(slot(instance, "p0.scan.copy[1]"));
        let target = Target::Slot(slot(instance, "a[0]"));
        assign(instance, target, value);
    });
    assert_eq!(rule, "a slot of an operation is assigned before it is used");
    let rule = broken(BOWMAN, |instance| {
        let copy = slot(instance, "p0.scan.copy[1]");
        instance.slots[copy.index()].owner = Owner::Operation(Process::from_index(1));
    });
    assert_eq!(rule, "a process reads no slot of others");
}

#[test]
fn reactions_assign_own_slots_and_lead_elsewhere() {
    let react = |then: fn(&mut Instance) -> End| {
        broken(BOWMAN, move |instance| {
            let end = then(instance);
            let graph = &mut instance.graphs[0];
            let mut block = graph.blocks[0].clone();
            block.accesses = 0;
            block.assignments.clear();
            block.end = end;
            graph.blocks.push(block);
            let then = BlockId(graph.blocks.len() as u32 - 1);
            graph.locations[1].reactions.push(Reaction { when: Term::TRUE, then });
        })
    };
    assert_eq!(react(|_| End::Pause(Location(1))), "a reaction leads elsewhere");
    let step = |instance: &mut Instance| End::Jump(instance.graphs[0].locations[1].step.unwrap());
    assert_eq!(react(step), "a reaction assigns own slots only");
}

#[test]
#[should_panic = "the pair is i < j < n"]
fn validate_panics() {
    let mut instance = Instance::new(&program(BOWMAN, None), 2, (0, 1)).unwrap();
    instance.pair.reverse();
    instance.validate();
}
