//! The projection gate of a check: executions have views in lists that are closed.

use std::io::BufRead;

use rustc_hash::FxHashSet;

use super::{Check, Listed, Stop, Uncovered};
use crate::layout::Layout;
use crate::projection::cover::{List, Views};
use crate::projection::{Site, project};
use crate::step::Kind;

impl<R: BufRead> Check<'_, '_, R> {
    /// Projects executions into the lists of an obligation, if the caller asks for it.
    pub(super) fn projected(
        &mut self,
        layout: &Layout<'_>,
        kinds: Vec<Vec<Kind>>,
        all: &[Listed],
        sites: &FxHashSet<Site>,
    ) -> Result<(), Stop> {
        let Some(extent) = self.extent else { return Ok(()) };
        let extent = extent.of(all.iter().map(Listed::len).sum());
        let mut lists = Vec::new();
        for (kinds, listed) in kinds.into_iter().zip(all) {
            lists.push(List { kinds, views: listed.keys().map(|view| &**view).collect() });
        }
        let obligation = layout.obligation;
        let coverage = project(&Views::new(layout, lists), sites, &extent)
            .map_err(|state| Stop::Uncovered(Uncovered { obligation, state }))?;
        self.projected.push(coverage);
        Ok(())
    }
}
