//! Finds `thread_local!` of the compiler's own prelude.
//!
//! A bare `thread_local!` is resolved in the prelude of macros that the compiler injects, which
//! stays the real `std`'s: the threads of an execution, which are one thread of the operating
//! system, share its values. `std::thread_local!`, or the name after `use std::thread_local`, is
//! the stand-in's.

/// Returns the lines, from 1, of a source text that use a bare `thread_local!`, outside test
/// modules.
pub fn bare_thread_locals(text: &str) -> Vec<usize> {
    let code = without_comments(text);
    let code: Vec<&str> = code.lines().collect();
    let mut imported = false;
    let mut lines = Vec::new();
    let mut index = 0;
    while index < code.len() {
        index += test_module(&code[index..]);
        let Some(&line) = code.get(index) else { break };
        index += 1;
        if line.contains("thread_local") && line.contains("use ") && !line.contains("thread_local!")
        {
            imported = true;
        }
        let mut rest = line;
        while let Some(at) = rest.find("thread_local!") {
            let before = rest[..at].trim_end();
            let part = |c: char| c == '_' || c.is_alphanumeric();
            if !before.ends_with("::") && !rest[..at].ends_with(part) {
                lines.push(index);
            }
            rest = &rest[at + "thread_local!".len()..];
        }
    }
    if imported || text.contains("macro_rules! thread_local") { Vec::new() } else { lines }
}

/// Returns a source text in which the bare `thread_local!` of some lines are those of `std`.
pub fn with_paths(text: &str, lines: &[usize]) -> String {
    let line = |(index, line): (usize, &str)| {
        if !lines.contains(&(index + 1)) {
            return line.to_owned();
        }
        let mut parts = line.split("thread_local!");
        let mut changed = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let is_path = changed.trim_end().ends_with("::")
                || changed.ends_with(|c: char| c == '_' || c.is_alphanumeric());
            changed.push_str(if is_path { "thread_local!" } else { "::std::thread_local!" });
            changed.push_str(part);
        }
        changed
    };
    text.split_inclusive('\n').enumerate().map(line).collect()
}

/// Returns the number of lines of the module of tests that begins here, if any, in the usual
/// format: from `#[cfg(test)]` to the first brace at the beginning of a line. A module in another
/// format counts as part of the program.
fn test_module(lines: &[&str]) -> usize {
    let begins = lines.first().is_some_and(|line| line.trim_end() == "#[cfg(test)]")
        && lines.get(1).is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
    if !begins {
        return 0;
    }
    let is_outside = |line: &&str| line.starts_with(|c: char| !c.is_whitespace());
    let end = lines.iter().skip(2).position(is_outside).map(|inside| inside + 2);
    end.filter(|end| lines[*end].trim_end() == "}").map_or(0, |end| end + 1)
}

/// Returns the text with blanks for comments; strings stay.
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
    use super::{bare_thread_locals, with_paths};

    #[test]
    fn bare_thread_locals_get_a_path() {
        let text = "thread_local! { }\nstd::thread_local!();\n  mod a { thread_local!() } // é\n";
        let lines = bare_thread_locals(text);
        assert_eq!(lines, [1, 3]);
        let changed = "::std::thread_local! { }\nstd::thread_local!();\n  mod a { ::std::thread_local!() } // é\n";
        assert_eq!(with_paths(text, &lines), changed);
        assert!(bare_thread_locals(changed).is_empty());
    }

    #[test]
    fn only_bare_thread_locals_are_found() {
        let bare = "use std::cell::Cell;\n\nthread_local! {\n    static A: Cell<u32> = 1;\n}\n";
        assert_eq!(bare_thread_locals(bare), [3]);
        assert_eq!(bare_thread_locals("mod a { thread_local!(static A: u8 = 1); }"), [1]);
        let test = "#[cfg(test)]\nmod tests {\n    thread_local!(static A: u8 = 1);\n";
        assert!(bare_thread_locals(&format!("{test}}}\n")).is_empty());
        assert_eq!(bare_thread_locals(&format!("{test}}}\n{bare}")), [7]);
        // The module may not end where it seems to.
        assert_eq!(bare_thread_locals(&format!("{test}  }}\nfn f() {{\n}}\n")), [3]);
        assert_eq!(bare_thread_locals(test), [3]);
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
