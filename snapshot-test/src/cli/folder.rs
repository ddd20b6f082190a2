//! Folders of recordings, as arguments.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use snapshot_io::replacement::UNFINISHED;

use super::trouble;

/// Returns the inputs, with each folder replaced by the files below it, in the order of their
/// paths. Hidden and unfinished files are left out.
///
/// # Errors
/// The exit code, if a folder cannot be read, or has no file.
pub(super) fn files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, ExitCode> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let before = files.len();
        add(input, &mut files).map_err(|(folder, error)| {
            trouble(format_args!("cannot read the folder {}: {error}", folder.display()))
        })?;
        if files.len() == before {
            return Err(trouble(format_args!(
                "the folder {} has no file: expected recordings",
                input.display()
            )));
        }
        files[before..].sort_unstable();
    }
    Ok(files)
}

fn add(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let failed = |error| (folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        if name.starts_with('.') || name.ends_with(UNFINISHED) {
            continue;
        }
        // A link to a folder may lead back here: only a link to a file is followed.
        if entry.file_type().map_err(failed)?.is_dir() {
            add(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
