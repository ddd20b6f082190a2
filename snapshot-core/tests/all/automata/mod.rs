//! Automata, observer and definition agree.
//!
//! Four independent ways to decide a simple history are compared: the
//! definition of linearizability by brute force, Theorem 10 with Lemma 14 read
//! literally, the union of the three automata, and the observer in both of its
//! forms. All small histories first, then a proof by exploration for 2, 3 and 4
//! processes, then random long ones.

mod agreement;
mod cases;
mod definition;
mod properties;
mod recognition;
mod shape;
mod words;
