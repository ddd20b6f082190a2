//! Histories of atomic snapshots, and snapshot algorithms, with known verdicts.
//!
//! A checker is only as good as its tests, and published recordings cover few of the ways in which
//! an execution can go wrong. This crate supplies the rest:
//!
//! * [`generate`] runs an atomic snapshot object under a random scheduler and records it. The
//!   result is linearizable by construction. On request one violation of a chosen rule is planted;
//!   the module proves that no order of the operations exists then. Either verdict is known without
//!   a checker, at any length.
//! * [`family`] fixes seeds: the shape of the corpus of the DISC 2022 paper, the same shape with
//!   every case of a simple violation in turn, and a family that is hard for memoised search. Each
//!   bad member has a good twin.
//! * [`generate::Exchanges`] does the same for an immediate snapshot.
//! * [`twins`] are written by hand, in `histories/twins`: pairs one event apart, one of each pair
//!   linearizable. [`exchange_twins`], in `histories/immediate`, are pairs for immediate snapshots.
//! * [`algorithms`] are published snapshot algorithms, with planted bugs, as texts for a verifier;
//!   [`object_algorithms`] are those of other objects, and [`strong_algorithms`] those known to be
//!   strongly linearizable, or known not to be.
//! * [`small()`] returns programs of a dozen lines, some of which verifiers once got wrong.
//! * [`program`] makes random algorithms, by seed. Their verdicts are unknown, so verifiers are
//!   compared with each other.
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
//! A recipe, its seed and the version of this crate fix every byte: draws come from ChaCha8 and are
//! turned into choices here, so neither the platform nor a new version of a dependency changes a
//! history. A change that alters streams is a breaking change of this crate.
//!
//! # Limits
//!
//! From `snapshot-core`, this crate uses only the model of a history. It uses no checker: a corpus
//! that a checker had approved could not reveal that checker's faults. If the published recipe
//! needs a judge, the caller supplies one. The crate reads no files. It knows neither a history
//! format nor the language of the algorithms; it only carries their texts.
#![forbid(unsafe_code)]

mod algorithm;
mod expected;
pub mod family;
pub mod generate;
pub mod program;
mod small;
mod twin;

pub use algorithm::{
    Algorithm, algorithm, algorithms, all_algorithms, object_algorithms, strong_algorithms,
};
pub use expected::Expected;
pub use small::{small, small_with_bugs, smalls};
pub use twin::{Case, CaseError, exchange_twins, twins};
