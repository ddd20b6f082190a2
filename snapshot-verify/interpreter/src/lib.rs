//! The interpreter: runs a [`program`] as it is written.
//!
//! Verification by exploration transforms programs: it unrolls, slices and packs them. The
//! interpreter does not, and shares no code with the explorer, so that it can judge its
//! results: a counterexample counts only after the interpreter has replayed it. Here, versions and
//! counters are unbounded, values are any `u32` (0 is the initial value of every segment), and
//! nothing is removed or fused.
//!
//! A [`Machine`] is a program for n processes. Its [`State`]s can be copied, compared and hashed; a
//! [`Move`] leads from one to the next.
//!
//! | file | content |
//! | --- | --- |
//! | `data` | content of variables |
//! | `state` | states of a program |
//! | `evaluate` | semantics of expressions |
//! | `code` | places within a procedure, as numbers |
//! | `run` | semantics of statements |
//! | `access` | semantics of accesses |
//! | `machine` | a program for n processes, and its steps |
//! | `object` | operations of an object that the text declares, and their effects |
//! | `declared` | objects that the text declares, as specifications of the core |
//! | `blocks` | operations of an object that take effect together |
//! | `report`, `event` | effects of a step |
//! | `inspect` | content of a state, by name |
//! | `structure` | content of a state, as data |
//! | `coverage` | executed statements |
//! | `heap` | nodes: allocated, freed, collected, and renamed |
//! | `next` | the next access of a process |
//! | `forget` | dead locals, which no step reads before a write |
//! | `parts`, `interned`, `names` | states in parts, for tables of many |
//! | `contents` | contents of single cells, by number |
//! | `permute` | parts with their processes renamed |
//! | `written` | parts as text, and back |
//! | `schedule` | executions as lists of moves |
//! | `client` | operations that processes begin |
//! | `simulate` | random executions |
//! | `trace`, `replay` | schedules as files, and executions shown step by step |
//! | `judge` | judges whether the history of an execution is linearizable |
//!
//! The code is written to be plainly right rather than fast.
//!
//! Both programs use this crate: `snapshot-verify` replays counterexamples, `snapshot-test` judges
//! recordings of objects that a text declares ([`Sequential`]). Internal to them: the interfaces are
//! not stable.

#![forbid(unsafe_code)]

mod access;
mod blocks;
mod client;
pub mod code;
mod comparand;
mod contents;
mod coverage;
mod data;
mod declared;
mod evaluate;
mod event;
mod fault;
mod forget;
mod heap;
mod inspect;
mod interned;
mod judge;
mod machine;
mod names;
mod next;
mod object;
mod packed;
mod parts;
mod permute;
mod points;
mod reached;
mod renamings;
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
pub use contents::Contents;
pub use coverage::Coverage;
pub use data::Data;
pub use declared::{Answer, Declared, Question};
pub use event::{Action, Argument, Call, Event, Operation, OperationCall, history};
pub use fault::{Fault, FaultKind};
pub use forget::Forgetting;
pub use heap::{Heap, Shape};
pub use inspect::{Holding, Owner};
pub use interned::Interned;
pub use judge::{JudgeError, judge};
pub use machine::{MAX_PROCESSES, Machine, MachineError};
pub use names::{Names, Occurrence, is_value, value_found, value_renamed};
pub use next::{Branching, Next};
pub use object::{ObjectState, Sequential};
pub use parts::{Part, ProcessPart, SharedPart};
pub use reached::Reached;
pub use renamings::Renamings;
pub use replay::{Replay, Scene, Shown};
pub use report::{AccessReport, Deed, StepReport};
pub use schedule::{Execution, Move, MoveError, MoveErrorKind, MoveKind};
pub use simulate::{Scheduler, Walk, walk};
pub use state::State;
pub use structure::{OpenCall, Passage};
pub use trace::{Trace, TraceError, TraceErrorKind, digest};
pub use written::{Writing, WrittenError};

use snapshot_language as language;
use snapshot_language::program;
