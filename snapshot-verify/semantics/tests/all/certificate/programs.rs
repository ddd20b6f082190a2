//! Programs, their certificates, and checks of them.

use snapshot_core::Process;
use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_semantics::certificate::{
    Answer, Budget, Claim, Coverage, Failure, Refusal, check, digest, write,
};

pub struct Subject {
    pub text: String,
    pub program: Program,
}

impl Subject {
    /// Parses a text.
    pub fn new(text: &str, bug: Option<&str>) -> Self {
        let program = parse("test", text).unwrap().program(bug).unwrap();
        Self { text: text.to_owned(), program }
    }

    /// Takes an algorithm of the corpus.
    pub fn corpus(name: &str, bug: Option<&str>) -> Self {
        Self::new(corpus::algorithm(name).unwrap().text, bug)
    }

    /// Claims all pairs of n processes.
    pub fn claim(&self, n: usize, operations: Option<u32>, coverage: Coverage) -> Claim {
        let pair = |i, j| [Process::from_index(i), Process::from_index(j)];
        Claim {
            algorithm: self.program.name.clone(),
            bug: self.program.bug.clone(),
            digest: digest(&self.text),
            processes: n,
            operations,
            coverage,
            pairs: (0..n).flat_map(|i| (i + 1..n).map(move |j| pair(i, j))).collect(),
        }
    }

    /// Returns a certificate and the number of its states.
    pub fn prove(&self, claim: &Claim) -> Result<(String, usize), Failure> {
        let mut out = Vec::new();
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        let summary = write(&self.program, claim, &mut out, &mut budget)?;
        assert_eq!(summary.bytes, out.len() as u64);
        Ok((String::from_utf8(out).unwrap(), summary.states()))
    }

    /// Checks a certificate.
    pub fn check(&self, certificate: &str) -> Answer {
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        let digest = digest(&self.text);
        check(&self.program, &digest, &mut certificate.as_bytes(), &mut budget).unwrap()
    }

    /// Returns the reason why a certificate is refused.
    pub fn refusal(&self, certificate: &str) -> Refusal {
        match self.check(certificate) {
            Answer::Refused(refusal) => refusal,
            answer => panic!("{answer:?}"),
        }
    }
}
