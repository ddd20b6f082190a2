//! Objects that a text declares: histories of them judged, and random executions.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `admission` | which operations may be begun |
//! | `judge` | whether a history is linearizable, asked twice |
//! | `search` | the search for an order, of operations or of blocks |
//! | `walk` | random executions |
//!
//! What an object does is executed by [`Sequential`](crate::interpret::Sequential); all its
//! executions are explored by [`refine`](crate::refine) and [`enumerate`](crate::enumerate).

mod admission;
mod judge;
mod search;
mod walk;

pub use admission::{Admission, Forbidden, Refusal, forbidden};
pub use judge::{Judge, Judgement, ObjectJudgeError};
pub use search::Order;
pub use walk::{ObjectWalk, walk_object};
