//! `--workers` and `--cluster`: the workers of a search, in this process and in others.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use snapshot_cluster::Cluster;
use snapshot_io::hosts::Members;

use super::Check;
use crate::cli::trouble;

/// Maximum time that processes wait for each other to start.
const PATIENCE: Duration = Duration::from_secs(60);

impl Check {
    /// Returns true if searches have workers rather than threads.
    pub(super) const fn is_distributed(&self) -> bool {
        self.workers.is_some() || self.cluster.is_some()
    }

    /// Returns true if another process reports the results, which are the same here.
    pub(super) fn follows(&self) -> bool {
        self.process.is_some_and(|process| process > 0)
    }

    /// Drops the output files, unless this process reports.
    pub(super) fn leave_files_to_first(&mut self) {
        if self.follows() {
            (self.trace, self.html, self.certificate) = (None, None, None);
        }
    }

    /// Connects the workers of this process with all others; `None` if there are threads instead.
    pub(super) fn connected(&self) -> Result<Option<Cluster>, ExitCode> {
        let workers = self.workers.unwrap_or(NonZeroUsize::MIN);
        let cluster = match (&self.cluster, self.process) {
            (Some(path), Some(process)) => {
                let members = Members::read(path, process, &self.access).map_err(trouble)?;
                Cluster::of_processes(workers, &members, PATIENCE)
            }
            _ if self.workers.is_some() => Cluster::of_threads(workers),
            _ => return Ok(None),
        };
        cluster.map(Some).map_err(trouble)
    }
}
