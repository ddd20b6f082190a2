//! Some of the objects of a recording, each judged separately to its own first violation.
//!
//! An object ends at the event that completes its violation, or that no history can have there: its
//! judge is freed, and its later events are only counted. So memory is that of the live objects,
//! and a few words for each ended one. The end of an object depends only on its own events, so
//! objects may be divided among shares in any way.

use std::collections::HashMap;

use snapshot_core::history::Declaration;

use super::answer::Answer;
use super::checkpoint::Ended;
use super::judge::{ErrorOf, EventOf};
use super::summary::{End, Standing};
use super::{CheckpointError, Judge, Saved, State};
use crate::format::{Format, JsonValue, Location, NamesSoFar};
use crate::judge::Options;
use crate::kind::SnapshotKind;
use crate::{InputError, Origins, Value};

/// For one of many objects, the number of events after which its past is cut off, where it can be.
const PART: usize = 1 << 6;

/// For one of many objects, the largest number of events kept for an argument.
const MOST_KEPT: usize = 1 << 16;

/// Objects of a recording, by key; of a recording without keys, one object without a key.
pub struct Partition<J> {
    format: Format,
    declaration: Declaration<Value>,
    names: NamesSoFar,
    options: Options,
    /// Number of events of an object after which its past is cut off, where it can be.
    part: usize,
    /// The largest number of events of an object that are kept for an argument.
    most_kept: usize,
    /// Start of the part of the input that is read.
    bytes: u64,
    lines: u64,
    objects: Vec<Object<J>>,
    numbers: HashMap<Option<Value>, usize>,
    /// The object of each key of the reader, by its number there.
    by_reader: Vec<usize>,
}

struct Object<J> {
    key: Option<Value>,
    stage: Stage<J>,
    /// Position of its event that was read last.
    last: Location,
    /// Number of events since the last cut at which a cut is tried. Grows where exact searches do
    /// not decide, so that these take a bounded part of the time.
    patience: usize,
    /// True if an exact search has found it linearizable, at the end of the input.
    is_decided: bool,
}

enum Stage<J> {
    Judged(Box<J>),
    Counted {
        ended: Ended,
        events: u64,
        /// Events before this position are counted already.
        from: Location,
    },
}

impl<J: Judge> Object<J> {
    fn judge(&self) -> Option<&J> {
        match &self.stage {
            Stage::Judged(judge) => Some(judge),
            Stage::Counted { .. } => None,
        }
    }

    fn events(&self) -> u64 {
        match &self.stage {
            Stage::Judged(judge) => judge.past().events + judge.events() as u64,
            Stage::Counted { events, .. } => *events,
        }
    }

    /// Cuts off its past, if no information is lost and the try is worthwhile.
    fn cut(
        &mut self,
        at: Location,
        part: usize,
        (format, options): (Format, &Options),
    ) -> Result<State, ErrorOf<J>> {
        let Stage::Judged(judge) = &mut self.stage else { return Ok(State::Fine) };
        let is_undecided = judge.state() == State::Undecided;
        if at.offset < judge.past().cut.offset || is_undecided && judge.events() < self.patience {
            return Ok(judge.state());
        }
        let state = judge.cut(at, format, options)?;
        let is_searched = state == State::Undecided && judge.pending() == 0;
        self.patience = if is_searched { 2 * judge.events() } else { part };
        Ok(state)
    }
}

impl<J: Judge> Partition<J> {
    /// As [`Self::new`], for a recording of many objects, with little memory for each.
    pub fn of_many(format: Format, declaration: Declaration<Value>, options: Options) -> Self {
        Self::new(format, declaration, options, (PART, MOST_KEPT))
    }

    /// Creates a share without events. Of `options`, the budgets of an exact search matter. The
    /// past of an object is cut off after `part` events, and `most_kept` are kept for an argument.
    pub fn new(
        format: Format,
        declaration: Declaration<Value>,
        options: Options,
        (part, most_kept): (usize, usize),
    ) -> Self {
        Self {
            format,
            declaration,
            names: NamesSoFar::default(),
            options,
            part,
            most_kept,
            bytes: 0,
            lines: 0,
            objects: Vec::new(),
            numbers: HashMap::new(),
            by_reader: Vec::new(),
        }
    }

    /// Sets the names of processes and segments, present and later, for texts.
    #[must_use]
    pub fn with_names(self, names: NamesSoFar) -> Self {
        Self { names, ..self }
    }

    /// Resumes an object of a checkpoint.
    ///
    /// # Errors
    /// If the saved state contradicts itself.
    pub fn resume(&mut self, saved: &Saved) -> Result<(), CheckpointError> {
        let stage = match &saved.ended {
            None => {
                let judge = J::resume(&self.declaration, saved).map_err(Into::into)?;
                Stage::Judged(Box::new(judge))
            }
            Some(ended) => {
                let from = Location { offset: saved.bytes, line: saved.lines + 1, column: 1 };
                Stage::Counted { ended: ended.clone(), events: saved.events, from }
            }
        };
        self.add(saved.key.as_ref().map(Value::from), stage, Location::START);
        Ok(())
    }

