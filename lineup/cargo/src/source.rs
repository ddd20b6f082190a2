//! Finds `thread_local!` of the compiler's own prelude.
//!
//! A bare `thread_local!` is resolved in the prelude of macros that the compiler injects,
//! which stays that of the real `std`: the threads of an execution, which are one thread of
//! the operating system, share its values. `std::thread_local!`, or the name after `use
//! std::thread_local`, is the stand-in's.

/// The lines, from 1, of a source text that use a bare `thread_local!`.
pub fn bare_thread_locals(text: &str) -> Vec<usize> {
    let code = without_comments(text);
    let mut imported = false;
    let mut lines = Vec::new();
    for (index, line) in code.lines().enumerate() {
        if line.contains("thread_local") && line.contains("use ") && !line.contains("thread_local!")
        {
            imported = true;
        }
        let mut rest = line;
        while let Some(at) = rest.find("thread_local!") {
            let before = rest[..at].trim_end();
            let part = |c: char| c == '_' || c.is_alphanumeric();
            if !before.ends_with("::") && !rest[..at].ends_with(part) {
                lines.push(index + 1);
            }
            rest = &rest[at + "thread_local!".len()..];
        }
    }
    if imported { Vec::new() } else { lines }
}

/// The text with blanks for comments; strings stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            depth += 1;
            2
        } else if depth > 0 && rest.starts_with("*/") {
            depth -= 1;
            2
        } else if depth == 0 && rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            if depth == 0 || letter == '\n' {
                out.push(letter);
            }
            letter.len_utf8()
        };
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::bare_thread_locals;

    #[test]
    fn bare_uses_are_found_and_others_are_not() {
        let bare = "use std::cell::Cell;\n\nthread_local! {\n    static A: Cell<u32> = 1;\n}\n";
        assert_eq!(bare_thread_locals(bare), [3]);
        assert_eq!(bare_thread_locals("mod a { thread_local!(static A: u8 = 1); }"), [1]);
        for other in [
            "std::thread_local! { static A: u8 = 1; }",
            "// thread_local! { }\n/* thread_local! /* */ thread_local! */ fn f() {}",
            "use std::thread_local;\nthread_local! { static A: u8 = 1; }",
            "my_thread_local! { }",
        ] {
            assert!(bare_thread_locals(other).is_empty(), "{other}");
        }
    }
}
