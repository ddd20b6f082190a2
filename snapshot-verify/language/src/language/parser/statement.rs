//! Statements and blocks.
//!
//! A block is either the statements on the rest of the line, separated by `;`, or an indented
//! block. After an error the parser skips to the next line. It reads lines indented under the
//! failed one only to find more errors.

use super::{Message, Parsed, Parser, TokenKind};
use crate::language::Span;
use crate::language::diagnostic::message;
use crate::language::diagnostic::syntax::{nested_too_deep, unexpected_indentation};
use crate::language::tree::{Expression, ExpressionKind, Mark, Statement, StatementKind};

impl Parser<'_> {
    /// Parses the block after `:`, `repeat` or `loop`.
    pub(super) fn block(&mut self, opened_by: usize) -> Parsed<Vec<Statement>> {
        self.deeper(|parser| {
            if !parser.at(TokenKind::Newline) {
                return parser.inline_block(opened_by);
            }
            if parser.peek_at(1).kind != TokenKind::Indent {
                return Err(parser.missing_block(opened_by));
            }
            parser.next();
            parser.next();
            Ok(parser.statements())
        })
    }

    pub(super) fn missing_block(
        &mut self,
        opened_by: usize,
    ) -> crate::language::diagnostic::Reported {
        let span = self.since(opened_by);
        let after = self.source.slice(span).to_owned();
        let message =
            message!("missing-block", "expected an indented block or a statement after `{after}`")
                .label("a block must follow")
                .help("write `skip` if nothing is to be done");
        self.report(message, span)
    }

    /// Parses statements on one line, without the end of the line.
    fn inline_block(&mut self, opened_by: usize) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.eat(TokenKind::Semicolon) {}
            if self.at_block_end() {
                break;
            }
            statements.push(self.statement()?);
            if !self.at(TokenKind::Semicolon) {
                break;
            }
        }
        if statements.is_empty() {
            return Err(self.missing_block(opened_by));
        }
        Ok(statements)
    }

    fn at_block_end(&self) -> bool {
        self.peek().kind.is_layout()
            || matches!(self.peek().kind, TokenKind::Else | TokenKind::Until)
    }

    /// Parses the statements of an indented block, with its end.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            match self.peek().kind {
                TokenKind::Newline | TokenKind::Semicolon => {
                    self.next();
                }
                TokenKind::Dedent => {
                    self.next();
                    return statements;
                }
                TokenKind::End => return statements,
                TokenKind::Indent => {
                    let span = self.peek_at(1).span;
                    self.report(unexpected_indentation(), span);
                    self.recover();
                }
                _ => match self.statement().and_then(|statement| {
                    self.end_of_statement()?;
                    Ok(statement)
                }) {
                    Ok(statement) => statements.push(statement),
                    Err(_) => self.recover(),
                },
            }
        }
    }

    pub(super) fn end_of_statement(&mut self) -> Parsed<()> {
        let after_block = self
            .position
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .is_some_and(|token| token.kind == TokenKind::Dedent);
        let ends = matches!(
            self.peek().kind,
            TokenKind::Newline | TokenKind::Semicolon | TokenKind::Dedent | TokenKind::End
        );
        if ends || after_block {
            Ok(())
        } else {
            Err(self.unexpected("`;` or the end of the line"))
        }
    }

    /// Skips the rest of the line, and the `else` or `until` that can only belong to it. Lines
    /// indented under it are parsed for errors, and dropped.
    pub(super) fn recover(&mut self) {
        loop {
            while !self.peek().kind.is_layout() {
                self.next();
            }
            self.eat(TokenKind::Newline);
            if self.at(TokenKind::Indent) {
                self.next();
                if self.depth < Self::DEPTH {
                    self.depth += 1;
                    self.statements();
                    self.depth -= 1;
                } else {
                    self.skip_block();
                }
            }
            if !matches!(self.peek().kind, TokenKind::Else | TokenKind::Until) {
                return;
            }
        }
    }

    /// Skips to the end of a block, after its beginning.
    fn skip_block(&mut self) {
        let mut open = 1;
        while open > 0 && !self.at_end() {
            match self.next().kind {
                TokenKind::Indent => open += 1,
                TokenKind::Dedent => open -= 1,
                _ => {}
            }
        }
    }

    /// Returns true if the next symbol is the first of its line.
    fn begins_line(&self) -> bool {
        let last = self.position.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.is_none_or(|token| token.kind.is_layout())
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let begin = self.position;
        let begins_line = self.begins_line();
        let (kind, span) = match self.peek().kind {
            TokenKind::If => return self.choice(begin, begins_line),
            TokenKind::Repeat => return self.repeat(begin, begins_line),
            TokenKind::While => {
                self.next();
                let condition = self.expression()?;
                self.expect(TokenKind::Colon, "`:`")?;
                let span = self.since(begin);
                (StatementKind::While(condition, self.block(begin)?), span)
            }
            TokenKind::Loop => {
                self.next();
                self.eat(TokenKind::Colon);
                let span = self.since(begin);
                (StatementKind::Loop(self.block(begin)?), span)
            }
            TokenKind::For => {
                self.next();
                let range = self.range()?;
                self.expect(TokenKind::Colon, "`:`")?;
                let span = self.since(begin);
                (StatementKind::For(range, self.block(begin)?), span)
            }
            TokenKind::Atomic => {
                self.next();
                self.expect(TokenKind::Colon, "`:`")?;
                let span = self.since(begin);
                (StatementKind::Atomic(self.block(begin)?), span)
            }
            TokenKind::Exit => {
                self.next();
                (StatementKind::Exit, self.since(begin))
            }
            TokenKind::Skip => {
                self.next();
                (StatementKind::Skip, self.since(begin))
            }
            TokenKind::Return => {
                self.next();
                let nothing = self.at_block_end()
                    || matches!(self.peek().kind, TokenKind::Semicolon | TokenKind::Linearizes);
                let value = if nothing { None } else { Some(self.expression()?) };
                (StatementKind::Return(value), self.since(begin))
            }
            TokenKind::Local => {
                let span = self.peek().span;
                let message =
                    message!("late-local", "`local` after the first statement of the procedure")
                        .help("move the declaration to the top of the procedure");
                return Err(self.report(message, span));
            }
            TokenKind::Open => self.take_apart(begin)?,
            TokenKind::Name if self.at_foreign("elif") => {
                return Err(self.unexpected("`else if`"));
            }
            TokenKind::Name if self.at_foreign("foreach") => return Err(self.unexpected("`for`")),
            TokenKind::Name if self.at_foreign("end") => {
                return Err(self.unexpected("a statement"));
            }
            TokenKind::Name if self.at_word("free") && self.peek_at(1).kind == TokenKind::Name => {
                self.next();
                (StatementKind::Free(self.expression()?), self.since(begin))
            }
            TokenKind::Name if self.at_word("together") && self.is_last_of_statement() => {
                self.next();
                (StatementKind::Together, self.since(begin))
            }
            TokenKind::Name => self.assignment(begin)?,
            _ => return Err(self.unexpected("a statement")),
        };
        let mark = self.mark()?;
        Ok(Statement { kind, span, mark })
    }

    /// Returns true if the next symbol is this keyword of other languages, as opposed to a variable
    /// that is assigned or a procedure that is called.
    fn at_foreign(&self, word: &str) -> bool {
        use TokenKind as K;
        let taken = [K::Becomes, K::Equal, K::OpenBracket, K::Dot, K::Less];
        let call =
            self.peek_at(1).kind == K::Open && self.peek().span.end == self.peek_at(1).span.begin;
        self.at_word(word) && !call && !taken.contains(&self.peek_at(1).kind)
    }

    /// Returns true if the word `choose` and a set follow; otherwise `choose` is a name.
    fn at_choose(&self) -> bool {
        use TokenKind as K;
        self.at_word("choose") && matches!(self.peek_at(1).kind, K::Name | K::Number | K::N | K::Me)
    }

    /// Returns true if the statement ends after the next symbol.
    fn is_last_of_statement(&self) -> bool {
        let after = self.peek_at(1).kind;
        after.is_layout() || after == TokenKind::Semicolon
    }

    /// Parses `linearizes`, with its condition.
    fn mark(&mut self) -> Parsed<Option<Mark>> {
        let begin = self.position;
        if !self.eat(TokenKind::Linearizes) {
            return Ok(None);
        }
        let condition = self.eat(TokenKind::If).then(|| self.expression()).transpose()?;
        Ok(Some(Mark { span: self.since(begin), condition }))
    }

    /// Parses `PLACE := E`, or a call.
    fn assignment(&mut self, begin: usize) -> Parsed<(StatementKind, Span)> {
        let place = self.place()?;
        if self.eat(TokenKind::Becomes) {
            if self.at_choose() {
                self.next();
                let over = self.index_set()?;
                return Ok((StatementKind::Choose(place, over), self.since(begin)));
            }
            let value = self.expression()?;
            return Ok((StatementKind::Assign(place, value), self.since(begin)));
        }
        if self.at(TokenKind::Equal) {
            let span = self.peek().span;
            return Err(self.report(equal_assigns(), span));
        }
        if matches!(place.kind, ExpressionKind::Call(..)) {
            return Ok((StatementKind::Do(place), self.since(begin)));
        }
        match self.foreign_assignment() {
            Some((found, span)) => Err(self.reporter.expected("`:=`", found, span)),
            None => Err(self.unexpected("`:=`")),
        }
    }

    /// Returns the next two symbols if they assign in other languages.
    fn foreign_assignment(&self) -> Option<(&'static str, Span)> {
        use TokenKind as K;
        let (next, after) = (self.peek(), self.peek_at(1));
        let found = match (next.kind, after.kind) {
            (K::Less, K::Minus) => "`<-`",
            (K::Plus, K::Plus) => "`++`",
            (K::Minus, K::Minus) => "`--`",
            (K::Plus, K::Equal) => "`+=`",
            (K::Minus, K::Equal) => "`-=`",
            _ => return None,
        };
        (next.span.end == after.span.begin).then(|| (found, next.span.to(after.span)))
    }

    /// Parses the left side of `:=`, or a call.
    fn place(&mut self) -> Parsed<Expression> {
        self.expression_tighter_than(u8::MAX)
    }

    /// Parses `(PLACE, ..., _) := E`.
    fn take_apart(&mut self, begin: usize) -> Parsed<(StatementKind, Span)> {
        let open = self.next();
        let places = self.comma_separated(open, |parser| {
            if parser.eat(TokenKind::Underscore) { Ok(None) } else { parser.place().map(Some) }
        })?;
        if self.at(TokenKind::Equal) {
            let span = self.peek().span;
            return Err(self.report(equal_assigns(), span));
        }
        self.expect(TokenKind::Becomes, "`:=`")?;
        let value = self.expression()?;
        Ok((StatementKind::TakeApart(places, value), self.since(begin)))
    }

    fn repeat(&mut self, begin: usize, begins_line: bool) -> Parsed<Statement> {
        self.next();
        self.eat(TokenKind::Colon);
        let body = self.block(begin)?;
        if begins_line && self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Until {
            self.next();
        }
        let until = self.position;
        self.expect(TokenKind::Until, "`until` and the condition that ends the loop")?;
        let condition = self.expression()?;
        let span = self.since(until);
        let mark = self.mark()?;
        Ok(Statement { kind: StatementKind::Repeat(body, condition), span, mark })
    }

    fn choice(&mut self, begin: usize, begins_line: bool) -> Parsed<Statement> {
        self.next();
        let condition = self.expression()?;
        self.expect(TokenKind::Colon, "`:`")?;
        let span = self.since(begin);
        let mut arms = vec![(condition, self.block(begin)?)];
        let mut otherwise = None;
        while self.eat_else(begins_line) {
            let opened_by = self.position - 1;
            if self.eat(TokenKind::If) {
                if arms.len() == Self::DEPTH {
                    let limit = Self::DEPTH;
                    let span = self.since(opened_by);
                    return Err(self.report(nested_too_deep(limit), span));
                }
                let condition = self.expression()?;
                self.expect(TokenKind::Colon, "`:`")?;
                arms.push((condition, self.block(opened_by)?));
            } else {
                self.expect(TokenKind::Colon, "`:` or `if`")?;
                otherwise = Some(self.block(opened_by)?);
                break;
            }
        }
        Ok(Statement { kind: StatementKind::If(arms, otherwise), span, mark: None })
    }

    /// Consumes the `else` of an `if`: on its line, or, if the `if` began a line, on a line of its
    /// own. So a line that begins with `else` belongs to a line that begins with `if`.
    fn eat_else(&mut self, begins_line: bool) -> bool {
        if begins_line && self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Else {
            self.next();
        }
        if self.begins_line() && !begins_line {
            return false;
        }
        self.eat(TokenKind::Else)
    }
}

fn equal_assigns() -> Message {
    message!("equal-assigns", "`=` compares, it does not assign").help("write `:=` to assign")
}
