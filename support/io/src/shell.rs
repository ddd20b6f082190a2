//! Completions for shells and manual pages, from a command line's definition.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
pub use clap_complete::Shell;

use crate::replacement;

/// Returns the completions of a command line, for a shell.
pub fn completions(mut command: Command, shell: Shell) -> String {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes a manual page for the program and one for each subcommand into a folder, which is created
/// if missing. Returns the paths of the pages.
///
/// # Errors
/// If one cannot be written.
pub fn manual(command: Command, folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut pages = Vec::new();
    let name = command.get_name().to_owned();
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let subcommands: Vec<Command> = command.get_subcommands().cloned().collect();
    page(command, &name, folder, &mut pages)?;
    for subcommand in subcommands {
        let name = format!("{name}-{}", subcommand.get_name());
        page(subcommand, &name, folder, &mut pages)?;
    }
    Ok(pages)
}

fn page(command: Command, name: &str, folder: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).title(name.to_owned()).render(&mut text)?;
    let path = folder.join(format!("{name}.1"));
    replacement::write(&path, &text)?;
    pages.push(path);
    Ok(())
}
