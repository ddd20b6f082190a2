//! `--workers` and `--cluster`: the workers of a search, in this process and in others.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use snapshot_cluster::Cluster;
use snapshot_io::hosts::Members;

use super::Check;
use crate::cli::trouble;

/// How long processes wait for each other to be started.
const PATIENCE: Duration = Duration::from_secs(60);

impl Check {
    /// Whether searches have workers rather than threads.
    pub(super) const fn is_distributed(&self) -> bool {
        self.workers.is_some() || self.cluster.is_some()
    }

    /// Whether another process reports what is found, which is the same here.
    pub(super) fn follows(&self) -> bool {
        self.process.is_some_and(|process| process > 0)
    }

    /// Files are written by the process that reports.
    pub(super) fn leave_files_to_first(&mut self) {
        if self.follows() {
            (self.trace, self.html, self.certificate) = (None, None, None);
        }
    }

    /// The workers of this process, connected with all others; none if there are threads instead.
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
