//! The generic checker on objects other than snapshots: against the literal definition, on all
//! small histories and on random ones, and on histories that papers and books have judged.

mod exhaustive;
mod ill_formed;
mod judged;
mod monitors;
mod oracle;
mod published;
mod random;
mod turns;
mod wide;
