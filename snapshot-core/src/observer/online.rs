//! The observer of an unfinished recording.
//!
//! The two segments that switch, and their values, are known only once they do. Until then the
//! observer has nothing to remember about them, so it can learn of them late. As long as the
//! recording is simple, this observer decides it with six bits, two per open scan, and one
//! comparison per entry; from the first event that is not simple, it has no opinion.

use super::{Must, ObserverState};
use crate::Segment;
use crate::history::{Action, Declaration, Event};
use crate::simple::Switching;

/// The opinion of an [`OnlineObserver`] on the events so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Observation {
    /// The events form a simple history, and it is linearizable.
    Linearizable,
    /// The events form a simple history, and it is not linearizable.
    Violation,
    /// The events form no simple history, or may form none: the observer has no opinion.
    NotSimple,
}

/// The open operation of a process.
#[derive(Clone, Copy, Debug)]
enum Open {
    Nothing,
    /// An update of this segment, and the one of i and j that it switches to 1.
    Update(Segment, Option<Switching>),
    Scan(Must),
}

/// Observes the events of a recording that may be simple.
///
/// It is stricter than [`crate::simple::SimpleHistory::recognise`], which knows the whole
/// recording: after a failed update, or one whose outcome was lost, it has no opinion.
#[derive(Clone, Debug)]
pub struct OnlineObserver<V> {
    declaration: Declaration<V>,
    /// The segments that have switched, with their values: i, then j.
    switched: [Option<(Segment, V)>; 2],
    state: ObserverState,
    open: Vec<Open>,
    /// For each segment, true if an update is open.
    busy: Vec<bool>,
    observation: Observation,
}

impl<V: Clone + Eq> OnlineObserver<V> {
    /// Creates an observer before the first event.
    pub const fn new(declaration: Declaration<V>) -> Self {
        Self {
            declaration,
            switched: [None, None],
            state: ObserverState::INITIAL,
            open: Vec::new(),
            busy: Vec::new(),
            observation: Observation::Linearizable,
        }
    }

    /// The opinion so far.
    #[inline]
    pub const fn observation(&self) -> Observation {
        self.observation
    }

    /// Takes the next event, which must be admissible (see [`crate::history::Admission`]). O(1),
    /// O(segments) for the response of a scan; O(1) once the history is not simple.
    #[inline]
    pub fn observe(&mut self, event: &Event<'_, V>) -> Observation {
        if self.observation == Observation::Linearizable
            && let Err(observation) = self.take(event)
        {
            self.observation = observation;
        }
        self.observation
    }

    fn take(&mut self, event: &Event<'_, V>) -> Result<(), Observation> {
        let process = event.process.index();
        if process >= self.open.len() {
            self.open.resize(process + 1, Open::Nothing);
        }
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                let switching = self.switching(segment, value)?;
                if segment.index() >= self.busy.len() {
                    self.busy.resize(segment.index() + 1, false);
                }
                if std::mem::replace(&mut self.busy[segment.index()], true) {
                    return Err(Observation::NotSimple);
                }
                if let Some(switching) = switching {
                    self.state = self.state.invoke_update(switching);
                }
                self.open[process] = Open::Update(segment, switching);
            }
            Action::RespondUpdate => {
                if let Open::Update(segment, switching) = self.close(process) {
                    self.busy[segment.index()] = false;
                    if let Some(switching) = switching {
                        self.state = self.state.respond_update(switching);
                    }
                }
            }
            Action::InvokeScan => self.open[process] = Open::Scan(self.state.invoke_scan()),
            Action::RespondScan { values } => {
                if let Open::Scan(must) = self.close(process) {
                    let [at_i, at_j] = self.entries(values)?;
                    let next = self.state.respond_scan(must, at_i, at_j);
                    self.state = next.map_err(|_| Observation::Violation)?;
                }
            }
            Action::RespondPartialScan { .. } => return Err(Observation::NotSimple),
            Action::Fail | Action::Unknown => {
                if let Open::Update(..) = self.close(process) {
                    return Err(Observation::NotSimple);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, process: usize) -> Open {
        std::mem::replace(&mut self.open[process], Open::Nothing)
    }

    /// Returns the one of i and j to which an update writes 1; `None` if it writes an initial
    /// value.
    fn switching(&mut self, segment: Segment, value: &V) -> Result<Option<Switching>, Observation> {
        let is_initial = self.declaration.initial_value(segment.index()) == value;
        for (switched, switching) in self.switched.iter_mut().zip(Switching::BOTH) {
            match switched {
                Some((at, one)) if *at == segment => {
                    return if one == value {
                        Ok(Some(switching))
                    } else {
                        Err(Observation::NotSimple)
                    };
                }
                Some(_) => {}
                None if is_initial => return Ok(None),
                None => {
                    *switched = Some((segment, value.clone()));
                    return Ok(Some(switching));
                }
            }
        }
        if is_initial { Ok(None) } else { Err(Observation::NotSimple) }
    }

    /// Returns the entries of a scan at i and j. All others must be initial values: a simple
    /// history has no other writes.
    fn entries(&self, values: &[V]) -> Result<[bool; 2], Observation> {
        let mut at = [false, false];
        for (segment, value) in values.iter().enumerate() {
            if value == self.declaration.initial_value(segment) {
                continue;
            }
            let is_one = |switched: &Option<(Segment, V)>| {
                switched.as_ref().is_some_and(|(k, one)| k.index() == segment && one == value)
            };
            match self.switched.iter().position(is_one) {
                Some(switching) => at[switching] = true,
                None => return Err(Observation::Violation),
            }
        }
        Ok(at)
    }
}
