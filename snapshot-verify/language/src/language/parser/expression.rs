//! Expressions, by precedence: `or`, `and`, `not`, comparisons, `+ -`, `* / mod`, `with`, and
//! postfix forms.

use super::{Parsed, Parser, Token, TokenKind};
use crate::language::diagnostic::message;
use crate::language::tree::{Expression, ExpressionKind, Name, Operator, Range};

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.expression_tighter_than(0)
    }

    /// Parses an expression with operators that bind tighter than this.
    pub(super) fn expression_tighter_than(&mut self, looser: u8) -> Parsed<Expression> {
        if self.expression.is_some() {
            return self.binary(looser);
        }
        self.expression = Some(self.position);
        let parsed = self.binary(looser);
        self.expression = None;
        parsed
    }

    fn binary(&mut self, looser: u8) -> Parsed<Expression> {
        self.deeper(|parser| {
            let begin = parser.position;
            let mut left = parser.operand(looser)?;
            let mut compared = false;
            while let Some(operator) = parser.operator() {
                if operator.precedence() <= looser {
                    break;
                }
                parser.limit_length()?;
                if operator.is_comparison() && std::mem::replace(&mut compared, true) {
                    let span = parser.peek().span;
                    return Err(parser.report(
                        message!("chained-comparison", "comparisons do not chain")
                            .help("write `a < b and b < c`, or put one into parentheses"),
                        span,
                    ));
                }
                parser.next();
                let right = parser.binary(operator.precedence())?;
                let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
                left = Expression { kind, span: parser.since(begin) };
            }
            Ok(left)
        })
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.peek().kind {
            TokenKind::Or => Operator::Or,
            TokenKind::And => Operator::And,
            TokenKind::Equal => Operator::Equal,
            TokenKind::NotEqual => Operator::NotEqual,
            TokenKind::Less => Operator::Less,
            TokenKind::LessOrEqual => Operator::LessOrEqual,
            TokenKind::Greater => Operator::Greater,
            TokenKind::GreaterOrEqual => Operator::GreaterOrEqual,
            TokenKind::Plus => Operator::Add,
            TokenKind::Minus => Operator::Subtract,
            TokenKind::Times => Operator::Multiply,
            TokenKind::Over => Operator::Divide,
            TokenKind::Mod => Operator::Modulo,
            _ => return None,
        })
    }

    fn limit_length(&mut self) -> Parsed<()> {
        let begin = self.expression.unwrap_or(self.position);
        if self.position - begin <= Self::LENGTH {
            return Ok(());
        }
        let span = self.peek().span;
        let limit = Self::LENGTH;
        let message =
            message!("expression-too-long", "the expression has more than {limit} symbols")
                .help("give its parts names: assign them to locals first");
        Err(self.report(message, span))
    }

    /// Parses `not`, the forms that extend as far to the right as possible (`if`, `all`, `any`), or
    /// a postfix expression.
    fn operand(&mut self, looser: u8) -> Parsed<Expression> {
        let begin = self.position;
        let kind = match self.peek().kind {
            TokenKind::Not => {
                if looser >= Operator::Equal.precedence() {
                    return Err(self.unexpected("an operand"));
                }
                self.next();
                let operand = self.binary(Operator::And.precedence() + 1)?;
                ExpressionKind::Not(Box::new(operand))
            }
            TokenKind::If => {
                self.next();
                let condition = self.expression()?;
                self.expect(TokenKind::Then, "`then`")?;
                let then = self.expression()?;
                self.expect(TokenKind::Else, "`else`")?;
                let otherwise = self.expression()?;
                ExpressionKind::If(Box::new(condition), Box::new(then), Box::new(otherwise))
            }
            TokenKind::All | TokenKind::Any => {
                let token = self.next();
                if self.reporter.is_misused(self.source.slice(token.span))
                    && !(self.at(TokenKind::Name) && self.peek_at(1).kind == TokenKind::In)
                {
                    return Err(self.reporter.already());
                }
                let all = token.kind == TokenKind::All;
                let range = self.range()?;
                self.expect(TokenKind::Colon, "`:`")?;
                let body = self.expression()?;
                ExpressionKind::Quantified(all, range, Box::new(body))
            }
            _ => return self.postfix(),
        };
        Ok(Expression { kind, span: self.since(begin) })
    }

    /// Parses `X in SET [except E]`.
    pub(super) fn range(&mut self) -> Parsed<Range> {
        let mut range = self.whole_range()?;
        if self.eat(TokenKind::Except) {
            range.except = Some(Box::new(self.expression()?));
        }
        Ok(range)
    }

    /// Parses `X in SET`.
    fn whole_range(&mut self) -> Parsed<Range> {
        let variable = self.name("a name for the index")?;
        self.expect(TokenKind::In, "`in`")?;
        let over = self.index_set()?;
        Ok(Range { variable, over, except: None })
    }

    /// Parses a primary expression with its indices, fields and replacements.
    fn postfix(&mut self) -> Parsed<Expression> {
        let begin = self.position;
        let mut expression = self.primary()?;
        loop {
            self.limit_length()?;
            let kind = match self.peek().kind {
                TokenKind::OpenBracket => {
                    let open = self.next();
                    let index = self.expression()?;
                    self.close(TokenKind::CloseBracket, open, "`]`")?;
                    ExpressionKind::Index(Box::new(expression), Box::new(index))
                }
                TokenKind::Dot => {
                    self.next();
                    let field = self.word("the name of a field")?;
                    ExpressionKind::Field(Box::new(expression), field)
                }
                TokenKind::With => {
                    self.next();
                    let open = self.expect(TokenKind::Open, "`(`")?;
                    let fields = self.named_fields(open)?;
                    ExpressionKind::With(Box::new(expression), fields)
                }
                _ => return Ok(expression),
            };
            expression = Expression { kind, span: self.since(begin) };
        }
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let begin = self.position;
        let kind = match self.peek().kind {
            TokenKind::True => self.literal(ExpressionKind::Bool(true)),
            TokenKind::False => self.literal(ExpressionKind::Bool(false)),
            TokenKind::None => self.literal(ExpressionKind::None),
            TokenKind::Me => self.literal(ExpressionKind::Me),
            TokenKind::N => self.literal(ExpressionKind::N),
            TokenKind::Initial => self.literal(ExpressionKind::Initial),
            TokenKind::Fresh => self.literal(ExpressionKind::Fresh),
            TokenKind::Number => ExpressionKind::Number(self.number("a number")?),
            TokenKind::Name if self.at_size().is_some() => {
                let size = self.at_size().unwrap_or_default();
                self.literal(ExpressionKind::Number(size))
            }
            TokenKind::Name => {
                let name = self.name("a name")?;
                if name.text == "new" && self.at(TokenKind::Name) {
                    let node = self.name("the name of the nodes")?;
                    if !self.at(TokenKind::Open) {
                        return Err(self.unexpected("`(` and what the fields hold"));
                    }
                    ExpressionKind::New(node, self.arguments()?)
                } else if self.at(TokenKind::Open) {
                    ExpressionKind::Call(name, self.arguments()?)
                } else {
                    ExpressionKind::Variable(name.text)
                }
            }
            TokenKind::Open => return self.parenthesised(),
            TokenKind::OpenBracket => {
                let open = self.next();
                if self.eat(TokenKind::CloseBracket) {
                    let span = self.since(begin);
                    return Ok(Expression { kind: ExpressionKind::EmptyList, span });
                }
                let body = self.expression()?;
                self.expect(TokenKind::For, "`for`")?;
                let range = self.whole_range()?;
                self.close(TokenKind::CloseBracket, open, "`]`")?;
                ExpressionKind::Each(Box::new(body), range)
            }
            TokenKind::Becomes => {
                let span = self.peek().span;
                let message = message!("becomes-compares", "`:=` assigns, it does not compare")
                    .help("write `=` to compare");
                return Err(self.report(message, span));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expression { kind, span: self.since(begin) })
    }

    fn literal(&mut self, kind: ExpressionKind) -> ExpressionKind {
        self.next();
        kind
    }

    /// Parses the arguments `(E, ...)` of a call.
    fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        let open = self.expect(TokenKind::Open, "`(`")?;
        if self.eat(TokenKind::Close) {
            return Ok(Vec::new());
        }
        self.comma_separated(open, Self::expression)
    }

    /// Parses `(E)`, `(E, F)`, `(f: E)`.
    fn parenthesised(&mut self) -> Parsed<Expression> {
        let begin = self.position;
        let open = self.next();
        if self.peek().kind.is_word() && self.peek_at(1).kind == TokenKind::Colon {
            let kind = ExpressionKind::Record(self.named_fields(open)?);
            return Ok(Expression { kind, span: self.since(begin) });
        }
        let mut components = self.comma_separated(open, Self::expression)?;
        let span = self.since(begin);
        match components.pop() {
            // The span of `(a)` includes the parentheses, so that the span of `(a) + b` does not
            // begin inside of them.
            Some(only) if components.is_empty() => Ok(Expression { kind: only.kind, span }),
            last => {
                components.extend(last);
                Ok(Expression { kind: ExpressionKind::Tuple(components), span })
            }
        }
    }

    /// Parses `f: E, ...)`, after the parenthesis.
    fn named_fields(&mut self, open: Token) -> Parsed<Vec<(Name, Expression)>> {
        self.comma_separated(open, |parser| {
            let name = parser.word("the name of a field")?;
            parser.expect(TokenKind::Colon, "`:`")?;
            Ok((name, parser.expression()?))
        })
    }
}
