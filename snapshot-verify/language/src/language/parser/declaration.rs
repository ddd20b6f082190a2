//! Declarations: of variables, types and procedures.

use super::{Parsed, Parser, TokenKind};
use crate::language::tree::{
    Cell, Indices, Name, Procedure, TypeDeclaration, TypeExpression, Variable,
};

impl Parser<'_> {
    /// `algorithm NAME`.
    pub fn header(&mut self) -> Parsed<Name> {
        self.expect_word("algorithm", "`algorithm`")?;
        let name = self.name("the name of the algorithm")?;
        self.end_of_line()?;
        Ok(name)
    }

    /// `source "..."`.
    pub fn citation(&mut self) -> Parsed<String> {
        self.expect_word("source", "`source`")?;
        let (text, _) = self.quoted(TokenKind::String, "a string in double quotes")?;
        self.end_of_line()?;
        Ok(text)
    }

    /// `type NAME = TYPE`.
    pub fn type_declaration(&mut self) -> Parsed<TypeDeclaration> {
        self.expect_word("type", "`type`")?;
        let name = self.name("a name for the type")?;
        self.expect(TokenKind::Equal, "`=`")?;
        let content = self.type_expression()?;
        self.end_of_line()?;
        Ok(TypeDeclaration { name, content })
    }

    /// `shared NAME[INDEX]...: [llsc | cas] TYPE [:= E]`.
    pub fn shared(&mut self) -> Parsed<Variable> {
        self.expect_word("shared", "`shared`")?;
        let (name, dimensions) = self.variable_name()?;
        let cell = if self.eat_word("llsc") {
            Some(Cell::Linked)
        } else if self.eat_word("cas") {
            Some(Cell::Swappable)
        } else {
            None
        };
        let variable = self.variable(name, dimensions, cell)?;
        self.end_of_line()?;
        Ok(variable)
    }

    /// `private NAME[INDEX]...: TYPE [:= E]`.
    pub fn private(&mut self) -> Parsed<Variable> {
        self.expect_word("private", "`private`")?;
        let (name, dimensions) = self.variable_name()?;
        let variable = self.variable(name, dimensions, None)?;
        self.end_of_line()?;
        Ok(variable)
    }

    fn variable_name(&mut self) -> Parsed<(Name, Vec<Indices>)> {
        let name = self.name("a name for the variable")?;
        let mut dimensions = Vec::new();
        while self.at(TokenKind::OpenBracket) {
            dimensions.push(self.bracketed_indices()?);
        }
        self.expect(TokenKind::Colon, "`:` and the type of the variable")?;
        Ok((name, dimensions))
    }

    fn variable(
        &mut self,
        name: Name,
        dimensions: Vec<Indices>,
        cell: Option<Cell>,
    ) -> Parsed<Variable> {
        let content = self.type_expression()?;
        let initial = if self.eat(TokenKind::Becomes) { Some(self.expression()?) } else { None };
        Ok(Variable { name, dimensions, cell, content, initial })
    }

    /// `procedure NAME(...): TYPE:`, `update(v):`, `scan:`.
    pub fn procedure(&mut self) -> Parsed<Procedure> {
        let begin = self.position;
        if !(self.at_word("update") || self.at_word("scan")) {
            self.expect_word("procedure", "a procedure")?;
        }
        let name = self.name("a name for the procedure")?;
        let parameters = if self.at(TokenKind::Open) { self.parameters()? } else { Vec::new() };
        self.expect(TokenKind::Colon, "`:`")?;
        let returns = if self.at_return_type() {
            let returns = self.type_expression()?;
            if !self.at(TokenKind::Newline) {
                self.expect(TokenKind::Colon, "`:` and the body of the procedure")?;
            }
            Some(returns)
        } else {
            None
        };
        let mut locals = Vec::new();
        let body = if self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Indent {
            self.next();
            self.next();
            locals = self.locals();
            self.statements()
        } else {
            let body = self.block(begin)?;
            self.end_of_line()?;
            body
        };
        Ok(Procedure { name, parameters, returns, locals, body })
    }

    /// Whether the type that the procedure returns stands here, not its body.
    fn at_return_type(&self) -> bool {
        match self.peek().kind {
            TokenKind::Number | TokenKind::N => true,
            // Not a record that is taken apart.
            TokenKind::Open => self.after_parentheses() != TokenKind::Becomes,
            TokenKind::Name => match self.text() {
                "record" => self.peek_at(1).kind == TokenKind::Open,
                "array" => true,
                _ => matches!(
                    self.peek_at(1).kind,
                    TokenKind::Colon | TokenKind::Or | TokenKind::Newline
                ),
            },
            _ => false,
        }
    }

    /// What follows the closing parenthesis of the one that stands here.
    fn after_parentheses(&self) -> TokenKind {
        let mut open = 0;
        for ahead in 0.. {
            match self.peek_at(ahead).kind {
                TokenKind::Open => open += 1,
                TokenKind::Close if open == 1 => return self.peek_at(ahead + 1).kind,
                TokenKind::Close => open -= 1,
                TokenKind::Newline | TokenKind::End => return TokenKind::End,
                _ => {}
            }
        }
        TokenKind::End
    }

    fn parameters(&mut self) -> Parsed<Vec<(Name, Option<TypeExpression>)>> {
        let open = self.expect(TokenKind::Open, "`(`")?;
        if self.eat(TokenKind::Close) {
            return Ok(Vec::new());
        }
        self.comma_separated(open, |parser| {
            let name = parser.name("a name for the parameter")?;
            let content =
                if parser.eat(TokenKind::Colon) { Some(parser.type_expression()?) } else { None };
            Ok((name, content))
        })
    }

    /// The declarations at the top of a procedure.
    fn locals(&mut self) -> Vec<Variable> {
        let mut locals = Vec::new();
        loop {
            while self.eat(TokenKind::Newline) || self.eat(TokenKind::Semicolon) {}
            if !self.eat(TokenKind::Local) {
                return locals;
            }
            let parsed = self.variable_name().and_then(|(name, dimensions)| {
                let variable = self.variable(name, dimensions, None)?;
                self.end_of_statement()?;
                Ok(variable)
            });
            match parsed {
                Ok(variable) => locals.push(variable),
                Err(_) => self.recover(),
            }
        }
    }
}
