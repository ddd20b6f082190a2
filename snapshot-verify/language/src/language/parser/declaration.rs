//! Declarations: of variables, types and procedures.

use super::{Parsed, Parser, TokenKind};
use crate::language::tree::{
    By, Cell, ExpressionKind, Indices, InitialNode, Name, Node, Object, Operation, Procedure,
    Statement, TypeDeclaration, TypeExpression, Variable,
};

impl Parser<'_> {
    /// Parses `algorithm NAME`.
    pub fn header(&mut self) -> Parsed<Name> {
        self.expect_word("algorithm", "`algorithm`")?;
        let name = self.name("the name of the algorithm")?;
        self.end_of_line()?;
        Ok(name)
    }

    /// Parses `source "..."`.
    pub fn citation(&mut self) -> Parsed<String> {
        self.expect_word("source", "`source`")?;
        let (text, _) = self.quoted(TokenKind::String, "a string in double quotes")?;
        self.end_of_line()?;
        Ok(text)
    }

    /// Parses `size NUMBER`.
    pub fn size(&mut self) -> Parsed<i32> {
        self.expect_word("size", "`size`")?;
        let size = self.number("the number that `size` stands for")?;
        self.end_of_line()?;
        Ok(size)
    }

    /// Parses `type NAME = TYPE`.
    pub fn type_declaration(&mut self) -> Parsed<TypeDeclaration> {
        self.expect_word("type", "`type`")?;
        let name = self.name("a name for the type")?;
        self.expect(TokenKind::Equal, "`=`")?;
        let content = self.type_expression()?;
        self.end_of_line()?;
        Ok(TypeDeclaration { name, content })
    }

    /// Parses `shared NAME[INDEX]...: [llsc | cas] TYPE [:= E]`.
    pub fn shared(&mut self) -> Parsed<Variable> {
        self.expect_word("shared", "`shared`")?;
        let (name, dimensions) = self.variable_name()?;
        let cell = self.cell();
        let variable = self.variable(name, dimensions, cell)?;
        self.end_of_line()?;
        Ok(variable)
    }

    /// Parses `llsc`, `cas`, or nothing.
    fn cell(&mut self) -> Option<Cell> {
        if self.eat_word("llsc") {
            Some(Cell::Linked)
        } else if self.eat_word("cas") {
            Some(Cell::Swappable)
        } else {
            None
        }
    }

    /// Parses `node NAME [up to BOUND] [type stable]:` and its fields, on lines of their own or
    /// separated by `;`.
    pub fn node(&mut self) -> Parsed<Node> {
        let begin = self.position;
        self.expect_word("node", "`node`")?;
        let name = self.name("a name for the nodes")?;
        let bound = if self.eat_word("up") {
            self.expect_word("to", "`to`")?;
            Some(self.bound()?)
        } else {
            None
        };
        let stable = self.eat_word("type");
        if stable {
            self.expect_word("stable", "`stable`")?;
        }
        self.expect(TokenKind::Colon, "`up to`, `type stable`, or `:` and the fields")?;
        let is_block = self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Indent;
        if is_block {
            self.next();
            self.next();
        } else if self.at(TokenKind::Newline) {
            return Err(self.missing_block(begin));
        }
        let mut fields = Vec::new();
        loop {
            while (is_block && self.eat(TokenKind::Newline)) || self.eat(TokenKind::Semicolon) {}
            if self.at_end() || self.eat(TokenKind::Dedent) || self.at(TokenKind::Newline) {
                break;
            }
            match self.node_field() {
                Ok(field) => fields.push(field),
                Err(_) if is_block => self.recover(),
                Err(reported) => return Err(reported),
            }
        }
        Ok(Node { name, bound, stable, fields })
    }

    /// Parses `NAME: [llsc | cas] TYPE`, a field of a node.
    fn node_field(&mut self) -> Parsed<Variable> {
        let name = self.word("the name of a field")?;
        self.expect(TokenKind::Colon, "`:` and the type of the field")?;
        let cell = self.cell();
        let content = self.type_expression()?;
        self.end_of_statement()?;
        Ok(Variable { name, dimensions: Vec::new(), cell, content, initial: None })
    }

    /// Parses `initially NAME := new NODE(E, ...)`.
    pub fn initial_node(&mut self) -> Parsed<InitialNode> {
        self.expect_word("initially", "`initially`")?;
        let name = self.name("a name for the node")?;
        self.expect(TokenKind::Becomes, "`:=` and a new node")?;
        let made = self.expression()?;
        let span = made.span;
        let ExpressionKind::New(node, fields) = made.kind else {
            let found = format!("`{}`", self.source.slice(span));
            let expected = "a new node: `new NODE(...)`";
            return Err(self.reporter.expected(expected, &found, span));
        };
        self.end_of_line()?;
        Ok(InitialNode { name, node, fields, span })
    }

    /// Parses `private NAME[INDEX]...: TYPE [:= E]`.
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

    /// Parses `procedure NAME(...): TYPE:`, `update(v):`, `scan:`.
    pub fn procedure(&mut self) -> Parsed<Procedure> {
        let begin = self.position;
        // The procedure of an operation begins with its name, unless the operation is called
        // `procedure`.
        if self.at_word("procedure") && self.peek_at(1).kind == TokenKind::Name {
            self.next();
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
        let (locals, body) = self.body(begin)?;
        let after_block = self.tokens[..self.position].last();
        if after_block.is_none_or(|last| last.kind != TokenKind::Dedent) {
            self.end_of_line()?;
        }
        Ok(Procedure { name, parameters, returns, locals, body })
    }

    /// Parses the `local` declarations and the statements of a procedure.
    fn body(&mut self, begin: usize) -> Parsed<(Vec<Variable>, Vec<Statement>)> {
        if self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Indent {
            self.next();
            self.next();
            let locals = self.locals();
            return Ok((locals, self.statements()));
        }
        Ok((Vec::new(), self.block(begin)?))
    }

    /// Parses `object NAME:` and its block.
    pub fn object(&mut self) -> Parsed<Object> {
        let begin = self.position;
        self.expect_word("object", "`object`")?;
        let name = self.name("a name for the object")?;
        self.expect(TokenKind::Colon, "`:`")?;
        if !(self.at(TokenKind::Newline) && self.peek_at(1).kind == TokenKind::Indent) {
            return Err(self.missing_block(begin));
        }
        self.next();
        self.next();
        let (mut state, mut operations) = (Vec::new(), Vec::new());
        loop {
            while self.eat(TokenKind::Newline) || self.eat(TokenKind::Semicolon) {}
            if self.at_end() || self.eat(TokenKind::Dedent) {
                return Ok(Object { name, state, operations });
            }
            let is_state = self.at_word("state") && self.peek_at(1).kind == TokenKind::Name;
            let parsed = match is_state {
                true => self.state().map(|variable| state.push(variable)),
                false => self.operation().map(|operation| operations.push(operation)),
            };
            if parsed.is_err() {
                self.recover();
            }
        }
    }

    /// Parses `state NAME[INDEX]...: TYPE [:= E]`.
    fn state(&mut self) -> Parsed<Variable> {
        self.next();
        let (name, dimensions) = self.variable_name()?;
        let variable = self.variable(name, dimensions, None)?;
        self.end_of_statement()?;
        Ok(variable)
    }

    /// Parses `NAME[(PARAMETERS)][: TYPE] [by PROCESSES] [when C] [await C]:` and the body.
    fn operation(&mut self) -> Parsed<Operation> {
        let begin = self.position;
        let name = self.name("`state` or the name of an operation")?;
        let parameters = if self.at(TokenKind::Open) { self.parameters()? } else { Vec::new() };
        let mut returns = None;
        let has_type = self.at(TokenKind::Colon) && {
            self.next();
            let has_type = self.at_return_type();
            if !has_type {
                self.position -= 1;
            }
            has_type
        };
        if has_type {
            returns = Some(self.type_expression()?);
        }
        let by = if self.eat_word("by") { self.by()? } else { By::All };
        let when = if self.eat_word("when") { Some(self.expression()?) } else { None };
        let awaits = if self.eat_word("await") { Some(self.expression()?) } else { None };
        self.expect(TokenKind::Colon, "`by`, `when`, `await`, or `:` and what the operation does")?;
        let (locals, body) = self.body(begin)?;
        self.end_of_statement()?;
        let procedure = Procedure { name, parameters, returns, locals, body };
        Ok(Operation { procedure, by, when, awaits })
    }

    /// Parses `all`, `others`, `process NUMBER`.
    fn by(&mut self) -> Parsed<By> {
        if self.eat(TokenKind::All) {
            Ok(By::All)
        } else if self.eat_word("others") {
            Ok(By::Others)
        } else if self.eat_word("process") {
            Ok(By::Process(self.number("the number of a process")? as u32))
        } else {
            Err(self.unexpected("`all`, `others` or `process` and its number"))
        }
    }

    /// Returns true if the result type of the procedure stands here, as opposed to its body.
    fn at_return_type(&self) -> bool {
        match self.peek().kind {
            TokenKind::Number | TokenKind::N => true,
            // An assignment that takes a record apart is excluded.
            TokenKind::Open => self.after_parentheses() != TokenKind::Becomes,
            TokenKind::Name => match self.text() {
                "record" => self.peek_at(1).kind == TokenKind::Open,
                "array" => true,
                _ if self.at_size().is_some() => true,
                _ => {
                    let next = self.peek_at(1);
                    let word = self.source.slice(next.span);
                    matches!(next.kind, TokenKind::Colon | TokenKind::Or | TokenKind::Newline)
                        || (next.kind == TokenKind::Name
                            && matches!(word, "by" | "when" | "await" | "of"))
                }
            },
            _ => false,
        }
    }

    /// Returns the symbol after the matching closing parenthesis.
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

    /// Parses the declarations at the top of a procedure.
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
