//! Certificates of proofs: which are made, which are accepted, and why others are not.

mod accepted;
mod altered;
mod programs;
mod wrong;
