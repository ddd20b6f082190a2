//! The judge of certificates: does a verdict's certificate prove it?
//!
//! A search may err; a check must not. So this module shares nothing with a search, an automaton or
//! the linear-time conditions. A [`Linearization`](crate::verdict::Linearization) is replayed
//! ([`linearization`]), and exhaustive search shows that the operations of a
//! [`Witness`](crate::verdict::Witness) have no order ([`witness`], [`brute_force`]). A
//! [`Refutation`](crate::verdict::Refutation) is checked line by line ([`refutation`]). The answers
//! for immediate snapshots have their own judges ([`blocks`], [`exchanges`]), and so have the
//! answers for objects whose operations take effect together ([`groups`], [`deficiency`]). Only the
//! history and the types of the certificates are shared with the rest of the crate.
//!
//! A check succeeds only on a proof. It may refuse the certificate of a true verdict, because the
//! certificate proves nothing or because it is too large for exhaustive search; it never accepts
//! the certificate of a false verdict.

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
