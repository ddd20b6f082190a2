//! Checks of paths through procedures: recursive calls, loops that may iterate without an access,
//! missing `return`s.

use crate::language::Span;
use crate::language::diagnostic::syntax::nested_too_deep;
use crate::language::diagnostic::{Reporter, message};
use crate::program::{ExpressionKind, Procedure, ProcedureId, Statement, StatementKind};

use super::range;

/// Checks all procedures together, and reports errors.
pub(super) fn check(procedures: &[Procedure], reporter: &mut Reporter) {
    let Some(order) = callees_first(procedures, reporter) else { return };
    if !limit_nesting(procedures, &order, reporter) {
        return;
    }
    // Per procedure, whether a call may return, and whether without an access.
    let mut ends = vec![Way::Never; procedures.len()];
    for id in order {
        let procedure = &procedures[id];
        let mut walk = Walk { ends: &ends, reporter };
        let ways = walk.block(&procedure.body, Way::Silent);
        if ways.through != Way::Never
            && let Some(returns) = &procedure.returns
        {
            let (name, returns) = (procedure.name.clone(), returns.clone());
            let message = message!("missing-return", "a path through `{name}` returns nothing")
                .label(format!("expected `return` and a `{returns}`"))
                .help(if has_endless_while(&procedure.body) {
                    "a `while` may end, also `while true`: `loop:` has no end"
                } else {
                    "end every path with `return`"
                });
            reporter.report(message, procedure.span);
        }
        ends[id] = ways.through.max(ways.back);
    }
}

/// Returns true if a statement is `while true`.
fn has_endless_while(body: &[Statement]) -> bool {
    let mut found = false;
    Statement::each(body, &mut |statement| {
        let StatementKind::Loop { body } = &statement.kind else { return };
        let Some(StatementKind::If { condition, .. }) = body.first().map(|first| &first.kind)
        else {
            return;
        };
        let ExpressionKind::Not(condition) = &condition.kind else { return };
        found |= matches!(condition.kind, ExpressionKind::Bool(true));
    });
    found
}

/// Limit on the nesting of statements. The body of a procedure is nested in the statement that
/// calls it: calls are compiled in place, and the code that runs a program recurs to this depth.
const NESTING: usize = 96;

/// Reports the first statement that is nested too deep; returns true if all are within the limit.
fn limit_nesting(procedures: &[Procedure], order: &[usize], reporter: &mut Reporter) -> bool {
    let mut depths = vec![0; procedures.len()];
    for &id in order {
        let mut open: Vec<(&Statement, usize)> =
            procedures[id].body.iter().map(|statement| (statement, 1)).collect();
        while let Some((statement, depth)) = open.pop() {
            let called = match statement.kind {
                StatementKind::Call { procedure, .. } => Some(procedure.0 as usize),
                _ => None,
            };
            let reached = depth + called.map_or(0, |called| depths[called]);
            if reached > NESTING {
                let message = match called {
                    Some(called) => {
                        let name = procedures[called].name.clone();
                        message!(
                            "calls-too-deep",
                            "with the call of `{name}` statements are nested deeper than \
                             {NESTING} levels"
                        )
                        .help(
                            "let the caller make some of the calls one after the other, each \
                             nested less deep",
                        )
                    }
                    None => nested_too_deep(NESTING),
                };
                reporter.report(message, statement.span);
                return false;
            }
            depths[id] = depths[id].max(reached);
            open.extend(statement.parts().map(|part| (part, depth + 1)));
        }
    }
    true
}

