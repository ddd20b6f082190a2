//! Errors of `cargo lineup`.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Each message suggests a remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A program that cannot be started.
    #[error("cannot run `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// Cargo failed; it has said why.
    #[error("`cargo {command}` failed")]
    Cargo {
        /// Subcommand of cargo.
        command: String,
    },
    /// Invalid output of cargo.
    #[error("`cargo metadata` is not understood: {0}")]
    Metadata(String),
    /// Neither the directory nor its parents have a package.
    #[error(
        "no package at {0}: `cargo lineup init CRATE` makes one that checks CRATE; in its \
         directory run this again"
    )]
    Outside(PathBuf),
    /// The directory has no package of its own.
    #[error(
        "no package at {0}: run this where the Cargo.toml of a package is, name it with \
         `--manifest-path`, or choose one of a workspace with `-p`"
    )]
    NoPackage(PathBuf),
    /// The package has no configuration.
    #[error(
        "{0}: no crate is named in `package.metadata.lineup.controlled`: add, for example,\n\n\
         [package.metadata.lineup]\ncontrolled = [\"crossbeam-queue\", \"crossbeam-utils\"]"
    )]
    NotConfigured(PathBuf),
    /// A crate under control is not a dependency.
    #[error(
        "`{name}`, in `package.metadata.lineup.controlled`, is no dependency of `{package}`; \
         there are: {known}"
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The package.
        package: String,
        /// Its dependencies that can be controlled.
        known: String,
    },
    /// The stand-in itself needs a crate under control.
    #[error(
        "`{name}` cannot be under control: the scheduler itself depends on it; remove it from \
         `package.metadata.lineup.controlled`"
    )]
    Needed {
        /// Name of the program.
        name: String,
    },
    /// The stand-in is not among the dependencies.
    #[error(
        "`{package}` does not depend on `{name}`: add it to its dependencies, from where \
         `lineup` comes from (`cargo lineup init` does)"
    )]
    NoStandIn {
        /// The package.
        package: String,
        /// The stand-in.
        name: &'static str,
    },
    /// The wrapper is not where it should be.
    #[error("there is no {0}: install both programs, `cargo install --path lineup/cargo`")]
    NoWrapper(PathBuf),
    /// There is no unique program to run.
    #[error(
        "`{package}` needs one program that says `lineup::main!`, and has: {known}. Add \
         `src/main.rs`, or choose one by `default-run` in its Cargo.toml"
    )]
    Programs {
        /// The package.
        package: String,
        /// Programs of the package.
        known: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A directory that already exists.
    #[error("{0} is there already: name another with `--path`")]
    Exists(PathBuf),
    /// The sources of Line-Up are not found.
    #[error("{0} is not the directory of the crate `lineup`: name it with `--lineup`")]
    NoLineup(PathBuf),
}
