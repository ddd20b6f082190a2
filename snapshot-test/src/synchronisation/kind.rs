//! A kind of object, whatever the types of its operations.

use std::io::Read;

use snapshot_core::Names;
use snapshot_core::object::{Criterion, ObjectKind};

use super::certificate::{Certificate, Refuted, certify_by};
use super::error::ReadError;
use super::generate::{ObjectRecipe, ObjectRecipeError, Player};
use super::interface::{Interface, Nouns, Signature};
use super::judge::{Judgement, judge_by, settle_by, watch_by};
use super::object::Object;
use super::reader::Deed;
use super::recording::{Live, Pass, read};
use crate::Value;
use crate::format::{Backwards, Format};
use crate::judge::Options;

/// An [`Interface`] behind a pointer.
pub(crate) trait Kind {
    fn criterion(&self) -> Criterion;

    fn nouns(&self) -> Nouns;

    fn signatures(&self) -> &'static [Signature];

    fn judge(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Vec<Judgement>, ReadError>;

    fn judge_by_event(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Option<Vec<Judgement>>, ReadError>;

    fn watch(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        options: &Options,
        alarm: &mut dyn FnMut(Judgement) -> bool,
    ) -> Result<Vec<Judgement>, ReadError>;

    fn certify(
        &self,
        object: &Object,
        certificate: &Certificate,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
    ) -> Result<Result<(), Refuted>, ReadError>;

    /// Reads a recording, of several objects only the one with the key, if given, and passes its
    /// events on. Returns the names of processes, and times that contradict the order.
    fn copy(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        pass: &mut Pass<'_>,
    ) -> Result<(Names, Option<Backwards>), ReadError>;

    /// Returns the events of a recipe, each with its process.
    fn play(&self, recipe: &ObjectRecipe) -> Result<Box<Play<'_>>, ObjectRecipeError>;
}

/// The events of a recipe.
pub(crate) type Play<'k> = dyn Iterator<Item = Result<(usize, Deed), ObjectRecipeError>> + 'k;

impl<K: Interface> Kind for K {
    fn criterion(&self) -> Criterion {
        <K as ObjectKind>::CRITERION
    }

    fn nouns(&self) -> Nouns {
        K::NOUNS
    }

    fn signatures(&self) -> &'static [Signature] {
        Interface::signatures(self)
    }

    fn judge(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Vec<Judgement>, ReadError> {
        judge_by(self, object, input, format, key, options)
    }

    fn judge_by_event(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Option<Vec<Judgement>>, ReadError> {
        settle_by(self, object, input, format, key, options)
    }

    fn watch(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        options: &Options,
        alarm: &mut dyn FnMut(Judgement) -> bool,
    ) -> Result<Vec<Judgement>, ReadError> {
        watch_by(self, object, input, format, options, alarm)
    }

    fn certify(
        &self,
        object: &Object,
        certificate: &Certificate,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
    ) -> Result<Result<(), Refuted>, ReadError> {
        certify_by(self, object, certificate, input, format, key)
    }

    fn copy(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        pass: &mut Pass<'_>,
    ) -> Result<(Names, Option<Backwards>), ReadError> {
        let mut pass = |key: Option<&Value>, process: usize, deed: &Deed| pass(key, process, deed);
        let live = Live::Pass(&mut pass);
        let read = read(self, object, input, format, key, &Options::default(), live)?;
        let names = read.objects.into_iter().next().map(|one| one.names);
        Ok((names.unwrap_or_default(), read.backwards))
    }

    fn play(&self, recipe: &ObjectRecipe) -> Result<Box<Play<'_>>, ObjectRecipeError> {
        Ok(Box::new(Player::new(self, recipe)?))
    }
}
