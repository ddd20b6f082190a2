//! Objects whose operations take effect together: the fifteen interfaces of Lawrence and Lowe
//! ("Synchronisation: Specification and Testing", Figure 11).
//!
//! | object | arity | stateful | sides |
//! | --- | --- | --- | --- |
//! | [`Channel`] | 2 | no | two |
//! | [`FilterChannel`] | 2 | no | two |
//! | [`MenAndWomen`] | 2 | no | two |
//! | [`Exchanger`] | 2 | no | one |
//! | [`CounterChannel`] | 2 | yes | two |
//! | [`TwoFamilies`] | 2 | yes | two |
//! | [`OneFamily`] | 2 | yes | one |
//! | [`Abc`] | 3 | no | three |
//! | [`Barrier`], [`LeaderBarrier`] | n | no | one |
//! | [`EnrollableBarrier`] | 1 to n, 1 | yes | one |
//! | [`TimeoutChannel`] | 2, 1 | no | two |
//! | [`TimeoutExchanger`] | 2, 1 | no | one |
//! | [`CloseableChannel`] | 2, 1 | yes | two |
//! | [`TerminatingQueue`] | 1, n | yes | one |
//! | [`AtomicBroadcast`] | n + 1 | no | two |

mod abc;
mod barrier;
mod broadcast;
mod channel;
mod closeable;
mod counter;
mod exchanger;
mod families;
mod filter;
mod pairs;
mod terminating;
mod timeout;

pub use abc::{Abc, AbcInput};
pub use barrier::{Barrier, EnrollableBarrier, EnrollableInput, LeaderBarrier};
pub use broadcast::AtomicBroadcast;
pub use channel::{Channel, ChannelInput, ChannelOutput};
pub use closeable::{CloseableChannel, CloseableInput, CloseableOutput};
pub use counter::{CounterChannel, CounterOutput};
pub use exchanger::{Exchanger, TimeoutExchanger};
pub use families::{OneFamily, TwoFamilies};
pub use filter::{FilterChannel, FilterInput};
pub use pairs::{MenAndWomen, PairInput};
pub use terminating::{TerminatingInput, TerminatingOutput, TerminatingQueue};
pub use timeout::{TimeoutChannel, TimeoutOutput};

/// Defines an object that has only a type of values.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<V>(std::marker::PhantomData<V>);

        impl<V> Default for $name<V> {
            fn default() -> Self {
                Self(std::marker::PhantomData)
            }
        }
    };
}
use object;

use super::{Bond, Member};

/// Returns [`Bond::Yes`] if the output is allowed, else [`Bond::No`].
const fn bond(allowed: bool) -> Bond {
    if allowed { Bond::Yes } else { Bond::No }
}

/// Returns true if a member may have returned this output.
fn returns<I, O: PartialEq>(member: Member<'_, I, O>, output: &O) -> bool {
    member.1.is_none_or(|returned| returned == output)
}
