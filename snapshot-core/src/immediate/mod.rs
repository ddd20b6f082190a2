//! The immediate snapshot: write and scan in one operation, in linear time.
//!
//! The object has one segment per process. `exchange(v)` of process i writes v to segment i and
//! returns all segments. Operations take effect in *blocks*: first all writes of a block, then all
//! its reads (Borowsky and Gafni, PODC 1993). An execution is *set-linearizable* (Neiger,
//! PODC 1994) iff its complete operations, and some of the pending ones, can be put into a sequence
//! of blocks that extends precedence, with an instant of each block inside the intervals of all its
//! operations, and in which every complete operation returns its recorded values.
//!
//! Each process may exchange any number of times, one operation after the other, and never writes a
//! value twice. A process whose operation has an unknown outcome invokes no further operation.
//!
//! # Four conditions
//!
//! Number the operations of each process from 1: (j, s) is the s-th operation of
//! process j, and the vector of a complete operation O has at j the number s of the
//! operation (j, s) whose value O returned for segment j, 0 for the initial value. Then
//! an execution is set-linearizable iff for all complete O = (i, r) and O':
//!
//! * **I1, own value**: vector(O) at i is r;
//! * **I2, containment**: vector(O) <= vector(O') or vector(O') <= vector(O);
//! * **I3, immediacy**: if vector(O) at j is s and (j, s) is complete, then
//!   vector(j, s) <= vector(O);
//! * **I4, validity**: if vector(O) at j is s > 0, then (j, s) was invoked before O
//!   responded, and did not fail.
//!
//! *Necessity.* O takes effect after or with every operation that it sees, and along a sequence of
//! blocks the vector of the contents only grows.
//!
//! *Sufficiency.* By I2 the vectors that occur form a chain W1 < ... < Wm. Put into
//! block k the operations (j, Wk at j) for each entry j that grows from W(k-1) to Wk. A
//! complete (j, s) has a vector with entry s at j (I1), so no complete operation is
//! skipped. Let (j, s) be complete and in block k. By I3 its vector is at most Wk; it is
//! not at most W(k-1), whose entry at j is less than s; so it is Wk. So block k
//! consists of the complete operations that returned Wk, and of pending ones that were
//! seen; pending ones that were not seen are dropped. Let the instant of block k be the
//! latest invocation among the operations that Wk shows. These instants do not
//! decrease, and by I4 the instant of block k is before the response of every operation
//! that returned Wk; it is not before the invocations of the operations in the block,
//! since Wk shows them. So it lies in the interval of each. Precedence is extended: if A
//! precedes B, the instant of A's block is before the response of A, so before the
//! invocation of B, so before the instant of B's block. QED.
//!
//! No condition on real time is needed: it follows. (An operation that misses a completed one has,
//! by I1 and I2, a smaller vector than that one, which therefore shows an operation that was not
//! yet invoked: I4.) A snapshot needs five conditions ([`crate::linear`]), since its updates return
//! nothing.
//!
//! # Cost
//!
//! O(n) per response, O(1) per other event. I1 and I4 are one comparison per entry. For I2,
//! vectors are kept in ascending order and a new one is compared with its neighbours.
//!
//! The [`Monitor`] decides when an operation responds, or fails. For I3 a new vector W between its
//! neighbours A < W < B must not grow, from A to W, at an entry (j, s) of another complete
//! operation (whose vector, not being W, is at least B), and A must not show the operation itself.
//! Memory holds only the vectors and values that open operations can be compared with, independent
//! of the length of the execution.
//!
//! [`check()`] also keeps which operations each vector shows: in the order of the vectors, the new
//! ones of each are a block of the proof.

mod admission;
mod blocks;
mod check;
mod history;
mod monitor;
mod violation;
mod window;

pub use admission::{Admission, ExchangeError, ExchangeErrorKind};
pub use blocks::SetLinearization;
pub use check::{Verdict, check, decide};
pub use history::{Action, Event, History, HistoryBuilder, Operation};
pub use monitor::{Alarm, Judgement, Monitor, Repeated};
pub use violation::{Condition, Violation};
