//! The raw members of a JSON text, with their positions.
//!
//! serde returns the values of a text, but neither the positions nor the digits of its numbers.
//! This module finds both, in a text that serde has accepted: it relies on the syntax and checks
//! nothing.

use std::ops::Range;

/// An element of an array, or a member of an object: the bytes of its name, if it has one, and of
/// its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: Option<Range<usize>>,
    pub(crate) value: Range<usize>,
}

/// Returns the elements of the array or the members of the object `text`, in order; empty for any
/// other value. The text is valid JSON. O(n) for n bytes.
pub(crate) fn members(text: &str) -> Vec<Member> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, 0);
    let is_object = match bytes.get(at) {
        Some(b'{') => true,
        Some(b'[') => false,
        _ => return Vec::new(),
    };
    let mut members = Vec::new();
    at = blanks(bytes, at + 1);
    while !matches!(bytes.get(at), None | Some(b'}' | b']')) {
        let mut name = None;
        if is_object {
            let end = value(bytes, at);
            name = Some(at..end);
            // After the colon.
            at = blanks(bytes, blanks(bytes, end) + 1);
        }
        let end = value(bytes, at);
        members.push(Member { name, value: at..end });
        at = blanks(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = blanks(bytes, at + 1);
        }
    }
    members
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the end of the value that begins at a byte.
fn value(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => at = string(bytes, at),
            Some(b'[' | b'{') => {
                depth += 1;
                at += 1;
            }
            Some(b']' | b'}') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            Some(_) if depth > 0 => {
                at += 1;
                continue;
            }
            Some(_) => {
                let is_part = |byte: &&u8| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}' | b':')
                };
                at += bytes[at..].iter().take_while(is_part).count().max(1);
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

/// Returns the end of the string that begins at a byte.
fn string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_their_positions() {
        let text = r#" {"a\"}" : [1,{"b":"]"}] ,"c":-1.50, "d" :{}}"#;
        let shown: Vec<_> = members(text)
            .into_iter()
            .map(|member| (&text[member.name.expect("it is an object")], &text[member.value]))
            .collect();
        assert_eq!(shown, [(r#""a\"}""#, r#"[1,{"b":"]"}]"#), ("\"c\"", "-1.50"), ("\"d\"", "{}")]);
        let text = r#"["x\\",null,[],3 ]"#;
        let shown: Vec<_> = members(text).into_iter().map(|member| &text[member.value]).collect();
        assert_eq!(shown, [r#""x\\""#, "null", "[]", "3"]);
        assert_eq!(members("[ ]"), []);
        assert_eq!(members("7"), []);
    }
}
