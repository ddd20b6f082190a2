//! Names: the identity of processes and segments, where a recording has no numbers for them.
//!
//! A recording has names for all its processes or for none, and for all its segments or for none.
//! It declares them in its header, or, in JSON Lines, they are numbered in the order in which they
//! first occur. Events have numbers only; the table is for readers of names, and for texts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use snapshot_core::{IdError, Names, Process, Segment};

use super::error::{Found, ReadErrorKind};

/// A kind of thing that has names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Process,
    Segment,
}

impl Kind {
    /// Returns `process` or `segment`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Segment => "segment",
        }
    }

    /// Returns `processes` or `segments`.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Process => "processes",
            Self::Segment => "segments",
        }
    }

    const fn limit(self) -> usize {
        match self {
            Self::Process => Process::LIMIT,
            Self::Segment => Segment::LIMIT,
        }
    }
}

/// The names of a recording, present and later: clones share one table, to which a reader adds.
#[derive(Clone, Debug, Default)]
pub struct NamesSoFar(Arc<Mutex<Names>>);

impl NamesSoFar {
    /// Returns the names that are known now.
    pub fn get(&self) -> Names {
        self.with(|names| names.clone())
    }

    /// Passes the names that are known now to `use_them`, without a copy.
    pub(crate) fn with<T>(&self, use_them: impl FnOnce(&mut Names) -> T) -> T {
        use_them(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<Names> for NamesSoFar {
    fn from(names: Names) -> Self {
        Self(Arc::new(Mutex::new(names)))
    }
}

/// The identity of the processes, or of the segments, of a recording.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Manner {
    /// Neither a number nor a name has occurred.
    #[default]
    Open,
    /// Numbers, since this line.
    Numbers(u64),
    /// Names, numbered as they occur, since this line.
    Names(u64),
    /// The names that the header declares.
    Declared(u64),
}

/// The names of one kind.
#[derive(Debug)]
struct Table {
    kind: Kind,
    manner: Manner,
    numbers: HashMap<Box<str>, u32>,
}

impl Table {
    fn new(kind: Kind) -> Self {
        Self { kind, manner: Manner::Open, numbers: HashMap::new() }
    }

    /// Takes the number of a thing in a line.
    #[inline]
    fn number(&mut self, number: u64, line: u64) -> Result<(), ReadErrorKind> {
        match self.manner {
            Manner::Numbers(_) => Ok(()),
            Manner::Open => {
                self.manner = Manner::Numbers(line);
                Ok(())
            }
            Manner::Names(first) | Manner::Declared(first) => {
                let found = Found::new(&number.to_string());
                Err(ReadErrorKind::NumberAmongNames { kind: self.kind, found, first })
            }
        }
    }
}

/// The names of a recording, as its reader knows them.
#[derive(Debug)]
pub(crate) struct Naming {
    processes: Table,
    segments: Table,
    so_far: NamesSoFar,
}

impl Default for Naming {
    fn default() -> Self {
        Self {
            processes: Table::new(Kind::Process),
            segments: Table::new(Kind::Segment),
            so_far: NamesSoFar::default(),
        }
    }
}

impl Naming {
    /// Returns the table of a recording that is read from its middle on, with the names of the part
    /// before. `are_declared`: the names of processes, of segments, that its header declares.
    pub fn resumed(names: Names, are_declared: (bool, bool)) -> Self {
        let mut naming = Self::default();
        let parts = [
            (&mut naming.processes, names.processes(), are_declared.0),
            (&mut naming.segments, names.segments(), are_declared.1),
        ];
        for (table, names, is_declared) in parts {
            let numbered = names.iter().zip(0..);
            table.numbers = numbered.map(|(name, number)| (name.clone(), number)).collect();
            table.manner = match (names.is_empty(), is_declared) {
                (true, _) => Manner::Open,
                (false, true) => Manner::Declared(1),
                (false, false) => Manner::Names(1),
            };
        }
        naming.so_far = NamesSoFar::from(names);
        naming
    }

    pub fn so_far(&self) -> NamesSoFar {
        self.so_far.clone()
    }

    /// Returns true if the header declares the names of processes, of segments.
    pub fn are_declared(&self) -> (bool, bool) {
        let is = |table: &Table| matches!(table.manner, Manner::Declared(_));
        (is(&self.processes), is(&self.segments))
    }

    /// Returns true if further names may occur.
    pub fn is_open(&self) -> bool {
        let is = |table: &Table| !matches!(table.manner, Manner::Declared(_) | Manner::Numbers(_));
        is(&self.processes) || is(&self.segments)
    }

    /// Returns the number of segments, if their names are declared.
    pub fn declared_segments(&self) -> Option<usize> {
        self.are_declared().1.then_some(self.segments.numbers.len())
    }

    fn table(&mut self, kind: Kind) -> &mut Table {
        match kind {
            Kind::Process => &mut self.processes,
            Kind::Segment => &mut self.segments,
        }
    }

    /// Returns true if this kind has numbers, as far as is known.
    #[inline]
    pub const fn has_numbers(&self, kind: Kind) -> bool {
        let table = match kind {
            Kind::Process => &self.processes,
            Kind::Segment => &self.segments,
        };
        matches!(table.manner, Manner::Numbers(_))
    }

    /// Returns true if this kind has names.
    pub const fn is_named(&self, kind: Kind) -> bool {
        let table = match kind {
            Kind::Process => &self.processes,
            Kind::Segment => &self.segments,
        };
        matches!(table.manner, Manner::Names(_) | Manner::Declared(_))
    }

    /// Declares that a kind has names, which are numbered as they occur.
    pub fn open(&mut self, kind: Kind, line: u64) {
        self.table(kind).manner = Manner::Names(line);
    }

    /// Declares the names of a kind, in the order of their numbers.
    pub fn declare(
        &mut self,
        kind: Kind,
        names: Vec<Box<str>>,
        line: u64,
    ) -> Result<(), ReadErrorKind> {
        self.table(kind).manner = Manner::Names(line);
        for name in names {
            if self.table(kind).numbers.contains_key(&name) {
                let found = Found::new(&name);
                return Err(ReadErrorKind::NameTwice { kind, found, first: line });
            }
            self.name(kind, &name, line)?;
        }
        self.table(kind).manner = Manner::Declared(line);
        Ok(())
    }

    /// Takes the number of a thing in a line.
    #[inline]
    pub fn number(&mut self, kind: Kind, number: u64, line: u64) -> Result<(), ReadErrorKind> {
        self.table(kind).number(number, line)
    }

    /// Returns the number of a thing that has this name in a line.
    pub fn name(&mut self, kind: Kind, name: &str, line: u64) -> Result<u64, ReadErrorKind> {
        let table = self.table(kind);
        if let Some(number) = table.numbers.get(name) {
            return Ok(u64::from(*number));
        }
        let found = || Found::new(name);
        match table.manner {
            Manner::Open => table.manner = Manner::Names(line),
            Manner::Names(_) => {}
            Manner::Numbers(first) => {
                return Err(ReadErrorKind::NameAmongNumbers { kind, found: found(), first });
            }
            Manner::Declared(first) => {
                return Err(ReadErrorKind::Undeclared { kind, found: found(), first });
            }
        }
        let number = table.numbers.len();
        if number > kind.limit() {
            return Err(ReadErrorKind::TooManyNames { kind, limit: kind.limit() + 1 });
        }
        table.numbers.insert(name.into(), number as u32);
        self.so_far.with(|names| match kind {
            Kind::Process => names.push_process(name),
            Kind::Segment => names.push_segment(name),
        });
        Ok(number as u64)
    }

    /// Gives each segment the name of its process, unless segments have names.
    pub fn name_own_segments(&mut self, line: u64) -> Result<(), ReadErrorKind> {
        if !self.are_declared().0 || self.is_named(Kind::Segment) {
            return Ok(());
        }
        let names = self.so_far.with(|names| names.processes().to_vec());
        self.segments.manner = Manner::Open;
        self.declare(Kind::Segment, names, line)
    }

    /// Returns the segment of a process's own: the one with its number, or with its name.
    pub fn own(&mut self, process: Process, line: u64) -> Result<u64, ReadErrorKind> {
        if !self.is_named(Kind::Process) {
            let number = process.index() as u64;
            return self.number(Kind::Segment, number, line).map(|()| number);
        }
        let name = self.so_far.with(|names| names.processes()[process.index()].clone());
        self.name(Kind::Segment, &name, line)
    }
}

/// Names that header lines declare one by one, in any order.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    processes: List,
    segments: List,
}

/// Names by number, each with the line that declares it.
#[derive(Debug, Default)]
struct List {
    names: Vec<Option<(Box<str>, u64)>>,
    lines: HashMap<Box<str>, u64>,
}

impl Declared {
    /// Takes the name of a number, of a header line.
    pub fn add(
        &mut self,
        kind: Kind,
        number: usize,
        name: &str,
        line: u64,
    ) -> Result<(), ReadErrorKind> {
        let List { names, lines } = match kind {
            Kind::Process => &mut self.processes,
            Kind::Segment => &mut self.segments,
        };
        if let Some(Some((other, first))) = names.get(number) {
            let (found, first) = (Found::new(other), *first);
            return Err(ReadErrorKind::NamedTwice { kind, number, found, first });
        }
        if let Some(first) = lines.insert(name.into(), line) {
            return Err(ReadErrorKind::NameTwice { kind, found: Found::new(name), first });
        }
        if names.len() <= number {
            names.resize(number + 1, None);
        }
        names[number] = Some((name.into(), line));
        Ok(())
    }

