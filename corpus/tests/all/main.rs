//! What the corpus promises, checked by opinions that it does not share.

mod algorithms;
mod exchanges;
mod families;
mod generated;
mod oracle;
mod simple_cases;
mod text;
mod twins;
