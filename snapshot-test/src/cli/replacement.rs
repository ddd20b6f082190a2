//! Files that appear whole or not at all.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that takes its place only when it is finished: it is written under a
/// temporary name beside it, and is removed if it is dropped before.
pub struct Replacement {
    file: NamedTempFile,
    place: PathBuf,
}

impl Replacement {
    /// Begins a file for this place, with the permissions of the file that is
    /// there, else those of an ordinary new file. Through a symbolic link the
    /// file is replaced, not the link.
    pub fn of(path: &Path) -> io::Result<Self> {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directory = match place.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The mask of the process is taken off this.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(directory)?;
        if let Ok(metadata) = place.metadata() {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self { file, place })
    }

    /// Where to write.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Puts the file in its place.
    pub fn persist(self) -> io::Result<()> {
        self.file.persist(&self.place).map(drop).map_err(|error| error.error)
    }
}
