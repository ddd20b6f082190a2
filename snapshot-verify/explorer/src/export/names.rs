//! Identifiers of a model, for Promela and TLA+.

use std::collections::HashSet;

use crate::instance::Instance;

/// Words with underscores that Promela or a model itself uses. A slot name without underscore gets
/// one, so that it is neither a keyword (also of C) nor a macro of Spin.
const TAKEN: &[&str] = &[
    "bad_01",
    "bad_10",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "cond_expr",
    "d_proctype",
    "d_step",
    "get_priority",
    "invoked_i",
    "invoked_j",
    "needed_i",
    "needed_j",
    "np_",
    "ones_i",
    "ones_j",
    "pc_value",
    "returned_i",
    "returned_j",
    "set_priority",
];

/// The names of slots in a model.
#[derive(Debug)]
pub(super) struct Names {
    pub slots: Vec<String>,
}

impl Names {
    /// Creates distinct names that resemble the slots' names.
    pub fn new(instance: &Instance) -> Self {
        let mut taken: HashSet<String> = TAKEN.iter().map(|word| (*word).to_owned()).collect();
        let slots = instance.slots.iter().map(|slot| {
            let plain = identifier(&slot.name);
            let mut name = plain.clone();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                number += 1;
                name = format!("{plain}_{number}");
            }
            name
        });
        Self { slots: slots.collect() }
    }
}

/// Converts a name: `r_1_toggle` for `r[1].toggle`, `the_active` for `active`.
fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => identifier.push(character),
            _ if identifier.is_empty() || identifier.ends_with('_') => {}
            _ => identifier.push('_'),
        }
    }
    let identifier = identifier.trim_matches('_');
    let is_of_model =
        ["at_", "left_", "must_i_", "must_j_", "leave_", "invoke_", "respond_", "WF_", "SF_"]
            .iter()
            .any(|begin| identifier.starts_with(begin));
    let begins_well = identifier.starts_with(|first: char| first.is_ascii_alphabetic());
    if begins_well && !is_of_model && identifier.contains('_') {
        identifier.to_owned()
    } else {
        format!("the_{identifier}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_slot_names() {
        let cases = [
            ("r[1].toggle", "r_1_toggle"),
            ("p0.copy[2]", "p0_copy_2"),
            ("link X of p1", "link_X_of_p1"),
            ("at[0]", "the_at_0"),
            ("\u{e9}", "the_"),
            ("active", "the_active"),
            ("__x__", "the_x"),
            ("0_a", "the_0_a"),
        ];
        for (name, expected) in cases {
            assert_eq!(identifier(name), expected);
        }
    }
}
