//! Types and index sets.

use super::{Parsed, Parser, TokenKind};
use crate::language::tree::{
    Expression, Indices, IndicesKind, Name, Operator, TypeExpression, TypeKind,
};

impl Parser<'_> {
    pub(super) fn type_expression(&mut self) -> Parsed<TypeExpression> {
        self.deeper(|parser| {
            let begin = parser.position;
            let kind = parser.plain_type()?;
            let plain = TypeExpression { kind, span: parser.since(begin) };
            if !parser.eat(TokenKind::Or) {
                return Ok(plain);
            }
            parser.expect(TokenKind::None, "`none`")?;
            let kind = TypeKind::Optional(Box::new(plain));
            Ok(TypeExpression { kind, span: parser.since(begin) })
        })
    }

    fn plain_type(&mut self) -> Parsed<TypeKind> {
        match self.peek().kind {
            _ if self.at_size().is_some() => {
                let (low, high) = self.bounds()?;
                Ok(TypeKind::Range(low, high))
            }
            TokenKind::Number | TokenKind::N => {
                let (low, high) = self.bounds()?;
                Ok(TypeKind::Range(low, high))
            }
            TokenKind::Open => {
                let open = self.next();
                let content = self.type_expression()?;
                self.close(TokenKind::Close, open, "`)`")?;
                Ok(content.kind)
            }
            TokenKind::Name => {
                let name = self.name("a type")?;
                match (name.text.as_str(), self.peek().kind) {
                    ("record", _) => Ok(TypeKind::Record(self.fields()?)),
                    ("list", TokenKind::Name) if self.at_word("of") => {
                        self.next();
                        Ok(TypeKind::List(Box::new(self.type_expression()?)))
                    }
                    ("array", _) => {
                        let index = self.bracketed_indices()?;
                        self.expect_word("of", "`of`")?;
                        Ok(TypeKind::Array(index, Box::new(self.type_expression()?)))
                    }
                    _ => Ok(TypeKind::Named(name.text)),
                }
            }
            _ => Err(self.unexpected("a type")),
        }
    }

    /// Parses `(F: T, ...)`.
    fn fields(&mut self) -> Parsed<Vec<(Name, TypeExpression)>> {
        let open = self.expect(TokenKind::Open, "`(`")?;
        self.comma_separated(open, |parser| {
            let name = parser.word("the name of a field")?;
            parser.expect(TokenKind::Colon, "`:` and the type of the field")?;
            Ok((name, parser.type_expression()?))
        })
    }

    /// Parses `[process]`, `[segment]`, `[L..H]`.
    pub(super) fn bracketed_indices(&mut self) -> Parsed<Indices> {
        let open = self.expect(TokenKind::OpenBracket, "`[`")?;
        let begin = self.position;
        let kind = if self.eat_word("process") {
            IndicesKind::Processes
        } else if self.eat_word("segment") {
            IndicesKind::Segments
        } else if matches!(self.peek().kind, TokenKind::Number | TokenKind::N)
            || self.at_size().is_some()
        {
            let (low, high) = self.bounds()?;
            IndicesKind::Range(low, high)
        } else {
            return Err(self.unexpected("`process`, `segment` or a range such as `0..n-1`"));
        };
        let indices = Indices { kind, span: self.since(begin) };
        self.close(TokenKind::CloseBracket, open, "`]`")?;
        Ok(indices)
    }

    /// Parses `processes`, `segments`, `L..H`.
    pub(super) fn index_set(&mut self) -> Parsed<Indices> {
        let begin = self.position;
        let kind = if self.eat_word("processes") {
            IndicesKind::Processes
        } else if self.eat_word("segments") {
            IndicesKind::Segments
        } else if self.begins_bound() {
            let (low, high) = self.bounds()?;
            IndicesKind::Range(low, high)
        } else {
            return Err(self.unexpected("`processes`, `segments` or a range such as `0..n-1`"));
        };
        Ok(Indices { kind, span: self.since(begin) })
    }

    /// Returns true if the lower bound of a range begins here, as opposed to a misspelt set.
    fn begins_bound(&self) -> bool {
        use TokenKind as K;
        match self.peek().kind {
            K::Number | K::N | K::Me | K::Open => true,
            K::Name => matches!(
                self.peek_at(1).kind,
                K::Range
                    | K::Dot
                    | K::Open
                    | K::OpenBracket
                    | K::Plus
                    | K::Minus
                    | K::Times
                    | K::Over
                    | K::Mod
            ),
            _ => false,
        }
    }

    /// Parses `L..H`.
    fn bounds(&mut self) -> Parsed<(Box<Expression>, Box<Expression>)> {
        let low = self.bound()?;
        self.expect(TokenKind::Range, "`..`")?;
        let high = self.bound()?;
        Ok((Box::new(low), Box::new(high)))
    }

    pub(super) fn bound(&mut self) -> Parsed<Expression> {
        self.expression_tighter_than(Operator::Equal.precedence())
    }
}
