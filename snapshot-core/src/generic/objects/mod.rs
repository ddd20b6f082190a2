//! Sequential specifications of some objects.
//!
//! Each file is one object: its inputs, its outputs, its meaning.

mod appended;
mod counter;
mod lock;
mod map;
mod priority_queue;
mod queue;
mod register;
mod semaphore;
mod set;
mod snapshot;
mod stack;
mod swap_register;

pub use counter::{Counter, CounterInput, CounterOutput};
pub use lock::{Lock, LockInput, LockOutput};
pub use map::{Map, MapInput, MapOutput, Text};
pub use priority_queue::{PriorityQueue, PriorityQueueInput, PriorityQueueOutput};
pub use queue::{Queue, QueueInput, QueueOutput};
pub use register::{Register, RegisterInput, RegisterOutput};
pub use semaphore::{Semaphore, SemaphoreInput, SemaphoreOutput};
pub use set::{Set, SetInput, SetOutput};
pub use snapshot::{Snapshot, SnapshotHistory, SnapshotInput, SnapshotOutput};
pub use stack::{Stack, StackInput, StackOutput};
pub use swap_register::{SwapRegister, SwapRegisterInput, SwapRegisterOutput};
