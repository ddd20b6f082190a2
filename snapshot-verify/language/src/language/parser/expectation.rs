//! `bug` and `expect`.

use super::{Parsed, Parser, TokenKind};
use crate::language::Span;
use crate::language::bug::{Bug, Change, Edit, Quotation, Scope};
use crate::language::expectation::{Expectation, ExpectedVerdict, Freedom, Strength};
use crate::language::tree::Name;

impl Parser<'_> {
    /// Parses `bug NAME "DESCRIPTION":` and its edits.
    pub fn bug(&mut self) -> Parsed<Bug> {
        self.expect_word("bug", "`bug`")?;
        let name = self.name("a name for the bug")?;
        let (description, _) = self.quoted(TokenKind::String, "a description in double quotes")?;
        self.expect(TokenKind::Colon, "`:` and the edits")?;
        let mut edits = Vec::new();
        let indented = self.eat(TokenKind::Newline) && self.eat(TokenKind::Indent);
        while !self.at_end() && !self.at(TokenKind::Dedent) {
            if self.eat(TokenKind::Newline) || self.eat(TokenKind::Semicolon) {
                continue;
            }
            edits.push(self.edit()?);
            if !matches!(
                self.peek().kind,
                TokenKind::Newline | TokenKind::Semicolon | TokenKind::Dedent | TokenKind::End
            ) {
                return Err(self.unexpected("`;` or the end of the line"));
            }
        }
        if indented {
            self.eat(TokenKind::Dedent);
        }
        Ok(Bug { name, description, edits })
    }

    /// Parses an edit, such as `in WHERE, replace ... by ...`.
    fn edit(&mut self) -> Parsed<Edit> {
        self.expect(TokenKind::In, "`in`")?;
        let scope = if self.eat_word("shared") {
            Scope::Shared
        } else if self.eat_word("private") {
            Scope::Private
        } else {
            Scope::Procedure(self.name("the name of a procedure, `shared` or `private`")?)
        };
        self.expect(TokenKind::Comma, "`,`")?;
        let (target, change) = if self.eat_word("replace") {
            let target = self.quotation()?;
            self.expect_word("by", "`by`")?;
            (target, Change::Replace(self.quotation()?))
        } else if self.eat_word("delete") {
            (self.quotation()?, Change::Delete)
        } else if self.eat_word("insert") {
            let text = self.quotation()?;
            if self.eat_word("before") {
                (self.quotation()?, Change::Before(text))
            } else {
                self.expect_word("after", "`before` or `after`")?;
                (self.quotation()?, Change::After(text))
            }
        } else {
            return Err(self.unexpected("`replace`, `delete` or `insert`"));
        };
        Ok(Edit { scope, target, change })
    }

    fn quotation(&mut self) -> Parsed<Quotation> {
        let (_, span) = self.quoted(TokenKind::Quote, "a text between backquotes")?;
        Ok(Quotation { span })
    }

    /// `expect [BUG,] every n: VERDICT`, or `expect [BUG,] n = N [, size S] [, pair I,J]
    /// [, operations B] [, full, values K] [, updater P]: VERDICT`. The verdict may be `[not]
    /// [write] strongly linearizable`, or `[OPERATION] [not] LEVEL`, of wait-freedom with `, A
    /// accesses`; then B may be a list in parentheses.
    pub fn expectation(&mut self) -> Parsed<Expectation> {
        let begin = self.position;
        self.expect_word("expect", "`expect`")?;
        let mut bug = None;
        let mut clauses = Clauses::default();
        if self.at(TokenKind::Name) {
            let name = self.name("the name of a bug, or `every n`")?;
            clauses.every = name.text == "every" && self.at(TokenKind::N);
            if !clauses.every {
                bug = Some(name);
                self.expect(TokenKind::Comma, "`,`")?;
                clauses.every = self.eat_word("every");
            }
        }
        self.expect(TokenKind::N, "`n =` and the number of processes")?;
        let processes = match clauses.every {
            true => (2, self.since(begin)),
            false => {
                self.expect(TokenKind::Equal, "`=`")?;
                self.clause("the number of processes")?
            }
        };
        while !clauses.every && self.eat(TokenKind::Comma) {
            if self.eat_word("pair") {
                let (i, first) = self.clause("the number of a segment")?;
                self.expect(TokenKind::Comma, "`,`")?;
                let (j, second) = self.clause("the number of a segment")?;
                clauses.pair = Some((i, j, first.to(second)));
            } else if self.eat_word("operations") {
                if self.at(TokenKind::Open) {
                    clauses.each = Some(self.bound_of_each()?);
                    continue;
                }
                clauses.operations = Some(self.clause("the number of operations per process")?);
            } else if self.eat_word("full") {
                self.expect(TokenKind::Comma, "`,`")?;
                self.expect_word("values", "`values` and their number")?;
                clauses.values = Some(self.clause("the number of values")?);
            } else if self.eat_word("size") {
                clauses.size = Some(self.clause("the number that `size` stands for")?);
            } else if self.eat_word("updater") {
                clauses.updater = Some(self.clause("the number of a process")?);
            } else {
                return Err(self.unexpected("`size`, `pair`, `operations`, `full` or `updater`"));
            }
        }
        self.expect(TokenKind::Colon, "`,` or `:`")?;
        let verdict = self.verdict()?;
        let span = self.since(begin);
        self.end_of_line()?;
        Ok(self.checked_expectation(bug, processes, clauses, verdict, span))
    }

    /// Parses `(B0, B1, ...)`.
    fn bound_of_each(&mut self) -> Parsed<(Vec<u32>, Span)> {
        let begin = self.position;
        self.expect(TokenKind::Open, "`(`")?;
        let mut each = vec![self.clause("the number of operations of a process")?.0];
        while self.eat(TokenKind::Comma) {
            each.push(self.clause("the number of operations of a process")?.0);
        }
        self.expect(TokenKind::Close, "`,` or `)`")?;
        Ok((each, self.since(begin)))
    }

    fn clause(&mut self, expected: &'static str) -> Parsed<(u32, Span)> {
        let span = self.peek().span;
        Ok((self.number(expected)? as u32, span))
    }

    /// Parses `[not] [write] strongly linearizable`, if it is next.
    fn strong(&mut self) -> Parsed<Option<ExpectedVerdict>> {
        let at = usize::from(self.at(TokenKind::Not));
        let is_word = |ahead, word| {
            let token = self.peek_at(ahead);
            token.kind.is_word() && self.source.slice(token.span) == word
        };
        let strength = match is_word(at, "strongly") {
            true => Strength::All,
            false if is_word(at, "write") && is_word(at + 1, "strongly") => Strength::Writes,
            false => return Ok(None),
        };
        let is_not = self.eat(TokenKind::Not);
        let _ = self.eat_word("write");
        self.expect_word("strongly", "`strongly`")?;
        self.expect_word("linearizable", "`linearizable`")?;
        let verdict = if is_not { ExpectedVerdict::NotStrong } else { ExpectedVerdict::Strong };
        Ok(Some(verdict(strength)))
    }

    /// Parses a verdict, after the name of an operation if its progress is meant.
    fn verdict(&mut self) -> Parsed<(Option<Name>, ExpectedVerdict, Option<u32>)> {
        const EXPECTED: &str = "`linearizable`, `violation`, `fault`, `no proof`, `strongly \
                                linearizable`, `wait-free`, or another level of progress";
        if self.eat_word("linearizable") {
            return Ok((None, ExpectedVerdict::Linearizable, None));
        }
        if self.eat_word("violation") {
            return Ok((None, ExpectedVerdict::Violation, None));
        }
        if self.eat_word("fault") {
            return Ok((None, ExpectedVerdict::Fault, None));
        }
        if self.eat_word("no") {
            self.expect_word("proof", "`proof`")?;
            return Ok((None, ExpectedVerdict::NoProof, None));
        }
        if let Some(strong) = self.strong()? {
            return Ok((None, strong, None));
        }
        let is_level = Freedom::ALL.iter().any(|level| self.at_word(level.word()));
        let mut operation = None;
        let is_followed = matches!(self.peek_at(1).kind, TokenKind::Name | TokenKind::Not);
        if self.at(TokenKind::Name) && is_followed && !is_level {
            operation = Some(self.name(EXPECTED)?);
        }
        let is_not = self.eat(TokenKind::Not);
        let Some(level) = Freedom::ALL.into_iter().find(|level| self.eat_word(level.word())) else {
            return Err(self.unexpected(EXPECTED));
        };
        self.expect(TokenKind::Minus, "`-free`")?;
        self.expect_word("free", "`free`")?;
        let verdict =
            if is_not { ExpectedVerdict::NotFree(level) } else { ExpectedVerdict::Free(level) };
        let is_counted = verdict == ExpectedVerdict::Free(Freedom::Wait) && operation.is_some();
        let mut accesses = None;
        if is_counted && self.eat(TokenKind::Comma) {
            accesses = Some(self.clause("the most accesses of the operation")?.0);
            if !self.eat_word("access") {
                self.expect_word("accesses", "`accesses`")?;
            }
        }
        Ok((operation, verdict, accesses))
    }
}

/// Clauses of an `expect` line other than n, with their spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clauses {
    pub every: bool,
    pub size: Option<(u32, Span)>,
    pub pair: Option<(u32, u32, Span)>,
    pub operations: Option<(u32, Span)>,
    pub each: Option<(Vec<u32>, Span)>,
    pub values: Option<(u32, Span)>,
    pub updater: Option<(u32, Span)>,
}
