//! The serial executions of an object as its specification.
//!
//! Line-Up (Burckhardt, Dern, Musuvathi, Tan, "Line-Up: A Complete and Automatic Linearizability
//! Checker", PLDI 2010) judges concurrent executions of a *test*, a sequence of operations per
//! thread, only by the serial executions of the same test. This module is the pure part: it maps
//! histories to answers. The caller executes the object and chooses the order of its steps.
//!
//! * [`Shape`]: the number of operations of each [`Thread`] of a test.
//! * [`SerialHistory`]: one operation at a time, the last one possibly *stuck*.
//! * [`ConcurrentHistory`]: calls and returns in time; *full* if every operation of the test
//!   returned, else *stuck*: no thread could continue.
//! * [`Observations`]: the serial histories of a test, grouped by the responses that each thread
//!   received. [`Observations::insert`] finds nondeterminism, [`Observations::judge`] decides
//!   whether a concurrent history has its serial witnesses (the paper's Definitions 1 to 3).
//! * [`explain`]: the first event that no serial history explains, and the nearest serial history.
//! * [`against()`]: the same judgement by a [`Specification`](crate::generic::Specification)
//!   instead of serial histories.
//!
//! If the serial histories are complete, then a history that [`Observations::judge`] refuses
//! refutes linearizability against *every* deterministic specification (the paper's Theorem 5). If
//! some are missing, a refusal proves nothing; the caller must ensure that they are complete.
//!
//! ```
//! use snapshot_core::observation::{
//!     ConcurrentHistory, Event, Judgement, Observations, SerialHistory, Shape, Thread,
//! };
//!
//! // A counter; A increments, B increments and then reads.
//! let shape = Shape::new(&[1, 2]).unwrap();
//! let (a, b) = (Thread::from_index(0), Thread::from_index(1));
//! let mut serial = Observations::new(shape);
//! for order in [[(a, 0), (b, 0), (b, 2)], [(b, 0), (a, 0), (b, 2)], [(b, 0), (b, 1), (a, 0)]] {
//!     serial.insert(SerialHistory { operations: order.to_vec(), stuck: None }).unwrap();
//! }
//! // Both increments overlap and return, but only one of them counts.
//! let lost = [Event::Call(a), Event::Call(b), Event::Return(a, 0), Event::Return(b, 0)];
//! let read = [Event::Call(b), Event::Return(b, 1)];
//! let history = ConcurrentHistory::new(&shape, [&lost[..], &read].concat(), false).unwrap();
//! assert_eq!(serial.judge(&history), Judgement::NoWitness);
//! ```

mod against;
mod explanation;
mod history;
mod observations;
mod serial;
mod shape;

pub use against::against;
pub use explanation::{Explanation, Outcome, explain};
pub use history::{ConcurrentHistory, Event, HistoryError};
pub use observations::{Group, Judgement, Nondeterminism, ObservationError, Observations};
pub use serial::SerialHistory;
pub use shape::{Shape, ShapeError, Thread};
