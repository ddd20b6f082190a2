//! The judge of certificates: is what a verdict shows really a proof?
//!
//! A search may err; a check must not. So nothing here is shared
//! with a search, an automaton or the linear-time conditions: a
//! [`Linearization`](crate::verdict::Linearization) is replayed
//! ([`linearization`]), and the operations of a
//! [`Witness`](crate::verdict::Witness) are shown to have no order by trying
//! all orders ([`witness`], [`brute_force`]). A
//! [`Refutation`](crate::verdict::Refutation) is checked line by line
//! ([`refutation`]). The answers for immediate snapshots have their own judges
//! ([`blocks`], [`exchanges`]), and so have those for objects whose operations take effect
//! together ([`groups`], [`deficiency`]). The only things in common with
//! the rest of the crate are the history and the types of the certificates.
//!
//! A check succeeds only on a proof. A certificate of a true verdict may still
//! be refused, because it is no proof or because it is too large to try all
//! orders; it is never accepted for a false verdict.

pub mod blocks;
pub mod brute_force;
pub mod deficiency;
pub mod exchanges;
pub mod groups;
pub mod linearization;
mod omission;
pub mod projection;
mod readable;
pub mod refutation;
pub mod witness;
