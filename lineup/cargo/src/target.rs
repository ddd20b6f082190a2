//! The target directory, shared by several commands.
//!
//! Cargo locks it during each of its own commands. Between two of them another `cargo lineup` could
//! remove the first one's artifacts, or replace the program that it is about to execute.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Error;

/// A target directory in which only this command may build, until it is dropped.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    _lock: File,
}

impl Target {
    /// Waits until no other command holds it. Makes the directory if it does not exist.
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

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Takes an advisory lock, which ends with the file. Without support of the system, as on some
/// network file systems, it is omitted, as by cargo.
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

/// A program that no later build replaces or removes: a link to it in a separate directory, which
/// is removed on drop.
#[derive(Debug)]
pub struct Aside {
    program: PathBuf,
    _directory: TempDir,
}

impl Aside {
    /// Puts a program aside, and releases the target directory.
    ///
    /// # Errors
    /// If it can neither be linked nor copied.
    pub fn new(target: Target, program: &Path) -> Result<Self, Error> {
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

    /// Returns the path of the link.
    pub fn program(&self) -> PathBuf {
        self.program.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use super::*;

    /// Several threads build in one directory in turns and put their program aside; each later
    /// executes the program that it built.
    #[test]
    fn each_builder_executes_its_own_program() {
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
                        // A linker removes the old program.
                        drop(fs::remove_file(&program));
                        fs::write(&program, &text).unwrap();
                        inside.fetch_sub(1, SeqCst);
                        let aside = Aside::new(target, &program).unwrap();
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
