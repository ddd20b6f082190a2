//! A kind of object, whatever the types of its operations.

use std::io::Read;

use snapshot_core::object::{Criterion, ObjectKind};

use super::certificate::{Certificate, Refuted, certify_by};
use super::error::ReadError;
use super::interface::{Interface, Nouns};
use super::judge::{Judgement, judge_by, watch_by};
use super::object::Object;
use crate::Value;
use crate::format::Format;
use crate::judge::Options;

/// An [`Interface`] behind a pointer.
pub(super) trait Kind {
    fn criterion(&self) -> Criterion;

    fn nouns(&self) -> Nouns;

    fn judge(
        &self,
        object: &Object,
        input: &mut dyn Read,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<Vec<Judgement>, ReadError>;

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
}

impl<K: Interface> Kind for K {
    fn criterion(&self) -> Criterion {
        <K as ObjectKind>::CRITERION
    }

    fn nouns(&self) -> Nouns {
        K::NOUNS
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
}
