//! The target directory, which several commands may want at a time.
//!
//! Cargo locks it during each of its own commands. Between two of them another `cargo lineup`
//! could remove what the first one built, or replace the program that it is about to execute.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Error;

/// A target directory that this command alone may build in, until it is dropped.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    _lock: File,
}

impl Target {
    /// Waits until no other command has it. The directory is made if it is not there.
    ///
    /// # Errors
    /// If the directory or the file of the lock cannot be made.
    pub fn take(path: PathBuf) -> Result<Self, Error> {
        let of = |path: &Path| {
            let path = path.to_owned();
            move |error| Error::File { path, error }
        };
        fs::create_dir_all(&path).map_err(of(&path))?;
        let name = path.join("lineup-lock");
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&name).map_err(of(&name));
        let file = file?;
        lock(&file, &path);
        Ok(Self { path, _lock: file })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// An advisory lock, which ends with the file. Where the system has none, as some network file
/// systems, it is left out, as cargo does.
#[cfg(unix)]
fn lock(file: &File, directory: &Path) {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    if flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        eprintln!("lineup: waits for another `cargo lineup` in {}", directory.display());
        while flock(file, FlockOperation::LockExclusive) == Err(Errno::INTR) {}
    }
}

#[cfg(not(unix))]
fn lock(_: &File, _: &Path) {}

/// A program that no later build replaces or removes: a link to it in a directory of its own,
/// which is removed when this is dropped.
#[derive(Debug)]
pub struct Aside {
    program: PathBuf,
    _directory: TempDir,
}

impl Aside {
    /// Puts a program aside, and gives the target directory back.
    ///
    /// # Errors
    /// If it can neither be linked nor copied.
    pub fn of(target: Target, program: &Path) -> Result<Self, Error> {
        let of = |error| Error::File { path: program.to_owned(), error };
        let directory = tempfile::Builder::new().prefix("lineup-run-").tempdir_in(target.path());
        let directory = directory.map_err(of)?;
        let own = directory.path().join(program.file_name().unwrap_or_default());
        if fs::hard_link(program, &own).is_err() {
            fs::copy(program, &own).map_err(of)?;
        }
        drop(target);
        Ok(Self { program: own, _directory: directory })
    }

    /// Where it is.
    pub fn program(&self) -> PathBuf {
        self.program.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use super::*;

    /// In a directory that several want, one at a time builds a program and puts it aside; what
    /// it executes later is what it built.
    #[test]
    fn what_was_built_is_what_is_executed() {
        let directory = tempfile::tempdir().unwrap();
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for builder in 0..4 {
                let (inside, most, directory) = (&inside, &most, directory.path());
                scope.spawn(move || {
                    for round in 0..20 {
                        let target = Target::take(directory.join("target")).unwrap();
                        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        let program = target.path().join("program");
                        let text = format!("{builder} {round}");
                        // A linker removes what was there.
                        drop(fs::remove_file(&program));
                        fs::write(&program, &text).unwrap();
                        inside.fetch_sub(1, SeqCst);
                        let aside = Aside::of(target, &program).unwrap();
                        std::thread::yield_now();
                        assert_eq!(fs::read_to_string(aside.program()).unwrap(), text);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        let left = fs::read_dir(directory.path().join("target")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "the lock and the last program: {left:?}");
    }
}
