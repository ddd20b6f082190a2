//! The interpreter: runs a [`program`](crate::program) as it is written.
//!
//! Everything else that this crate does with a program rests on transforming
//! it: unrolling, slicing, packing, exploring. This module does none of that, and
//! shares no code with the modules that do, so that it can be their judge: a
//! counterexample is believed only after the interpreter has replayed it. Versions
//! and counters are unbounded here, values are any `u32` (0 is the initial value
//! of every segment), and nothing is removed or fused.
//!
//! A [`Machine`] is a program for n processes; its [`State`]s can be copied,
//! compared and hashed; a [`Move`] leads from one to the next.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `data` | what variables hold |
//! | `state` | what a state is |
//! | `evaluate` | the meaning of expressions |
//! | `code` | places within a procedure, as numbers |
//! | `run` | the meaning of statements |
//! | `access` | the meaning of accesses |
//! | `machine` | a program for n processes, and its steps |
//! | `object` | operations of an object that the text declares, and what they do to it |
//! | `blocks` | operations of an object that take effect together |
//! | `report`, `event` | what a step did |
//! | `inspect` | what a state holds, by name |
//! | `structure` | what a state holds, as data |
//! | `coverage` | which statements were executed |
//! | `heap` | nodes: allocated, freed, collected, and renamed |
//! | `next` | what a step is going to access |
//! | `forget` | locals that no step reads any more |
//! | `parts`, `interned` | states taken apart, for tables of many |
//! | `permute` | parts with their processes renamed |
//! | `written` | parts as text, and back |
//! | `schedule` | executions as lists of moves |
//! | `client` | what operations are begun |
//! | `simulate` | random executions |
//! | `trace`, `replay` | schedules as files, and executions shown step by step |
//! | `judge` | whether the history of an execution is linearizable |
//!
//! It is written to be plainly right rather than fast.

mod access;
mod blocks;
mod client;
pub mod code;
mod comparand;
mod coverage;
mod data;
mod evaluate;
mod event;
mod fault;
mod forget;
mod heap;
mod inspect;
mod interned;
mod judge;
mod machine;
mod next;
mod object;
mod packed;
mod parts;
mod permute;
mod points;
mod replay;
mod report;
mod run;
mod schedule;
mod simulate;
mod state;
mod structure;
mod trace;
mod written;

pub use blocks::{Block, Member};
pub use client::{Client, ClientError, Progress, Roles, Values};
pub use comparand::{Comparands, Emptiable};
pub use coverage::Coverage;
pub use data::Data;
pub use event::{Action, Argument, Call, Event, OperationCall, history};
pub use fault::{Fault, FaultKind};
pub(crate) use forget::Forgetting;
pub(crate) use heap::{Heap, Shape};
pub use inspect::{Holding, Owner};
pub(crate) use interned::Interned;
pub use judge::{JudgeError, judge};
pub use machine::{MAX_PROCESSES, Machine, MachineError};
pub use next::Next;
pub use object::{ObjectState, Sequential};
pub use parts::{Part, ProcessPart, SharedPart};
pub use replay::{Replay, Scene, Shown};
pub use report::{AccessReport, Deed, StepReport};
pub use schedule::{Execution, Move, MoveError, MoveErrorKind, MoveKind};
pub use simulate::{Scheduler, Walk, walk};
pub use state::State;
pub use structure::{OpenCall, Passage};
pub use trace::{Trace, TraceError, TraceErrorKind, digest};
pub use written::{Writing, WrittenError};
