//! Certificates of proofs: writing, accepting and refusing.

mod accepted;
mod altered;
mod programs;
mod wrong;
