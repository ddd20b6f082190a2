//! Contents of objects, as the oracles have them.

use snapshot_semantics::interpret::{Action, Call, Data, Machine, ObjectState, Sequential};

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Answer {
    Done,
    Values(Vec<u32>),
    Data(Option<Data>),
}

impl Answer {
    /// Returns the answer of a response.
    pub fn new(action: Action) -> Option<Self> {
        match action {
            Action::RespondUpdate => Some(Self::Done),
            Action::RespondScan(values) => Some(Self::Values(values)),
            Action::End { result, .. } => Some(Self::Data(result)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Contents {
    Segments(Vec<u32>),
    Object(ObjectState),
}

impl Contents {
    pub fn first(machine: &Machine<'_>, object: Option<&Sequential<'_>>) -> Self {
        match object {
            None => Self::Segments(vec![0; machine.processes()]),
            Some(object) => Self::Object(object.initial()),
        }
    }

    /// Returns the contents after an operation, and its answer; `None` if the object forbids it
    /// there.
    pub fn apply(
        &self,
        object: Option<&Sequential<'_>>,
        process: usize,
        call: Call,
    ) -> Option<(Self, Answer)> {
        match (self, call) {
            (Self::Segments(segments), Call::Update(value)) => {
                let mut after = segments.clone();
                after[process] = value;
                Some((Self::Segments(after), Answer::Done))
            }
            (Self::Segments(segments), Call::Scan) => {
                Some((self.clone(), Answer::Values(segments.clone())))
            }
            (Self::Object(state), Call::Operation(call)) => {
                let effect = object.unwrap().apply(state, process, call).unwrap();
                effect.map(|(after, result)| (Self::Object(after), Answer::Data(result)))
            }
            _ => unreachable!("operations are of the object"),
        }
    }
}
