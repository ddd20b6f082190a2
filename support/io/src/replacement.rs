//! Files that appear completely or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Suffix of unfinished files, the only ones that a killed process leaves behind.
pub const UNFINISHED: &str = ".new";

/// A file that takes its place only when it is finished: it is written under a temporary name
/// beside it, and removed if dropped before.
#[derive(Debug)]
pub struct Replacement {
    file: NamedTempFile,
    place: PathBuf,
}

impl Replacement {
    /// Begins a file for this place, with the permissions of an existing file, else those of an
    /// ordinary new file. At a symbolic link the file is replaced, not the link.
    ///
    /// # Errors
    /// If no file can be created beside it.
    pub fn new(path: &Path) -> io::Result<Self> {
        let place = target(path);
        let mut builder = tempfile::Builder::new();
        builder.suffix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The process's mask is subtracted from this.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder(&place))?;
        if let Ok(metadata) = place.metadata() {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self { file, place })
    }

    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If it cannot be renamed; it is then removed.
    pub fn persist(self) -> io::Result<()> {
        self.file.persist(&self.place).map(drop).map_err(|error| error.error)
    }
}

/// Writes a whole file. A device or a pipe, which cannot be replaced, is written to.
///
/// # Errors
/// If it cannot be written; the previous contents then remain.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(contents))
}

/// As [`write()`], with contents that are produced piece by piece.
///
/// # Errors
/// As [`write()`], and those of `contents`.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    contents: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return contents(&mut File::options().write(true).open(path)?);
    }
    let mut replacement = Replacement::new(path)?;
    contents(replacement.file())?;
    Ok(replacement.persist()?)
}

/// As [`write_with`], but the file is on the disk, under its name, before this returns: it survives
/// a loss of power.
///
/// # Errors
/// As [`write_with`], and if the system cannot confirm that it is on the disk.
pub fn write_durably(
    path: &Path,
    contents: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut replacement = Replacement::new(path)?;
    contents(replacement.file())?;
    replacement.file().sync_all()?;
    // The new name is on the disk once the folder is; not all systems can confirm that of a folder.
    #[cfg(unix)]
    let folder = File::open(folder(&replacement.place))?;
    replacement.persist()?;
    #[cfg(unix)]
    folder.sync_all()?;
    Ok(())
}

/// Removes the file at the place of a requested output: a command that in the end has nothing to
/// write leaves no older file that looks like its own. At a symbolic link the file is removed, not
/// the link. Folders, devices and pipes stay.
///
/// # Errors
/// If an existing file cannot be removed.
pub fn clear(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => std::fs::remove_file(target(path)),
        _ => Ok(()),
    }
}

/// Follows symbolic links, also to a file that does not exist.
pub fn target(path: &Path) -> PathBuf {
    /// The number that Linux follows.
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(place) = place.canonicalize() {
            return place;
        }
        let Ok(link) = place.read_link() else { break };
        place = folder(&place).join(link);
    }
    match (folder(&place).canonicalize(), place.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => place,
    }
}

/// Returns the folder that contains a file, or will.
fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durable_writes_are_atomic() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("file");
        write_durably(&place, |file| file.write_all(b"first"))?;
        let failed = write_durably(&place, |file| {
            file.write_all(b"half")?;
            let names: Vec<_> = std::fs::read_dir(folder.path())?.collect::<Result<_, _>>()?;
            let ends = |name: &str| name.ends_with(UNFINISHED);
            let unfinished = names.iter().filter(|one| one.file_name().to_str().is_some_and(ends));
            assert_eq!((unfinished.count(), names.len()), (1, 2));
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&place)?, b"first");
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1, "nothing else is left");
        Ok(())
    }

    #[test]
    fn bare_name_lies_in_the_current_folder() {
        assert_eq!(folder(Path::new("file")), Path::new("."));
        assert_eq!(folder(Path::new("one/file")), Path::new("one"));
    }

    #[test]
    fn cleared_file_can_be_written_again() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("file");
        clear(&place)?;
        write(&place, b"old")?;
        clear(&place)?;
        assert!(!place.exists());
        clear(folder.path())?;
        assert!(folder.path().is_dir(), "a folder stays");
        write(&place, b"new")?;
        assert_eq!(std::fs::read(&place)?, b"new");
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_survive_removal_of_their_target() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let [file, link, second] = ["file", "link", "second"].map(|name| folder.path().join(name));
        write(&file, b"old")?;
        std::os::unix::fs::symlink("file", &link)?;
        std::os::unix::fs::symlink("link", &second)?;
        assert_eq!(target(&second), file.canonicalize()?);
        clear(&second)?;
        assert_eq!(target(&second), folder.path().canonicalize()?.join("file"));
        assert!(!file.exists() && link.is_symlink() && second.is_symlink());
        write(&second, b"new")?;
        assert_eq!(std::fs::read(&file)?, b"new");
        assert!(link.is_symlink() && second.is_symlink());
        Ok(())
    }

    #[test]
    fn replacement_is_atomic() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("file");
        write(&place, b"first")?;
        let failed = write_with(&place, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&place)?, b"first");
        write(&place, b"second")?;
        assert_eq!(std::fs::read(&place)?, b"second");
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1, "nothing else is left");
        assert!(write(folder.path(), b"x").is_err(), "a folder stays");
        Ok(())
    }
}
