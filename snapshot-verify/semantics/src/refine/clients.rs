//! What a client may begin next, by number: how far it has come, and what each
//! process may begin there.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use crate::interpret::{Call, Client, Progress};

/// A call, and how far the client has come after it.
pub type Choice = (Call, u32);

/// How far a client can come, each once.
#[derive(Debug)]
pub struct Clients {
    client: Client,
    processes: usize,
    all: Vec<Progress>,
    numbers: FxHashMap<Progress, u32>,
    /// Per progress and process, as far as it was asked for.
    choices: FxHashMap<(u32, Process), Box<[Choice]>>,
}

impl Clients {
    /// Of a client of n processes, which has begun nothing: that is number 0.
    pub fn new(client: Client, processes: usize) -> Self {
        let mut clients = Self {
            client,
            processes,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            choices: FxHashMap::default(),
        };
        clients.number(client.start(processes));
        clients
    }

    /// What a process may begin if it is idle.
    pub fn choices(&mut self, progress: u32, process: Process) -> &[Choice] {
        if !self.choices.contains_key(&(progress, process)) {
            let before = self.all[progress as usize].clone();
            let calls = self.client.calls(&before, process, self.processes);
            let after = |call| {
                let mut after = before.clone();
                self.client.begin(&mut after, process, call);
                (call, after)
            };
            let choices: Vec<(Call, Progress)> = calls.into_iter().map(after).collect();
            let choices = choices.into_iter().map(|(call, after)| (call, self.number(after)));
            let choices = choices.collect();
            self.choices.insert((progress, process), choices);
        }
        &self.choices[&(progress, process)]
    }

    fn number(&mut self, progress: Progress) -> u32 {
        if let Some(number) = self.numbers.get(&progress) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(progress.clone());
        self.numbers.insert(progress, number);
        number
    }
}
