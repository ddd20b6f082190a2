//! Compatibility of the options of `check`.

use std::path::Path;
use std::process::ExitCode;

use snapshot_verify::refine::Techniques;
use snapshot_verify::verify::{Barriers, Method, Operations, Pairs};

use super::{Check, Executions, MethodName, Switch};
use crate::cli::input::{Input, Variant};
use crate::cli::{clear, trouble};

/// Returns the first given option.
fn first(options: &[(bool, &'static str)]) -> Option<&'static str> {
    options.iter().find(|(given, _)| *given).map(|(_, option)| *option)
}

impl Check {
    /// Returns the method, if all options suit it and each other.
    pub(super) fn method(&self) -> Result<Method, ExitCode> {
        let is_full = match (self.executions, self.values) {
            (Some(Executions::Full), None) => {
                return Err(trouble(
                    "full executions need to know how many values are written: add --values 2, say",
                ));
            }
            (Some(Executions::Simple), Some(_)) => {
                return Err(trouble(
                    "simple executions write 0 and 1: leave out --values, or use --executions full",
                ));
            }
            (_, Some(1)) => {
                return Err(trouble(
                    "with one value all segments always hold the same: add --values 2, say",
                ));
            }
            (_, values) => values.is_some(),
        };
        self.require_no_other_bound()?;
        let of_refinement = [
            (self.partial_order.is_some(), "--partial-order"),
            (self.points, "--points"),
            (self.updater.is_some(), "--updater"),
        ];
        let of_exploration = [
            (self.reductions.is_some(), "--reductions"),
            (self.barriers != Barriers::Unbounded, "--barriers"),
        ];
        match self.method {
            Some(MethodName::Exploration) if is_full => Err(trouble(
                "exploration supports only simple executions: for full ones, use --method refinement",
            )),
            Some(MethodName::Proof) => match self.against_proof(is_full) {
                Some(option) => Err(trouble(format_args!(
                    "{option} cannot be used with --method proof, which does not search and uses one thread: \
                     leave it out"
                ))),
                None => Ok(Method::Exploration),
            },
            None | Some(MethodName::Exploration) if !is_full => match first(&of_refinement) {
                Some(option) => Err(trouble(format_args!(
                    "{option} needs refinement: add --method refinement, or leave it out"
                ))),
                None => Ok(Method::Exploration),
            },
            _ => match first(&of_exploration) {
                Some(option) => Err(trouble(format_args!(
                    "{option} works only with exploration, and full executions and refinement are \
                     searched without: leave it out"
                ))),
                None => Ok(Method::Refinement(Techniques {
                    partial_order: self.partial_order != Some(Switch::Off),
                    points: self.points,
                    ..Techniques::default()
                })),
            },
        }
    }

    /// Returns an option that only a search supports, if one is given.
    fn against_proof(&self, is_full: bool) -> Option<&'static str> {
        let given = [
            (is_full, "--values or --executions"),
            (self.barriers != Barriers::Unbounded, "--barriers"),
            (self.reductions.is_some(), "--reductions"),
            (self.budget.threads.is_some(), "--threads"),
            (self.partial_order.is_some(), "--partial-order"),
            (self.points, "--points"),
            (self.updater.is_some(), "--updater"),
            (self.self_check, "--self-check"),
            (self.certificate.is_some() && !self.sizes.is_every(), "--certificate (for one n)"),
            (self.html.is_some() && !self.sizes.is_every(), "--html (for one n)"),
        ];
        first(&given)
    }

    /// Returns the method for an algorithm that declares an object, if all options suit it.
    pub(super) fn object_method(
        &self,
        input: &Input,
        variant: &Variant,
    ) -> Result<Method, ExitCode> {
        let is_given = [
            (self.pairs != Pairs::All, "--pairs"),
            (self.method == Some(MethodName::Exploration), "--method exploration"),
            (self.method == Some(MethodName::Proof), "--method proof"),
            (self.executions == Some(Executions::Simple), "--executions simple"),
            (self.updater.is_some(), "--updater"),
            (self.reductions.is_some(), "--reductions"),
            (self.rungs.is_some(), "--rungs"),
            (self.self_check, "--self-check"),
            (self.keep_going, "--keep-going"),
            (self.certificate.is_some() && !self.sizes.is_every(), "--certificate (for one n)"),
            (self.html.is_some() && self.sizes.is_every(), "--html (for every n)"),
        ];
        if let Some((_, option)) = is_given.iter().find(|(given, _)| *given) {
            input.require_snapshot(variant, option)?;
        }
        self.require_no_other_bound()?;
        let partial_order = self.partial_order != Some(Switch::Off);
        Ok(Method::Refinement(Techniques {
            partial_order,
            points: self.points,
            fusion: partial_order,
            ..Techniques::ALL
        }))
    }

    /// Requires that a bound on barriers is the only bound, and that no option needs a proof.
    fn require_no_other_bound(&self) -> Result<(), ExitCode> {
        if self.barriers == Barriers::Unbounded {
            return Ok(());
        }
        let is_given = [
            (
                self.operations.all != Operations::Unbounded,
                "--operations",
                "K barriers allow K + 1 operations of each process",
            ),
            (self.certificate.is_some(), "--certificate", "a certificate belongs to a proof"),
            (self.html.is_some(), "--html", "a page shows a proof or its counterexample"),
            (self.strict, "--strict", "what executions with few barriers exercise is not known"),
        ];
        match is_given.iter().find(|(given, ..)| *given) {
            Some((_, option, why)) => Err(trouble(format_args!(
                "{option} cannot be used with --barriers, for {why}: leave one of them out"
            ))),
            None => Ok(()),
        }
    }

    /// Requires that the pair and the updater exist for every n.
    pub(super) fn require_processes(&self, cases: &[(&Input, Variant)]) -> Result<(), ExitCode> {
        if self.sizes.is_every() {
            let are_objects = cases.iter().all(|(_, variant)| variant.object().is_some());
            let is_chosen = [
                (self.pairs != Pairs::All, "--pairs"),
                (self.method.is_some_and(|method| method != MethodName::Proof), "--method"),
                (self.values.is_some() && !are_objects, "--values"),
                (self.executions.is_some() && !are_objects, "--executions"),
                (self.updater.is_some(), "--updater"),
                (self.operations.all != Operations::Unbounded, "--operations"),
                (self.barriers != Barriers::Unbounded, "--barriers"),
                (self.keep_going, "--keep-going"),
            ];
            return match is_chosen.iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(trouble(format_args!(
                    "{option} cannot be used with --processes every, which is about all pairs and \
                     any number of operations: leave it out"
                ))),
                None => Ok(()),
            };
        }
        if self.rungs.is_some() && self.method != Some(MethodName::Proof) {
            return Err(trouble(
                "--rungs needs --processes every or --method proof: add one of them, or leave out \
                 --rungs",
            ));
        }
        let smallest = self.sizes.0.iter().copied().min().unwrap_or(usize::MAX);
        let range = format!("is out of range: with n = {smallest}, ");
        match (self.pairs, self.updater) {
            (Pairs::One(i, j), _) if j.index() >= smallest => Err(trouble(format_args!(
                "the pair {i},{j} {range}segments are 0 to {}",
                smallest - 1
            ))),
            (_, Some(updater)) if updater.index() >= smallest => Err(trouble(format_args!(
                "the updater {updater} {range}processes are 0 to {}",
                smallest - 1
            ))),
            _ => Ok(()),
        }
    }

    /// Requires one proof by exploration with finitely many states, if a certificate is requested.
    pub(super) fn require_certifiable(
        &self,
        cases: &[(&Input, Variant)],
        methods: &[Method],
    ) -> Result<(), ExitCode> {
        if self.certificate.is_none() {
            return Ok(());
        }
        let is_every = self.sizes.is_every() && self.sizes.0.is_empty() && cases.len() == 1;
        if is_every && cases.iter().all(|(_, variant)| variant.object().is_some()) {
            return Ok(());
        }
        if methods.iter().any(|method| *method != Method::Exploration) {
            return Err(trouble(
                "--certificate works only with exploration: leave out --method refinement",
            ));
        }
        if self.operations.all == Operations::Grow {
            return Err(trouble(
                "a certificate covers one bound on the operations: with --certificate, give a \
                 number or none",
            ));
        }
        if is_every {
            return Ok(());
        }
        let ([(_, variant)], [_], false) = (cases, self.sizes.0.as_slice(), self.sizes.is_every())
        else {
            return Err(trouble(
                "a certificate covers one algorithm, for one number of processes or for every n: \
                 check them one by one",
            ));
        };
        if self.operations.all == Operations::Unbounded && variant.program.has_counters() {
            return Err(trouble(
                "a certificate lists all states, and with counters there are infinitely many: \
                 add --operations 2, say",
            ));
        }
        Ok(())
    }

    /// Returns true if searches are saved.
    pub(super) const fn is_kept(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// Requires the search of an exploration, if an option saves, spills or distributes it.
    pub(super) fn require_search(&self, methods: &[Method]) -> Result<(), ExitCode> {
        if !self.is_kept() && self.every.is_some() {
            return Err(trouble(
                "--every needs checkpoints: add --checkpoint DIR, or leave out --every",
            ));
        }
        let given = [
            (self.checkpoint.is_some(), "--checkpoint"),
            (self.resume.is_some(), "--resume"),
            (self.disk.is_some(), "--disk"),
            (self.cluster.is_some(), "--cluster"),
            (self.workers.is_some(), "--workers"),
        ];
        let Some((_, option)) = given.iter().find(|(given, _)| *given) else { return Ok(()) };
        let is_explored = methods.iter().all(|method| *method == Method::Exploration)
            && self.method != Some(MethodName::Proof)
            && !self.sizes.is_every();
        match is_explored {
            true => Ok(()),
            false => Err(trouble(format_args!(
                "{option} works only with the search of --method exploration for given numbers of \
                 processes: leave it out"
            ))),
        }
    }

    /// Requires one answer, if a page is requested.
    pub(super) fn require_one_page(&self, cases: &[(&Input, Variant)]) -> Result<(), ExitCode> {
        let sizes = self.sizes.0.len() + usize::from(self.sizes.is_every());
        match self.html.is_some() && cases.len() * sizes != 1 {
            true => Err(trouble(
                "a page shows one algorithm for one number of processes: check them one by one",
            )),
            false => Ok(()),
        }
    }

    /// Removes existing files at the places of outputs: if this run fails, no older file is
    /// mistaken for its own. No input is overwritten, and no two outputs have the same place.
    pub(super) fn clear_files(&self) -> Result<(), ExitCode> {
        let mut taken: Vec<&Path> = self.inputs.iter().map(Path::new).collect();
        taken.extend(self.cluster.as_deref());
        for path in [&self.trace, &self.certificate, &self.html].into_iter().flatten() {
            clear(path, &taken)?;
            taken.push(path);
        }
        Ok(())
    }

    /// Checks that the folder of an output exists, before a search of perhaps an hour.
    pub(super) fn require_place(&self, path: Option<&Path>) -> Result<(), ExitCode> {
        let Some(path) = path else { return Ok(()) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.is_none_or(Path::is_dir) && !path.is_dir() {
            true => Ok(()),
            false => Err(trouble(format_args!(
                "cannot write {}: it must be a file in a folder that exists",
                path.display()
            ))),
        }
    }
}