    /// Sets the bytes and lines of the whole input before the part that is read.
    pub fn begin_behind(&mut self, bytes: u64, lines: u64) {
        (self.bytes, self.lines) = (bytes, lines);
    }

    /// Sets the number of events after which the past of an object is cut off.
    pub fn cut_after(&mut self, events: usize) {
        self.part = events;
        self.objects.iter_mut().for_each(|object| object.patience = events);
    }

    fn add(&mut self, key: Option<Value>, mut stage: Stage<J>, last: Location) -> usize {
        if let Stage::Judged(judge) = &mut stage {
            judge.past_mut().most_kept = self.most_kept;
        }
        let number = self.objects.len();
        self.numbers.insert(key.clone(), number);
        self.objects.push(Object { key, stage, last, patience: self.part, is_decided: false });
        number
    }

    pub fn keys(&self) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter_map(|object| object.key.as_ref())
    }

    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Number of events so far, including those before a checkpoint.
    pub fn events(&self) -> u64 {
        self.objects.iter().map(Object::events).sum()
    }

    /// Number of operations of live objects that neither responded nor failed.
    pub fn pending(&self) -> u64 {
        self.objects.iter().filter_map(Object::judge).map(J::pending).sum()
    }

    /// Returns the undecided objects, in which values repeat.
    pub fn undecided(&self) -> impl Iterator<Item = usize> + '_ {
        let undecided = |object: &Object<J>| {
            object.judge().is_some_and(|judge| judge.state() == State::Undecided)
        };
        (0..self.objects.len()).filter(move |number| undecided(&self.objects[*number]))
    }

    /// Translates a position in the part that is read into one of the whole input.
    pub fn place(&self, location: Location) -> Location {
        let (line, offset) = (self.lines + location.line, self.bytes + location.offset);
        Location { line, offset, ..location }
    }

    /// Takes the next event, of the object with this key, which has this number in the reader.
    /// Returns the object, if it is violated: it must be [ended](Self::alarm) then.
    ///
    /// # Errors
    /// If no history can have this event here: the object must be ended, too ([`Self::refuse`]).
    pub fn observe(
        &mut self,
        key: Option<(usize, &Value)>,
        location: Location,
        event: &EventOf<'_, J>,
    ) -> Result<Option<usize>, ErrorOf<J>> {
        let at = self.place(location);
        let number = self.number(key, at)?;
        let object = &mut self.objects[number];
        let judge = match &mut object.stage {
            Stage::Judged(judge) => judge,
            Stage::Counted { events, from, .. } => {
                *events += u64::from(at.offset >= from.offset);
                return Ok(None);
            }
        };
        if at.offset < judge.past().cut.offset {
            return Ok(None);
        }
        if judge.events() >= object.patience {
            return self.observe_after_cut(number, at, event);
        }
        object.last = at;
        judge.observe(at, event)?;
        Ok((judge.state() == State::Violation).then_some(number))
    }

    /// Takes the next event of a live object whose past is to be cut off before.
    #[cold]
    fn observe_after_cut(
        &mut self,
        number: usize,
        at: Location,
        event: &EventOf<'_, J>,
    ) -> Result<Option<usize>, ErrorOf<J>> {
        let object = &mut self.objects[number];
        let found = object.cut(at, self.part, (self.format, &self.options))?;
        let Stage::Judged(judge) = &mut object.stage else { return Ok(None) };
        object.last = at;
        judge.observe(at, event)?;
        let is_violated = found == State::Violation || judge.state() == State::Violation;
        Ok(is_violated.then_some(number))
    }

    fn number(&mut self, key: Option<(usize, &Value)>, at: Location) -> Result<usize, ErrorOf<J>> {
        let index = key.map_or(0, |(index, _)| index);
        if let Some(number) = self.by_reader.get(index) {
            return Ok(*number);
        }
        // The reader numbers keys as they occur.
        let name = key.map(|(_, name)| name.clone());
        let number = match self.numbers.get(&name) {
            Some(number) => *number,
            None => {
                let mut judge = J::new(self.declaration.clone())?;
                judge.past_mut().cut = at;
                self.add(name, Stage::Judged(Box::new(judge)), at)
            }
        };
        self.by_reader.push(number);
        Ok(number)
    }

    /// Cuts off pasts where possible, if the next event of the input begins here. Returns the
    /// objects that an exact search finds violated. O(objects).
    ///
    /// # Errors
    /// Never, since admitted events contradict nothing.
    pub fn cut(&mut self, location: Location) -> Result<Vec<usize>, ErrorOf<J>> {
        let at = self.place(location);
        let mut violated = Vec::new();
        for (number, object) in self.objects.iter_mut().enumerate() {
            if object.cut(at, self.part, (self.format, &self.options))? == State::Violation {
                violated.push(number);
            }
        }
        Ok(violated)
    }

    /// As [`Self::cut`], except undecided objects, so that no search is run. O(objects).
    ///
    /// # Errors
    /// Never, since admitted events contradict nothing.
    pub fn cut_decided(&mut self, location: Location) -> Result<(), ErrorOf<J>> {
        let at = self.place(location);
        for object in &mut self.objects {
            if object.judge().is_some_and(|judge| judge.state() == State::Fine) {
                object.cut(at, self.part, (self.format, &self.options))?;
            }
        }
        Ok(())
    }

    /// Returns the objects at their last cuts, if the next event of the input begins here.
    pub fn save(&self, location: Location) -> Vec<Saved> {
        let at = self.place(location);
        let save = |object: &Object<J>| match &object.stage {
            Stage::Judged(judge) => judge.save(object.key.as_ref()),
            Stage::Counted { ended, events, from } => {
                let from = if from.offset > at.offset { *from } else { at };
                Saved {
                    key: object.key.as_ref().map(JsonValue::from),
                    bytes: from.offset,
                    lines: from.line - 1,
                    events: *events,
                    ended: Some(ended.clone()),
                    ..Saved::default()
                }
            }
        };
        self.objects.iter().map(save).collect()
    }

    /// Returns the exact answer for an object that has not ended.
    ///
    /// # Panics
    /// If it has ended.
    pub fn answer(&self, number: usize) -> Answer {
        let object = &self.objects[number];
        let judge = object.judge().expect("an object that has ended is judged no further");
        let past = judge.past();
        Answer {
            key: object.key.clone(),
            object: J::Kind::OBJECT,
            state: judge.state(),
            is_certain: judge.is_first(),
            last: object.last,
            events: judge.events(),
            before: past.events,
            cut: past.cut,
            most_kept: past.most_kept,
            judgement: judge
                .judgement(self.format, &self.options)
                .map(|judgement| judgement.named(self.names.get())),
        }
    }

    /// Ends a violated object, and returns its answer.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn alarm(&mut self, number: usize) -> Answer {
        let answer = self.answer(number);
        self.end_violated(number, &answer);
        answer
    }

    /// Judges an undecided object exactly, at the end of the input. Returns its answer, unless it
    /// is linearizable.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn judge_undecided(&mut self, number: usize) -> Option<Answer> {
        let answer = self.answer(number);
        match answer.code() {
            0 => {
                self.objects[number].is_decided = true;
                return None;
            }
            1 => self.end_violated(number, &answer),
            _ => {}
        }
        Some(answer)
    }

    /// Ends the object with this key in the reader, if there are keys, whose event here is refused.
    /// Returns the error, with its position in the whole input.
    ///
    /// # Errors
    /// The violation, if values repeat and an exact search finds that the object was violated
    /// before.
    pub fn refuse(
        &mut self,
        key: Option<(usize, &Value)>,
        location: Location,
        error: ErrorOf<J>,
    ) -> Result<InputError, Box<Answer>> {
        let error = J::Kind::refused(&Origins::default(), location, error, None)
            .with_offset(self.bytes, self.lines);
        let error = error.named(&self.names.get());
        let at = self.place(location);
        // If the object cannot exist, every event of it is refused.
        let Ok(number) = self.number(key, at) else { return Ok(error) };
        let is_undecided =
            self.objects[number].judge().is_some_and(|judge| judge.state() == State::Undecided);
        let violation = if is_undecided { self.judge_undecided(number) } else { None };
        let violation = violation.filter(|answer| answer.code() == 1);
        if violation.is_none() {
            let event = self.objects[number].events();
            let refused = Some(error.message());
            self.end(number, (event, at), false, refused);
        }
        if let Stage::Counted { events, .. } = &mut self.objects[number].stage {
            *events += 1;
        }
        violation.map_or(Ok(error), |answer| Err(Box::new(answer)))
    }

    fn end_violated(&mut self, number: usize, answer: &Answer) {
        self.end(number, answer.decided_at(), !answer.is_first(), None);
    }

    fn end(
        &mut self,
        number: usize,
        (event, place): (u64, Location),
        not_after: bool,
        refused: Option<String>,
    ) {
        let object = &mut self.objects[number];
        let Location { line, column, offset: bytes } = place;
        let ended = Ended { refused, event, line, column, bytes, not_after };
        let events = object.events();
        object.stage = Stage::Counted { ended, events, from: Location::START };
    }

    /// Returns the results of the objects, at the end of the input.
    pub fn standing(&self) -> Standing {
        let end = |object: &Object<J>| match &object.stage {
            Stage::Counted { ended, .. } => Some(End::Ended(ended.clone())),
            Stage::Judged(judge) => {
                let is_open = judge.state() == State::Undecided && !object.is_decided;
                is_open.then_some(End::Open)
            }
        };
        let ends = self.objects.iter().filter_map(|one| Some((one.key.clone(), end(one)?)));
        Standing {
            objects: self.objects.len() as u64,
            events: self.events(),
            pending: self.pending(),
            ends: ends.collect(),
        }
    }
}
