//! Histories of atomic snapshots, and snapshot algorithms, whose answers are
//! known.
//!
//! A checker is only as good as what it was tested on, and published
//! recordings cover few of the ways in which an execution can go wrong. This
//! crate supplies the rest:
//!
//! * [`generate`] runs an atomic snapshot object under a random scheduler and
//!   records it. The result is linearizable by construction; on request one
//!   violation of a chosen rule is planted, and its module says why no order
//!   of the operations can then exist. Either answer is known without a
//!   checker, at any length.
//! * [`family`] fixes seeds: the shape of the corpus of the DISC 2022 paper,
//!   the same shape with every case of a simple violation in turn, and a family
//!   that is hard for memoised search. Each bad member has a good twin.
//! * [`generate::Exchanges`] does the same for an immediate snapshot.
//! * [`twins`] are written by hand, in `histories/twins`: pairs one event apart,
//!   one of each pair linearizable; [`exchange_twins`], in `histories/immediate`, are of
//!   immediate snapshots.
//! * [`algorithms`] are published snapshot algorithms, with bugs planted in
//!   them, as texts for a verifier.
//! * [`small()`] has programs of a dozen lines, some of which verifiers once got wrong.
//! * [`program`] makes random algorithms, by seed: the answers are not known, so
//!   verifiers are compared with each other.
//!
//! ```
//! use corpus::generate::{Recipe, Rule, Style, Violation};
//!
//! let good = Recipe::new(4, 3, 50, Style::Differentiated, 7);
//! let bad = good.clone().with_violation(Violation::new(Rule::Inversion));
//! let history = bad.history()?;
//! assert_eq!((history.processes(), history.operations().len()), (4, 50));
//! // The same events, but every scan returns what the object held.
//! assert_eq!(bad.twin().history()?.len(), history.len());
//! # Ok::<(), corpus::generate::RecipeError>(())
//! ```
//!
//! # Reproducibility
//!
//! A recipe, its seed and the version of this crate fix every byte: draws come
//! from ChaCha8 and are turned into choices here, so neither the platform nor a
//! new version of a dependency changes a history. A change that alters streams
//! is a breaking change of this crate.
//!
//! # What this crate never knows
//!
//! It depends on `snapshot-core` for the model of a history and nothing else
//! of it: no checker, for a corpus that a checker had approved could not find
//! that checker's faults. Where the published recipe needs a judge, the caller
//! hands one over. It reads no file and knows neither a history format nor the
//! language of the algorithms; it only carries their texts.
#![forbid(unsafe_code)]

mod algorithm;
mod expected;
pub mod family;
pub mod generate;
pub mod program;
mod small;
mod twin;

pub use algorithm::{Algorithm, algorithm, algorithms, object_algorithms};
pub use expected::Expected;
pub use small::small;
pub use twin::{Case, CaseError, exchange_twins, twins};
