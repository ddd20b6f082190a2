//! Certificates for every n: made, checked, and altered.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod accepted;
mod altered;
mod asks;
mod clock;
mod cursor;
mod foreign_views;
mod gate;
mod heads;
mod hints;
mod lines;
mod linkable;
mod named;
mod passed_over;
mod planted;
mod programs;
mod projection;
mod recall;
mod relative;
mod rewriting;
mod rules;
mod solvers;
mod variants;
mod wrong;