    /// Declares all names. `sizes`: the declared numbers of processes, of segments.
    pub fn finish(
        self,
        sizes: (Option<usize>, Option<usize>),
        naming: &mut Naming,
    ) -> Result<(), ReadErrorKind> {
        let parts = [
            (Kind::Process, self.processes.names, sizes.0),
            (Kind::Segment, self.segments.names, sizes.1),
        ];
        for (kind, list, size) in parts {
            if list.is_empty() {
                continue;
            }
            let count = size.unwrap_or(list.len());
            let missing = (0..count).find(|number| !matches!(list.get(*number), Some(Some(_))));
            if let Some(number) = missing.or((list.len() > count).then_some(count)) {
                return Err(match missing {
                    Some(_) => ReadErrorKind::Unnamed { kind, number },
                    None => ReadErrorKind::NameBeyond { kind, number, size: count },
                });
            }
            let names = list.into_iter().flatten();
            let line = names.clone().map(|(_, line)| line).min().unwrap_or(1);
            naming.declare(kind, names.map(|(name, _)| name).collect(), line)?;
        }
        Ok(())
    }
}

/// Returns the identifier for a number, or the reason why there is none.
pub(crate) fn id<T>(id: Result<T, IdError>, given: u64) -> Result<T, ReadErrorKind> {
    id.map_err(|error| ReadErrorKind::id_out_of_range(error, &given.to_string()))
}
