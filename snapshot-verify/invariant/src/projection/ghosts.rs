//! Ghost scans of an execution: calls of procedures, and rounds of several processes.

use snapshot_core::Process;
use snapshot_core::observer::Must;
use snapshot_language::program::{SharedId, Type};
use snapshot_semantics::interpret::{Data, Passage};

use super::execution::{Ended, Execution, Ghost, Returned};
use crate::claim::Property;
use crate::layout::Round;

impl Execution<'_> {
    /// Begins or ends a round after a write to a variable.
    pub(super) fn pass_round(&mut self, round: Round, variable: SharedId) -> Ended {
        self.time += 1;
        let began = std::mem::take(&mut self.round);
        if round == Round::Begin {
            self.round = Some(self.time);
            if self.is_observed() {
                for history in &mut self.histories {
                    history.round = Some(history.observer().invoke_scan().bits());
                }
            }
            return Ended::Well;
        }
        let content = &self.machine.program().shared(variable).content;
        let written = self.machine.cell(&self.state, variable, &[]).expect("one cell");
        let vector = view_within(content, written).expect("a view").clone();
        if self.has_tokens() {
            self.round = began;
            let opened = began.unwrap_or_default();
            self.returned.push(Returned { opened, by: (usize::MAX, 0), vector });
            return Ended::Well;
        }
        let Data::Parts(parts) = &vector else { unreachable!("a view is an array") };
        let [at_i, at_j] = self.pair.map(|segment| parts[segment] == Data::Value(1));
        // A wrong history leads to no view, nor do its successors.
        match self.histories.iter_mut().all(|history| history.end_round(at_i, at_j)) {
            true => Ended::Well,
            false => Ended::Violation,
        }
    }

    pub(super) fn begin_scan(&mut self, process: usize) {
        let now = match self.layout.obligation.property {
            Property::Observer => self.history().observer().invoke_scan().bits(),
            Property::Memory(_) => 1 << self.history().specification,
            Property::Faults | Property::Nesting => 0,
        };
        let ghost = self.doing[process].ghost.as_mut().expect("a ghost scan is open");
        ghost.bits.get_or_insert(now);
    }

    /// Begins and ends ghost scans at calls and returns, unless they are passed over.
    pub(super) fn pass(&mut self, process: usize, passages: &[Passage]) -> Ended {
        if self.layout.passes[usize::from(self.place(process))] {
            return Ended::Well;
        }
        for passage in passages {
            let is_ghost = |procedure: usize| self.layout.is_ghost[procedure];
            match passage {
                Passage::In(procedure) if is_ghost(procedure.0 as usize) => {
                    if let Some(ghost) = &mut self.doing[process].ghost {
                        ghost.depth += 1;
                    } else {
                        self.open(process);
                    }
                }
                Passage::Out(procedure, data) if is_ghost(procedure.0 as usize) => {
                    let ghost = self.doing[process].ghost.as_mut().expect("it was opened");
                    if ghost.depth > 0 {
                        ghost.depth -= 1;
                    } else if !self.close(process, data.clone().expect("a view")) {
                        return Ended::Violation;
                    }
                }
                _ => {}
            }
        }
        Ended::Well
    }

    fn open(&mut self, process: usize) {
        let private = self.machine.private(&self.state, Process::from_index(process));
        let has_stored = private != self.doing[process].before.0.as_slice();
        self.doing[process].acted |= has_stored;
        if self.doing[process].acted {
            self.invoke(process, false);
        }
        self.time += 1;
        let doing = &mut self.doing[process];
        doing.ghost = Some(Ghost { opened: self.time, bits: None, depth: 0 });
        doing.latest = self.time;
    }

    /// Closes a ghost scan; returns false if it is judged and wrong.
    fn close(&mut self, process: usize, vector: Data) -> bool {
        self.begin_scan(process);
        let ghost = self.doing[process].ghost.take().expect("a ghost scan is open");
        if self.has_tokens() {
            let by = (process, self.doing[process].operations);
            self.returned.push(Returned { opened: ghost.opened, by, vector });
            return true;
        }
        let Data::Parts(parts) = &vector else { unreachable!("a view is an array") };
        let [at_i, at_j] = self.pair.map(|segment| parts[segment] == Data::Value(1));
        let bits = ghost.bits.unwrap_or_default();
        let borrows = self.layout.borrows();
        if borrows || !self.layout.obligation.judges(self.place(process)) {
            return true;
        }
        if !self.is_observed() {
            return bits >> (u8::from(at_i) | u8::from(at_j) << 1) & 1 == 1;
        }
        let must = Must::from_bits(bits).expect("bits of the observer");
        self.history().respond_scan(must, at_i, at_j)
    }
}

/// Returns the view that a value of a type is, or has in a field.
fn view_within<'d>(content: &Type, data: &'d Data) -> Option<&'d Data> {
    match (content, data) {
        (view, data) if *view == Type::view() => Some(data),
        (Type::Record(fields), Data::Parts(parts)) => fields
            .iter()
            .zip(parts.iter())
            .find_map(|(field, part)| view_within(&field.content, part)),
        _ => None,
    }
}
