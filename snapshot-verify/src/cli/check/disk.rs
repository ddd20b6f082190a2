//! A folder for states that do not fit into memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use snapshot_verify::search::spill::{Disk, FileId};
use tempfile::TempDir;

use crate::cli::trouble;

/// Numbered files in a separate folder, which is removed at the end.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    next: AtomicU32,
}

impl Folder {
    /// Creates the folder within `parent`, which must exist.
    pub(super) fn new(parent: &Path) -> Result<Self, ExitCode> {
        if !parent.is_dir() {
            return Err(trouble(format_args!(
                "--disk {}: there is no folder of this name; name one with room for the states",
                parent.display()
            )));
        }
        let folder = tempfile::Builder::new().prefix("snapshot-verify-").tempdir_in(parent);
        match folder {
            Ok(folder) => Ok(Self { folder, next: AtomicU32::new(0) }),
            Err(error) => Err(trouble(format_args!(
                "--disk {}: {error}; name a folder that can be written to",
                parent.display()
            ))),
        }
    }

    fn path(&self, file: FileId) -> PathBuf {
        self.folder.path().join(format!("{file}.states"))
    }
}

impl Disk for Folder {
    fn create(&self) -> io::Result<(FileId, Box<dyn Write + Send>)> {
        let file = self.next.fetch_add(1, Ordering::Relaxed);
        Ok((file, Box::new(File::create_new(self.path(file))?)))
    }

    fn open(&self, file: FileId) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.path(file))?))
    }

    fn remove(&self, file: FileId) {
        // A file that cannot be removed now is removed with the folder.
        let _ = std::fs::remove_file(self.path(file));
    }

    fn clear(&self) {
        (0..self.next.load(Ordering::Relaxed)).for_each(|file| self.remove(file));
    }
}