/// Orders the procedures so that callees come first. `None` if calls are circular.
fn callees_first(procedures: &[Procedure], reporter: &mut Reporter) -> Option<Vec<usize>> {
    let calls: Vec<Vec<(usize, Span)>> = procedures
        .iter()
        .map(|procedure| {
            let mut calls = Vec::new();
            Statement::each(&procedure.body, &mut |statement| {
                if let StatementKind::Call { procedure, .. } = statement.kind {
                    calls.push((procedure.0 as usize, statement.span));
                }
            });
            calls
        })
        .collect();
    let mut waits_for: Vec<usize> = calls.iter().map(Vec::len).collect();
    let mut callers = vec![Vec::new(); procedures.len()];
    for (caller, calls) in calls.iter().enumerate() {
        for &(callee, _) in calls {
            callers[callee].push(caller);
        }
    }
    let mut order: Vec<usize> =
        (0..procedures.len()).filter(|&procedure| waits_for[procedure] == 0).collect();
    let mut done = 0;
    while let Some(&procedure) = order.get(done) {
        done += 1;
        for &caller in &callers[procedure] {
            waits_for[caller] -= 1;
            if waits_for[caller] == 0 {
                order.push(caller);
            }
        }
    }
    let Some(begin) = waits_for.iter().position(|&waits| waits > 0) else { return Some(order) };
    // Each of the remaining procedures calls another of them: following the calls closes a circle.
    let mut path = vec![begin];
    let mut place = procedures[begin].span;
    loop {
        let last = path[path.len() - 1];
        let next = calls[last].iter().find(|&&(callee, _)| waits_for[callee] > 0);
        let Some(&(callee, span)) = next else { break };
        place = span;
        if let Some(from) = path.iter().position(|&on| on == callee) {
            path.drain(..from);
            break;
        }
        path.push(callee);
    }
    let mut circle: Vec<String> = path.iter().map(|&on| procedures[on].name.clone()).collect();
    circle.extend(circle.first().cloned());
    let message = message!("recursion", "procedures call each other in a circle")
        .label(circle.join(" -> "))
        .help("use a loop: the steps of a procedure must be known in advance");
    reporter.report(message, place);
    None
}

/// Whether a point is reached, and whether without an access. Greater is worse for a loop.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Way {
    Never,
    Accessing,
    Silent,
}

/// Ways to leave a block.
#[derive(Clone, Copy, Debug)]
struct Ways {
    through: Way,
    /// Out of the innermost loop.
    out: Way,
    /// By `return`.
    back: Way,
}

struct Walk<'a> {
    ends: &'a [Way],
    reporter: &'a mut Reporter,
}

impl Walk<'_> {
    /// Returns the ways to leave a block that is reached in this way.
    fn block(&mut self, statements: &[Statement], reached: Way) -> Ways {
        let mut ways = Ways { through: reached, out: Way::Never, back: Way::Never };
        for statement in statements {
            let next = self.statement(statement, ways.through);
            ways = Ways {
                through: next.through,
                out: ways.out.max(next.out),
                back: ways.back.max(next.back),
            };
        }
        ways
    }

    fn statement(&mut self, statement: &Statement, reached: Way) -> Ways {
        let never = Ways { through: Way::Never, out: Way::Never, back: Way::Never };
        match &statement.kind {
            // Not an access: whether `new` is a step depends on the rest of the program.
            StatementKind::Assign { .. }
            | StatementKind::New { .. }
            | StatementKind::Point(_)
            | StatementKind::Together => Ways { through: reached, ..never },
            StatementKind::Access { .. }
            | StatementKind::Choose { .. }
            | StatementKind::Free(_) => Ways { through: reached.min(Way::Accessing), ..never },
            StatementKind::Call { procedure: ProcedureId(id), .. } => {
                Ways { through: reached.min(self.ends[*id as usize]), ..never }
            }
            StatementKind::If { then, otherwise, .. } => {
                let (a, b) = (self.block(then, reached), self.block(otherwise, reached));
                Ways {
                    through: a.through.max(b.through),
                    out: a.out.max(b.out),
                    back: a.back.max(b.back),
                }
            }
            StatementKind::Loop { body } => {
                let round = self.block(body, Way::Silent);
                if round.through == Way::Silent {
                    let message = message!(
                        "loop-without-access",
                        "a loop that may go round without an access to shared memory"
                    )
                    .label("no access on some way round")
                    .help(
                        "a process that waits must look at shared memory; to go through \
                         indices, use `for`",
                    );
                    self.reporter.report(message, statement.span);
                }
                Ways {
                    through: reached.min(round.out),
                    out: Way::Never,
                    back: reached.min(round.back),
                }
            }
            StatementKind::For { over, except, body, .. } => {
                let round = self.block(body, reached);
                let skipped = !range::never_empty(*over, except.is_some());
                let through = if skipped { round.through.max(reached) } else { round.through };
                Ways { through, ..round }
            }
            StatementKind::Atomic(body) => self.block(body, reached),
            StatementKind::Break => Ways { out: reached, ..never },
            StatementKind::Return(_) => Ways { back: reached, ..never },
        }
    }
}
