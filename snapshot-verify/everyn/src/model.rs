//! The prepared program of the prover: that of the hints, with the analyses of its own.

use std::ops::{Deref, DerefMut};

pub use snapshot_hints::model::*;

/// A prepared program.
#[derive(Clone, Debug)]
pub struct Model {
    base: snapshot_hints::model::Model,
    /// Per process, true if its ghost scans are skipped: they are not judged, and neither access
    /// kept bytes nor leave anything.
    pub passes: [bool; 3],
    /// Dead bytes of judged ghost scans, per location.
    pub faint: Vec<super::faint::Faint>,
    /// Locations at which processes with broken links are lost.
    pub lost: Vec<super::lost::Lost>,
    /// Per instruction, the return locations merged with it; the first represents them all.
    pub returns: Vec<Vec<usize>>,
}

impl From<snapshot_hints::model::Model> for Model {
    fn from(base: snapshot_hints::model::Model) -> Self {
        let (faint, lost, returns) = (Vec::new(), Vec::new(), Vec::new());
        Self { base, passes: [false; 3], faint, lost, returns }
    }
}

impl Deref for Model {
    type Target = snapshot_hints::model::Model;

    fn deref(&self) -> &Self::Target {
        &self.base
    }
}

impl DerefMut for Model {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.base
    }
}
