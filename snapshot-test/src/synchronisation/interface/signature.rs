//! Operations of an object, as recordings and sentences have them.

/// An operation of an object, as recordings have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub name: &'static str,
    /// With its arguments.
    pub usage: &'static str,
    /// What stands behind `ok`.
    pub results: &'static str,
}

impl Signature {
    /// Returns the number of arguments; `None` if it varies.
    pub(crate) fn arguments(&self) -> Option<usize> {
        let is_varying = self.usage.contains("...");
        (!is_varying).then(|| self.usage.split_whitespace().count() - 1)
    }
}

pub(super) const fn signature(
    name: &'static str,
    usage: &'static str,
    results: &'static str,
) -> Signature {
    Signature { name, usage, results }
}

/// Words for the operations of an object, for the sentences of proofs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nouns {
    pub added: &'static str,
    pub adding: &'static str,
    pub removed: &'static str,
    pub removal: &'static str,
    /// True if values are owners, which exclude each other.
    pub has_owners: bool,
}

impl Nouns {
    pub(super) const COLLECTION: Self = Self {
        added: "added",
        adding: "add",
        removed: "removed",
        removal: "remove",
        has_owners: false,
    };
}
