//! Comments of a generated recording.

use corpus::Expected;
use corpus::generate::{Exchanges, ManyWriters, Recipe, Style};
use snapshot_test::format::Object;
use snapshot_test::generate::{about, about_exchanges, about_many};
use snapshot_test::synchronisation::ObjectRecipe;

use super::{Generate, Plan};

impl Generate {
    /// Returns the expected answer, a description, and the command that prints these events again.
    pub(super) fn comments(&self, plan: &Plan) -> [String; 3] {
        let (expected, about, mut command) = match plan {
            Plan::Single(recipe) => {
                (recipe.expected().to_string(), about(recipe), self.command(recipe))
            }
            Plan::Many(recipe) => {
                (recipe.expected().to_string(), about_many(recipe), self.command_of_many(recipe))
            }
            Plan::Exchanges(recipe) => {
                let expected = match recipe.expected() {
                    Expected::Linearizable => Object::Immediate.criterion().to_owned(),
                    violation @ Expected::Violation { .. } => violation.to_string(),
                };
                (expected, about_exchanges(recipe), self.command_of_exchanges(recipe))
            }
            Plan::Object(recipe) => {
                let is_correct = recipe.is_correct();
                let expected = if is_correct { recipe.object.criterion() } else { "violation" };
                (expected.to_owned(), recipe.about(), self.command_of_object(recipe))
            }
        };
        if let Some(violation) = &self.violation {
            command += &format!(" --violation {violation}");
        }
        if self.twin {
            command += " --twin";
        }
        [format!("expect: {expected}"), format!("about: {about}"), format!("recipe: {command}")]
    }

    /// Returns the command that runs this recipe, but for its violation.
    fn command(&self, recipe: &Recipe) -> String {
        let mut command = format!(
            "snapshot-test generate --processes {} --segments {} --operations {} --style {}",
            recipe.processes,
            recipe.segments,
            recipe.operations,
            self.style.name()
        );
        match recipe.style {
            Style::Simple { i, j } => command += &format!(" --pair {i},{j}"),
            Style::Differentiated => {}
            Style::SmallDomain(values) => command += &format!(" --values {values}"),
        }
        command += &format!(
            " --scans {} --pending {} --seed {}",
            recipe.scan_fraction, recipe.pending, recipe.seed
        );
        command
    }

    fn command_of_many(&self, recipe: &ManyWriters) -> String {
        let mut command = format!(
            "snapshot-test generate --writers many --processes {} --segments {} --operations {} \
             --scans {} --gaps {} --pending {} --seed {}",
            recipe.processes,
            recipe.segments,
            recipe.operations,
            recipe.scan_fraction,
            recipe.gaps,
            recipe.pending,
            recipe.seed
        );
        if let Some(values) = recipe.values {
            command += &format!(" --style small-domain --values {values}");
        }
        command
    }

    fn command_of_exchanges(&self, recipe: &Exchanges) -> String {
        format!(
            "snapshot-test generate --object immediate --processes {} --operations {} --pending \
             {} --failures {} --seed {}",
            recipe.processes, recipe.operations, recipe.pending, recipe.failures, recipe.seed
        )
    }

    fn command_of_object(&self, recipe: &ObjectRecipe) -> String {
        let mut command = format!(
            "snapshot-test generate --object {} --processes {} --operations {} --pending {} \
             --failures {} --seed {}",
            recipe.object,
            recipe.processes,
            recipe.operations,
            recipe.pending,
            recipe.failures,
            recipe.seed
        );
        if let Some(initial) = &self.initial {
            command += &format!(" --initial {initial}");
        }
        if let Some(values) = recipe.values {
            command += &format!(" --style small-domain --values {values}");
        }
        if !recipe.only.is_empty() {
            command += &format!(" --only {}", recipe.only.join(","));
        }
        command
    }
}
