//! Copies of packages in which the macro `thread_local!` is the stand-in's.
//!
//! A bare `thread_local!` is resolved in the compiler's own prelude of macros. For a package that
//! has one, the compiler reads a copy that says `::std::thread_local!` there: same lines, and the
//! names of the files in messages, in the locations of panics and in the list of dependencies are
//! those of the original.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::source::{bare_thread_locals, with_paths};

/// A copy of a package, and its original.
#[derive(Debug)]
pub(crate) struct Copy {
    original: PathBuf,
    copy: PathBuf,
    /// Index of the argument that names the root of the crate.
    root: usize,
}

/// Returns true for a folder in a package that does not belong to it: a target directory, or the
/// repository's.
fn is_foreign(directory: &Path) -> bool {
    directory.ends_with(".git") || directory.join("CACHEDIR.TAG").exists()
}

/// Returns the files of a package.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                found.push(entry.path());
            } else if !is_foreign(&entry.path()) {
                left.push(entry.path());
            }
        }
    }
    Ok(found)
}

impl Copy {
    /// Copies the package of a call of the compiler into a directory, unless it has no bare
    /// `thread_local!`.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn of(
        package: &Path,
        arguments: &[OsString],
        copy: PathBuf,
    ) -> io::Result<Option<Self>> {
        let is_source =
            |argument: &OsString| Path::new(argument).extension() == Some("rs".as_ref());
        let Some(root) = arguments.iter().position(is_source) else { return Ok(None) };
        if !std::path::absolute(&arguments[root])?.starts_with(package) {
            return Ok(None);
        }
        let mut changed = Vec::new();
        let files = files(package)?;
        for path in files.iter().filter(|path| path.extension() == Some("rs".as_ref())) {
            let Ok(text) = fs::read_to_string(path) else { continue };
            let lines = bare_thread_locals(&text);
            if !lines.is_empty() {
                changed.push((path, with_paths(&text, &lines)));
            }
        }
        if changed.is_empty() {
            return Ok(None);
        }
        let place = |path: &Path| copy.join(path.strip_prefix(package).unwrap_or(path));
        for path in &files {
            let to = place(path);
            fs::create_dir_all(to.parent().unwrap_or(&copy))?;
            match changed.iter().find(|(changed, _)| *changed == path) {
                Some((_, text)) => fs::write(to, text)?,
                None => fs::copy(path, to).map(drop)?,
            }
        }
        Ok(Some(Self { original: package.to_owned(), copy, root }))
    }

    /// Returns the arguments with which the compiler reads the copy.
    pub(crate) fn arguments(&self, arguments: &[OsString]) -> Vec<OsString> {
        let mut arguments = arguments.to_owned();
        let root = PathBuf::from(&arguments[self.root]);
        let absolute = std::path::absolute(&root).unwrap_or_else(|_| root.clone());
        let inside = absolute.strip_prefix(&self.original).unwrap_or(&root).to_owned();
        arguments[self.root] = self.copy.join(&inside).into();
        // As the call named the package: relative to the working directory, or not.
        let depth = inside.components().count();
        let named: PathBuf = {
            let components: Vec<_> = root.components().collect();
            components[..components.len().saturating_sub(depth)].iter().collect()
        };
        let mut prefix = OsString::from("--remap-path-prefix=");
        prefix.push(&self.copy);
        prefix.push("=");
        prefix.push(named);
        arguments.push(prefix);
        arguments
    }

    /// Names the original files in the list of dependencies.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn restore_names(&self, list: &Path) -> io::Result<()> {
        let text = fs::read_to_string(list)?;
        let (copy, original) = (self.copy.display(), self.original.display());
        fs::write(list, text.replace(&copy.to_string(), &original.to_string()))
    }
}
