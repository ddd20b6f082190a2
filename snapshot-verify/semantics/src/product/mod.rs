//! The algorithm's side of a search: states of the interpreter as rows of numbers, with remembered
//! steps. The searches ([`crate::refine`], [`crate::graph`]) add columns of their own.
//!
//! | file | content |
//! | --- | --- |
//! | `states` | states of the interpreter as rows of numbers |
//! | `steps` | steps, remembered by the parts and cells that they depend on |
//! | `nodes` | identifies states up to the numbers of nodes |
//! | `lent` | the same for one search, or for several at once |
//! | `symmetry` | identifies states up to the order of processes |
//! | `prospect` | next steps, without making them |
//! | `memo` | remembered results, by few numbers |
//! | `slices` | cached data of many states, in few allocations |
//! | `footprint` | steps that are independent of all others |
//! | `rows` | rows of numbers, packed |
//! | `table` | interned rows |

mod footprint;
mod lent;
mod memo;
mod nodes;
mod prospect;
mod rows;
mod slices;
mod states;
mod steps;
mod symmetry;
mod table;

pub use lent::{Lent, Unknown, known};
pub use memo::Memo;
pub use prospect::Prospect;
pub use rows::Rows;
pub use states::{EventId, Scratch, States};
pub use steps::Made;
pub use symmetry::{OrderId, reordered};
pub use table::{Batch, Table};
