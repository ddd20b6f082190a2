//! Certificates of proofs: which are made, which are accepted, and why others are not.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod accepted;
mod altered;
mod programs;
mod wrong;
