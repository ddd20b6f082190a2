//! Files of records, as CSV.

use std::collections::BTreeMap;

use thiserror::Error;

use super::Record;

/// A line that is no record.
#[derive(Debug, Error)]
#[error("record {number}: {message}")]
pub struct RecordError {
    /// Its number, from 1, the header left out.
    pub number: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The records of a CSV file.
///
/// # Errors
/// At the first line that is none.
pub fn records(text: &str) -> Result<Vec<Record>, RecordError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().enumerate().map(|(index, row)| {
        let wrong = |error: csv::Error| (index + 1, error.to_string());
        row.map_err(wrong).map_err(|(number, message)| RecordError { number, message })
    });
    rows.collect()
}

/// The lines of records, with a header.
pub fn lines(records: &[Record]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Texts and numbers always have a line, and a vector always has room.
    let written = records.iter().all(|record| writer.serialize(record).is_ok());
    debug_assert!(written, "a record that is no line");
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Records in the order in which their subjects and tests came first; what was measured again
/// takes the place of what was.
pub fn latest(records: Vec<Record>) -> Vec<Record> {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut kept: Vec<Record> = Vec::new();
    for record in records {
        let key = (record.subject.clone(), record.tests.clone());
        match places.get(&key) {
            Some(place) => kept[*place] = record,
            None => {
                places.insert(key, kept.len());
                kept.push(record);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(subject: &str, tests: &str, failed: u64) -> Record {
        Record {
            subject: subject.to_owned(),
            tests: tests.to_owned(),
            seed: 0,
            preemptions: Some(2),
            limit: None,
            number: 100,
            run: 40,
            passed: 40 - failed,
            complete: 3,
            failed,
            unknown: 0,
            failed_serially: 0,
            failed_0: 0,
            failed_1: failed,
            failed_2: 0,
            tried_0: 40 - failed,
            tried_1: 40 - failed,
            tried_2: 30,
            histories: 1_234.5,
            histories_most: 1_680,
            phase_1: 0.0125,
            phase_1_most: 0.5,
            pass_seconds: Some(0.75),
            fail_seconds: None,
            executions: 1_000,
            seconds: 0.25,
            smallest: (failed > 0).then(|| "push(1) pop() | pop()".to_owned()),
            rows: (failed > 0).then_some(2),
            columns: (failed > 0).then_some(2),
            reason: None,
        }
    }

    #[test]
    fn records_round_trip_as_csv() {
        let records = [
            record("A", "all:2x2", 3),
            record("A", "random:3x3:100", 0),
            record("B", "all:2x2", 0),
        ];
        assert_eq!(super::records(&lines(&records)).unwrap(), records);
        let again = record("A", "all:2x2", 7);
        let kept = latest(records.iter().cloned().chain([again.clone()]).collect());
        assert_eq!(kept, [again, records[1].clone(), records[2].clone()]);
        let wrong = lines(&records).replace("all:2x2", "all:2x2,7");
        let error = super::records(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("record 1: "), "{error}");
    }
}
