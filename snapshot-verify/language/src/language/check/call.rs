//! Calls, their results, and `return`.

use super::body::Body;
use super::globals::OWN_PROCEDURES;
use super::result::whole;
use crate::language::Span;
use crate::language::diagnostic::{DiagnosticKind, Parsed};
use crate::language::tree::{self, ExpressionKind as Written};
use crate::program::{Expression, Place, ProcedureId, StatementKind};

impl Body<'_> {
    /// The name of the procedure that is called, if this is a call of one.
    pub fn called(&self, written: &tree::Expression) -> Option<ProcedureId> {
        match &written.kind {
            Written::Call(name, _) => self.globals.operation(&name.text),
            _ => None,
        }
    }

    /// A call, or an access whose result is dropped.
    pub fn act(&mut self, written: &tree::Expression, span: Span) -> Parsed<()> {
        let Written::Call(name, arguments) = &written.kind else {
            return Err(self.report(DiagnosticKind::NoEffect, written.span));
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
            return Err(self.report(DiagnosticKind::NoEffect, written.span));
        }
        Err(self.unknown_procedure(name))
    }

    /// Calls a procedure, and is its result.
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
            let kind = DiagnosticKind::ReturnsNothing { name: name.text.clone() };
            return Err(self.report(kind, written.span));
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
        self.not_in_atomic(DiagnosticKind::CallInAtomic, span)?;
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
                return Err(self.report(DiagnosticKind::ReturnWithValue { name }, value.span));
            }
            (None, Some(_)) => return Err(self.reporter.already()),
            (Some(returns), None) => {
                let returns = returns.clone();
                return Err(self.report(DiagnosticKind::ReturnWithoutValue { name, returns }, span));
            }
            (Some(returns), Some(value)) => {
                let found = match self.called(value) {
                    Some(procedure) => self.call_for_result(procedure, value, span)?,
                    None => self.expression(value, Some(returns))?,
                };
                let (content, place) = (found.content.clone(), found.span);
                let returned = self.convert(found, returns).map_err(|kind| {
                    let kind = match *kind {
                        DiagnosticKind::Mismatch { .. } if name == "scan" => {
                            DiagnosticKind::ScanShape { found: content }
                        }
                        kind => kind,
                    };
                    self.report(kind, place)
                })?;
                Some(returned)
            }
        };
        self.push(StatementKind::Return(returned), span);
        Ok(())
    }
}
