//! Sequential executions of a snapshot or of a declared object: contents, and answers of
//! operations.

use crate::interpret::{
    Action, Call, Data, Fault, Names, ObjectState, Sequential, is_value, value_renamed,
};

/// State of the object.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Contents {
    Segments(Vec<u32>),
    Object(ObjectState),
}

/// Result of an operation.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Answer {
    Done,
    Values(Vec<u32>),
    Data(Option<Data>),
}

/// An operation of a process.
pub type Member = (usize, Call);

/// Positions of the operations that take effect together, the contents after them, and their
/// answers.
pub type Effect = (Vec<usize>, Contents, Vec<Answer>);

impl Contents {
    /// Returns the contents before any operation.
    pub fn initial(object: Option<&Sequential<'_>>, n: usize) -> Self {
        match object {
            Some(object) => Self::Object(object.initial()),
            None => Self::Segments(vec![0; n]),
        }
    }

    /// Returns the contents after an operation, and its answer; `None` if the operation waits.
    ///
    /// # Errors
    /// If the object is faulty there.
    pub fn apply(
        &self,
        object: Option<&Sequential<'_>>,
        (process, call): Member,
    ) -> Result<Option<(Self, Answer)>, Fault> {
        match (self, call, object) {
            (Self::Segments(segments), Call::Update(value), _) => {
                let mut after = segments.clone();
                after[process] = value;
                Ok(Some((Self::Segments(after), Answer::Done)))
            }
            (Self::Segments(segments), Call::Scan, _) => {
                Ok(Some((self.clone(), Answer::Values(segments.clone()))))
            }
            (Self::Object(state), Call::Operation(call), Some(object)) => {
                let effect = object.apply(state, process, call)?;
                Ok(effect.map(|(after, result)| (Self::Object(after), Answer::Data(result))))
            }
            _ => Ok(None),
        }
    }

    /// Returns the effects of operations that can be next, alone or together.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn effects(
        &self,
        object: Option<&Sequential<'_>>,
        members: &[Member],
    ) -> Result<Vec<Effect>, Fault> {
        let mut found = Vec::new();
        let mut together = Vec::new();
        for (position, member) in members.iter().enumerate() {
            if let (Some(object), Call::Operation(call)) = (object, member.1)
                && object.is_together(call)
            {
                together.push((position, (member.0, call)));
            } else if let Some((after, answer)) = self.apply(object, *member)? {
                found.push((vec![position], after, vec![answer]));
            }
        }
        if let (Some(object), Self::Object(state)) = (object, self)
            && !together.is_empty()
        {
            let members: Vec<_> = together.iter().map(|(_, member)| *member).collect();
            for block in object.blocks(state, &members)? {
                let positions = block.members.iter().map(|member| together[*member].0).collect();
                let answers = block.results.into_iter().map(Answer::Data).collect();
                found.push((positions, Self::Object(block.state), answers));
            }
        }
        Ok(found)
    }

    /// Renames the values.
    pub fn renamed(&self, names: &mut Names) -> Self {
        match self {
            Self::Segments(segments) => Self::Segments(renamed(segments, names)),
            Self::Object(state) => {
                let rename = &mut |name| if is_value(name) { names.rename(name) } else { name };
                let state = state.iter().map(|data| data.named_anew(true, rename));
                Self::Object(ObjectState::new(state.collect()))
            }
        }
    }
}

impl Answer {
    /// Returns the answer of a response; `None` for an invocation.
    pub fn new(action: &Action) -> Option<Self> {
        match action {
            Action::RespondUpdate => Some(Self::Done),
            Action::RespondScan(values) => Some(Self::Values(values.clone())),
            Action::End { result, .. } => Some(Self::Data(result.clone())),
            Action::InvokeUpdate(_) | Action::InvokeScan | Action::Begin { .. } => None,
        }
    }

    /// Renames the values.
    pub fn renamed(&self, names: &mut Names) -> Self {
        match self {
            Self::Values(values) => Self::Values(renamed(values, names)),
            Self::Data(Some(data)) => {
                let rename = &mut |name| if is_value(name) { names.rename(name) } else { name };
                Self::Data(Some(data.named_anew(true, rename)))
            }
            answer => answer.clone(),
        }
    }
}

fn renamed(values: &[u32], names: &mut Names) -> Vec<u32> {
    values.iter().map(|value| value_renamed(*value, &mut |name| names.rename(name))).collect()
}
