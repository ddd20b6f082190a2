//! Objects that a text declares: judgement of their histories, and random executions.
//!
//! | file | content |
//! | --- | --- |
//! | `admission` | operations that may begin |
//! | `judge` | two judges of linearizability |
//! | `search` | the search for an order, of operations or of blocks |
//! | `walk` | random executions |
//!
//! [`Sequential`](crate::interpret::Sequential) executes single operations of an object;
//! [`refine`](crate::refine) and [`enumerate`](crate::enumerate) explore all executions.

mod admission;
mod judge;
mod search;
mod walk;

pub use admission::{Admission, Forbidden, Refusal, forbidden};
pub use judge::{Judge, Judgement, ObjectJudgeError};
pub use search::Order;
pub use walk::{ObjectWalk, walk_object};
