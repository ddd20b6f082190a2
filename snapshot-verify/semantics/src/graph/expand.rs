//! Expands states: makes all their moves. The targets are numbered later, many together.

use snapshot_core::Process;

use super::{Edge, Environment, Graph, Kind, LOST, Label, Player, Situation};
use crate::interpret::{Fault, Move, MoveKind};
use crate::product::Made;

impl Graph<'_, '_> {
    /// Numbers the targets of the expanded states, in their order, and adds their edges.
    pub(super) fn number_targets(&mut self) {
        self.table.look_up(&mut self.targets);
        let mut first = 0;
        for end in self.ends.drain(..) {
            let number = self.edges.sources() as u32;
            for edge in self.new[first..end].iter_mut().filter(|edge| edge.to != LOST) {
                edge.to = self.table.insert_from(&self.targets, edge.to as usize, &[number]);
            }
            self.edges.push(&self.new[first..end]);
            first = end;
        }
        self.new.clear();
        self.targets.truncate(0);
    }

    fn columns<'r>(&self, row: &'r [u32]) -> &'r [u32] {
        &row[self.states.width()..]
    }

    pub(super) fn expand(
        &mut self,
        number: u32,
        environment: &mut Environment<'_>,
        player: &mut impl Player,
    ) {
        self.table.copy(number, &mut self.from);
        let (edges, targets) = (self.new.len(), self.targets.len());
        let processes = || (0..self.states.machine().processes()).map(Process::from_index);
        let mut is_done = false;
        if self.means.partial_order {
            let mut alone = processes();
            let found = alone.find(|process| self.states.prospect(&self.from, *process).is_alone);
            if let Some(process) = found {
                self.step(number, process, environment, player);
                // States put first have ascending numbers, so no step is put off for ever.
                is_done = self.new.len() == edges + 1
                    && self.targets.len() == targets + 1
                    && self.table.find(self.targets.row(targets)).is_none_or(|to| to > number);
                if !is_done {
                    self.new.truncate(edges);
                    self.targets.truncate(targets);
                }
            }
        }
        if !is_done {
            for process in (0..self.machine().processes()).map(Process::from_index) {
                self.step(number, process, environment, player);
            }
        }
        self.ends.push(self.new.len());
    }

    /// Adds the moves of a process.
    fn step(
        &mut self,
        number: u32,
        process: Process,
        environment: &mut Environment<'_>,
        player: &mut impl Player,
    ) {
        let prospect = self.states.prospect(&self.from, process);
        if !prospect.is_idle {
            let kind = match (prospect.responds, prospect.chooses) {
                (true, _) => Kind::Response,
                (false, true) => Kind::Choice,
                (false, false) => Kind::Step,
            };
            for outcome in 0..self.states.outcomes(&self.from, process, prospect) {
                let step = self.states.step(&self.from, process, outcome);
                let made = Move::taking(process, outcome);
                let label = self.labels.label(made, kind, prospect.accesses);
                let situation = self.situation_now();
                self.lead((number, made, label), step, situation, environment, player);
            }
            return;
        }
        let situation = self.situation_now();
        let fresh = if self.means.values {
            let answer = self.columns(&self.from)[2];
            1 + self.states.latest_value(&self.from).max(player.latest_value(answer))
        } else {
            0
        };
        let choices = match environment.choices(situation, process) {
            Ok(choices) => choices,
            Err(fault) => return self.go_wrong(number, None, fault),
        };
        for &(call, progress) in &*choices {
            let call = if fresh > 0 { environment.with_fresh(call, fresh) } else { call };
            let situation = situation.begun(progress);
            let made = Move { process, kind: MoveKind::Begin(call) };
            let begun = self.states.begin(&self.from, process, call);
            let label = self.labels.label(made, Kind::Begin, false);
            self.lead((number, made, label), begun, situation, environment, player);
        }
    }

    fn situation_now(&self) -> Situation {
        let columns = self.columns(&self.from);
        Situation::of_numbers(columns[0], columns[1])
    }

    fn go_wrong(&mut self, number: u32, made: Option<Move>, fault: Fault) {
        if fault.kind.is_limit() {
            self.limited.insert(number);
        }
        self.fault.get_or_insert((number, made, fault));
    }

    /// Adds the targets of a move.
    fn lead(
        &mut self,
        (number, made, label): (u32, Move, Label),
        step: Result<Made, Fault>,
        situation: Situation,
        environment: &mut Environment<'_>,
        player: &mut impl Player,
    ) {
        let step = match step {
            Ok(step) => step,
            Err(fault) => return self.go_wrong(number, Some(made), fault),
        };
        let mut situation = situation;
        let before = self.columns(&self.from)[2];
        let mut answers = std::mem::take(&mut self.answers);
        answers.clear();
        if let Some(id) = step.event {
            let event = self.states.event(id);
            let after = environment.after(situation, event).and_then(|after| {
                player.answers(before, (id, event), &mut answers)?;
                Ok(after)
            });
            match after {
                Ok(Some(after)) => situation = after,
                // The history has no order at all.
                Ok(None) => answers.clear(),
                Err(fault) => {
                    self.go_wrong(number, None, fault);
                    self.answers = answers;
                    return;
                }
            }
        } else {
            answers.push(before);
        }
        if answers.is_empty() {
            self.has_lost = true;
            self.new.push(Edge { to: LOST, label });
        }
        let beside = self.states.width();
        self.to.copy_from_slice(&self.from);
        self.states.apply(&mut self.to, made.process, &step);
        self.states.normalise(&mut self.to);
        for (position, answer) in answers.iter().enumerate() {
            let answer = match self.means.values {
                // The last one may add its names to those of the row.
                true if position + 1 == answers.len() => {
                    player.renamed(*answer, self.states.names())
                }
                true => player.renamed(*answer, &mut self.states.names().clone()),
                false => *answer,
            };
            let columns = [situation.progress(), situation.possibilities(), answer];
            self.to[beside..].copy_from_slice(&columns);
            self.new.push(Edge { to: self.targets.len() as u32, label });
            self.targets.push(&self.to);
        }
        self.answers = answers;
    }
}
