//! The files of a directory of records.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Record, Session, machine};
use crate::process::Limits;

const SESSIONS: &str = "sessions";

/// Why records cannot be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file.
    #[error("{}: {cause}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// What is in it.
    #[error("{}: {cause}; it is written by `tables`, and not for editing", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: csv::Error,
    },
}

/// The records of one table, while a session adds to them. Each is on disk as soon
/// as it is known, so that nothing is lost when a session is stopped.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    records: Vec<Record>,
    session: Session,
}

impl Store {
    /// Begins a session on a table. With `resume`, what is recorded stays; else it is
    /// replaced.
    ///
    /// # Errors
    /// If the files cannot be read or written.
    pub fn open(directory: &Path, table: &str, resume: bool) -> Result<Self, StoreError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |cause| StoreError::File { path, cause }
        };
        fs::create_dir_all(directory).map_err(at(directory))?;
        let path = file(directory, table);
        if !resume && path.exists() {
            fs::remove_file(&path).map_err(at(&path))?;
        }
        let records: Vec<Record> = read(directory, table)?;
        if !records.is_empty() {
            // What another version has written may have other columns.
            fs::remove_file(&path).map_err(at(&path))?;
            for record in &records {
                append(&path, record)?;
            }
        }
        let sessions: Vec<Session> = read(directory, SESSIONS)?;
        let last = sessions.last().map_or(0, |session| session.session);
        let session = machine::session(last + 1);
        append(&file(directory, SESSIONS), &session)?;
        Ok(Self { path, records, session })
    }

    /// Whether this was asked already.
    pub fn find(&self, case: &str, method: &str, limits: Limits) -> Option<&Record> {
        self.records.iter().find(|record| record.answers(case, method, limits))
    }

    /// Adds a record, in this session's name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, record: Record) -> Result<(), StoreError> {
        let record = Record { session: self.session.session, ..record };
        append(&self.path, &record)?;
        self.records.push(record);
        Ok(())
    }

    /// All records of the table so far.
    pub fn records(&self) -> &[Record] {
        &self.records
    }
}

fn file(directory: &Path, table: &str) -> PathBuf {
    directory.join(table).with_extension("csv")
}

/// The rows of a file of records or sessions; none if there is no file.
///
/// # Errors
/// If it cannot be read, or is no such file.
pub fn read<R: DeserializeOwned>(directory: &Path, table: &str) -> Result<Vec<R>, StoreError> {
    let path = file(directory, table);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let opened = File::open(&path);
    let opened = opened.map_err(|cause| StoreError::File { path: path.clone(), cause })?;
    let rows = csv::Reader::from_reader(opened).into_deserialize();
    rows.collect::<Result<_, _>>().map_err(|cause| StoreError::Content { path, cause })
}

fn append<R: Serialize>(path: &Path, row: &R) -> Result<(), StoreError> {
    let is_new = !path.exists();
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let opened = opened.map_err(|cause| StoreError::File { path: path.to_owned(), cause })?;
    let mut writer = csv::WriterBuilder::new().has_headers(is_new).from_writer(opened);
    let content = |cause| StoreError::Content { path: path.to_owned(), cause };
    writer.serialize(row).map_err(content)?;
    writer.flush().map_err(|cause| StoreError::File { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::Outcome;

    const LIMITS: Limits = Limits { time: Duration::from_secs(10), memory: 1 << 30 };

    fn record(case: &str) -> Record {
        Record {
            session: 0,
            case: case.to_owned(),
            group: "group, with a comma".to_owned(),
            x: None,
            method: "linear".to_owned(),
            by: None,
            outcome: Outcome::Linearizable,
            expected: Some(Outcome::Violation),
            seconds: Some(1e-6),
            wall_seconds: 0.25,
            cpu_seconds: 0.125,
            peak_bytes: 1 << 20,
            states: None,
            transitions: Some(7),
            time_limit: 10.0,
            memory_limit: 1 << 30,
        }
    }

    #[test]
    fn records_come_back_and_are_resumed_or_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("record");
        let mut store = Store::open(&directory, "table", false).unwrap();
        store.add(record("a")).unwrap();
        assert_eq!(store.records(), read::<Record>(&directory, "table").unwrap());
        assert!(store.records()[0].is_wrong());

        let mut resumed = Store::open(&directory, "table", true).unwrap();
        assert!(resumed.find("a", "linear", LIMITS).is_some());
        let longer = Limits { time: Duration::from_secs(20), ..LIMITS };
        assert!(resumed.find("a", "linear", longer).is_none());
        assert!(resumed.find("a", "search", LIMITS).is_none());
        resumed.add(record("b")).unwrap();
        let sessions: Vec<u32> =
            read::<Record>(&directory, "table").unwrap().iter().map(|r| r.session).collect();
        assert_eq!(sessions, [1, 2]);

        let replaced = Store::open(&directory, "table", false).unwrap();
        assert!(replaced.records().is_empty());
        assert_eq!(read::<Session>(&directory, SESSIONS).unwrap().len(), 3);
    }

    #[test]
    fn records_without_a_later_column_are_resumed() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path(), "table", false).unwrap();
        store.add(record("a")).unwrap();
        let path = file(directory.path(), "table");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(",by,", ",").replace(",linear,,", ",linear,")).unwrap();
        let mut store = Store::open(directory.path(), "table", true).unwrap();
        store.add(Record { by: Some("proof".to_owned()), ..record("b") }).unwrap();
        let records = read::<Record>(directory.path(), "table").unwrap();
        let by: Vec<_> = records.iter().map(|record| record.by.as_deref()).collect();
        assert_eq!(by, [None, Some("proof")]);
    }

    #[test]
    fn a_file_that_is_no_record_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("table.csv"), "case\nx\n").unwrap();
        let error = read::<Record>(directory.path(), "table").unwrap_err();
        assert!(error.to_string().contains("table.csv"), "{error}");
    }
}
