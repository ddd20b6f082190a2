//! Checks the promises of the corpus by independent judges.

mod algorithms;
mod exchanges;
mod families;
mod generated;
mod oracle;
mod simple_cases;
mod text;
mod twins;
