//! Calls, their results, and `return`.

use super::body::Body;
use super::globals::OWN_PROCEDURES;
use super::result::whole;
use crate::language::Span;
use crate::language::diagnostic::{Message, Parsed, message};
use crate::language::tree::{self, ExpressionKind as Written};
use crate::program::{Expression, Place, ProcedureId, StatementKind};

impl Body<'_> {
    /// Returns the procedure called, if this is a call of one.
    pub fn called(&self, written: &tree::Expression) -> Option<ProcedureId> {
        match &written.kind {
            Written::Call(name, _) => self.globals.operation(&name.text),
            _ => None,
        }
    }

    /// Checks a call, or an access whose result is dropped.
    pub fn act(&mut self, written: &tree::Expression, span: Span) -> Parsed<()> {
        let Written::Call(name, arguments) = &written.kind else {
            return Err(self.report(no_effect(), written.span));
        };
        if let Some(procedure) = self.called(written) {
            return self.call(procedure, arguments, None, span);
        }
        if self.exchange(name, arguments, span)?.is_some() {
            return Ok(());
        }
        if let Some((access, _)) = self.operation(name, arguments, span)? {
            self.spend(span)?;
            self.push(StatementKind::Access { access, into: None }, span);
            return Ok(());
        }
        if OWN_PROCEDURES.contains(&name.text.as_str()) {
            return Err(self.report(no_effect(), written.span));
        }
        Err(self.unknown_procedure(name))
    }

    /// Calls a procedure, and returns its result.
    pub fn call_for_result(
        &mut self,
        procedure: ProcedureId,
        written: &tree::Expression,
        span: Span,
    ) -> Parsed<Expression> {
        let Written::Call(name, arguments) = &written.kind else {
            return self.expression(written, None);
        };
        let globals = self.globals;
        let signature = &globals.signatures[procedure.0 as usize];
        let Some(content) = &signature.returns else {
            if !signature.sound {
                return Err(self.reporter.already());
            }
            let message = message!("returns-nothing", "`{}` returns nothing", name.text)
                .help("declare what it returns: `procedure NAME(...): TYPE:`");
            return Err(self.report(message, written.span));
        };
        let result = self.hidden(content.clone(), written.span);
        self.call(procedure, arguments, Some(whole(result)), span)?;
        Ok(self.read(result, written.span))
    }

    fn call(
        &mut self,
        procedure: ProcedureId,
        written: &[tree::Expression],
        into: Option<Place>,
        span: Span,
    ) -> Parsed<()> {
        let message = message!("call-in-atomic", "a call in an atomic step")
            .help("write what the procedure does in place of the call");
        self.not_in_atomic(message, span)?;
        let globals = self.globals;
        let signature = &globals.signatures[procedure.0 as usize];
        let expected = signature.parameters.len();
        if expected != written.len() {
            let name = &signature.name.text;
            return Err(self.argument_count(name, expected, written.len(), span));
        }
        let mut arguments = Vec::new();
        for (argument, content) in written.iter().zip(&signature.parameters) {
            match content {
                Some(content) => arguments.push(self.expect_type(argument, content)?),
                None => return Err(self.reporter.already()),
            }
        }
        self.push(StatementKind::Call { procedure, arguments, into }, span);
        Ok(())
    }

    pub fn give_back(&mut self, value: Option<&tree::Expression>, span: Span) -> Parsed<()> {
        let Some(signature) = self.signature else {
            return Err(self.reporter.already());
        };
        let name = signature.name.text.clone();
        let returned = match (&signature.returns, value) {
            (None, None) => None,
            (None, Some(value)) if signature.sound => {
                let message =
                    message!("return-with-value", "`{name}` returns nothing, but here it does")
                        .help("write `return` alone");
                return Err(self.report(message, value.span));
            }
            (None, Some(_)) => return Err(self.reporter.already()),
            (Some(returns), None) => {
                let returns = returns.clone();
                let message = message!("return-without-value", "`{name}` must return `{returns}`")
                    .label(format!("expected `return` and a `{returns}`"));
                return Err(self.report(message, span));
            }
            (Some(returns), Some(value)) => {
                let found = match self.called(value) {
                    Some(procedure) => self.call_for_result(procedure, value, span)?,
                    None => self.expression(value, Some(returns))?,
                };
                let (content, place) = (found.content.clone(), found.span);
                let returned = self.convert(found, returns).map_err(|message| {
                    let message = if message.code() == "mismatch" && name == "scan" {
                        message!("scan-shape", "`scan` must return a `view`, found `{content}`")
                            .label("expected `view`: one value per segment")
                            .help("collect into `local copy[segment]: value` and return that")
                    } else {
                        *message
                    };
                    self.report(message, place)
                })?;
                Some(returned)
            }
        };
        self.push(StatementKind::Return(returned), span);
        Ok(())
    }
}

fn no_effect() -> Message {
    message!("no-effect", "the statement computes something and drops it")
        .help("remove it, or assign the result")
}
