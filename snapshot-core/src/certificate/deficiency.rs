//! Checking that some operations cannot all have partners.
//!
//! For a stateless object with groups of at most two, a [`Deficiency`] proves a history not
//! set-linearizable if
//!
//! 1. the operations of its components are complete, in one component only and not among the
//!    partners, and none can be a group by itself;
//! 2. each component has an odd number of operations;
//! 3. an operation of a component can meet no operation that overlaps it, except those in its
//!    component and the partners;
//! 4. there are more components than partners.
//!
//! Then one operation of each component must be in a group with a partner, and there are too few
//! partners (Tutte 1947; Berge 1958: the easy direction).

use thiserror::Error;

use crate::OperationId;
use crate::generic::History;
use crate::synchronisation::{Bond, Deficiency, Synchronisation};

/// The reason why sets of operations prove nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum DeficiencyError {
    /// Groups may have more than two operations, so the argument does not hold.
    #[error(
        "groups of this object may have more than two operations; no argument by partners holds"
    )]
    Arity,
    /// An operation that the history does not have.
    #[error("the components name operation {operation}, but the history has only {operations}")]
    NoSuchOperation {
        /// The operation named.
        operation: OperationId,
        /// Number of operations of the history.
        operations: usize,
    },
    /// An operation occurs twice.
    #[error("operation {operation} occurs more than once")]
    Repeated {
        /// The operation.
        operation: OperationId,
    },
    /// An operation of a component is not complete, so need not take effect.
    #[error("operation {operation} did not respond, so it needs no partner")]
    NotComplete {
        /// The operation.
        operation: OperationId,
    },
    /// An operation of a component can be a group by itself.
    #[error("operation {operation} can take effect alone")]
    Alone {
        /// The operation.
        operation: OperationId,
    },
    /// A component has an even number of operations.
    #[error("component {component} has an even number of operations")]
    Even {
        /// Number of the component, from 0.
        component: usize,
    },
    /// Two operations can meet, contrary to the sets.
    #[error(
        "operation {operation} can meet {other}, which is neither in its component nor a partner"
    )]
    Meets {
        /// The operation in a component.
        operation: OperationId,
        /// Operation outside the component that can meet it.
        other: OperationId,
    },
    /// There are enough partners.
    #[error("there are {components} components and {partners} partners, which are enough")]
    Enough {
        /// Number of components.
        components: usize,
        /// Number of partners.
        partners: usize,
    },
}

/// Checks that sets of operations prove a history not set-linearizable. O(operations in the
/// components x operations that overlap them), and O(history).
///
/// # Errors
/// The first reason why the sets prove nothing.
pub fn check<S: Synchronisation<State = ()>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    deficiency: &Deficiency,
) -> Result<(), DeficiencyError> {
    let operations = history.operations();
    let Deficiency { partners, components } = deficiency;
    if *specification.arities().end() > 2 {
        return Err(DeficiencyError::Arity);
    }
    const OUTSIDE: usize = usize::MAX;
    const PARTNER: usize = usize::MAX - 1;
    let mut place = vec![OUTSIDE; operations.len()];
    let numbered = components.iter().enumerate();
    let all = numbered.flat_map(|(number, ids)| ids.iter().map(move |&id| (id, number)));
    for (id, number) in all.chain(partners.iter().map(|&id| (id, PARTNER))) {
        let Some(known) = place.get_mut(id.index()) else {
            let operations = operations.len();
            return Err(DeficiencyError::NoSuchOperation { operation: id, operations });
        };
        if std::mem::replace(known, number) != OUTSIDE {
            return Err(DeficiencyError::Repeated { operation: id });
        }
    }
    if let Some(component) = components.iter().position(|ids| ids.len() % 2 == 0) {
        return Err(DeficiencyError::Even { component });
    }
    if components.len() <= partners.len() {
        let (components, partners) = (components.len(), partners.len());
        return Err(DeficiencyError::Enough { components, partners });
    }
    // For each operation, the last response among all operations up to it.
    let responses = operations.iter().map(|other| other.response().unwrap_or(usize::MAX));
    let latest: Vec<usize> = responses
        .scan(0, |latest, response| {
            *latest = response.max(*latest);
            Some(*latest)
        })
        .collect();
    for &id in components.iter().flatten() {
        let operation = &operations[id.index()];
        let Some(response) = operation.response() else {
            return Err(DeficiencyError::NotComplete { operation: id });
        };
        let member = (&operation.input, operation.output());
        if specification.together(&mut (), &[member]) == Bond::Yes {
            return Err(DeficiencyError::Alone { operation: id });
        }
        let first = latest.partition_point(|&latest| latest < operation.invocation);
        for (index, other) in operations.iter().enumerate().skip(first) {
            if other.invocation > response {
                break;
            }
            let is_within = place[index] == place[id.index()] || place[index] == PARTNER;
            if is_within || other.is_failed() || other.precedes(operation) {
                continue;
            }
            let group = [member, (&other.input, other.output())];
            if specification.together(&mut (), &group) == Bond::Yes {
                let other = OperationId::from_index(index);
                return Err(DeficiencyError::Meets { operation: id, other });
            }
        }
    }
    Ok(())
}
