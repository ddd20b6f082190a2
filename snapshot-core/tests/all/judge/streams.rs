//! The monitor's memory depends on the open operations, never on the length of the stream.
//!
//! [`Monitor::retained`] counts its kept updates and scans. Values that count themselves show that
//! it keeps no more.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use snapshot_core::history::{Declaration, Event};
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::{Process, Segment};

/// The processes that update, each the segment of its own number.
const WRITERS: usize = 3;

/// All processes of a stream; the remaining ones are for the tests.
const PROCESSES: usize = 6;

/// The bound of retained objects while all operations are short.
const MAX_RETAINED: usize = 60;

/// The bound of kept values then: forgotten updates are removed in batches.
const MAX_VALUES: usize = 200;

/// A value that counts its copies.
#[derive(Clone, Debug)]
struct Counted {
    number: u64,
    /// Never read: its reference count is the number of copies.
    _all: Rc<()>,
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

#[derive(Clone, Debug)]
enum Open {
    Nothing,
    Update { number: u64, has_effect: bool },
    Scan { seen: Option<Vec<u64>> },
}

/// An endless run of an atomic object, with a monitor.
struct Stream {
    monitor: Monitor<Counted>,
    all: Rc<()>,
    random: u64,
    numbers: u64,
    state: Vec<u64>,
    open: Vec<Open>,
    /// The largest numbers of retained objects, and of kept values, since the last reset.
    peak: (usize, usize),
}

impl Stream {
    fn new() -> Self {
        let all = Rc::new(());
        let initial = Counted { number: 0, _all: Rc::clone(&all) };
        let declaration = Declaration::new(initial).with_segments(WRITERS);
        Self {
            monitor: Monitor::new(declaration).expect("a sound declaration"),
            all,
            random: 0x9e37_79b9_7f4a_7c15,
            numbers: 0,
            state: vec![0; WRITERS],
            open: vec![Open::Nothing; PROCESSES],
            peak: (0, 0),
        }
    }

    /// A number below `limit` (Marsaglia, "Xorshift RNGs", 2003).
    fn draw(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % limit
    }

    fn value(&self, number: u64) -> Counted {
        Counted { number, _all: Rc::clone(&self.all) }
    }

    fn observe(&mut self, event: &Event<'_, Counted>) {
        let judgement = self.monitor.observe(event).expect("the event is admissible");
        assert_eq!(judgement, Judgement::Linearizable);
        self.peak.0 = self.peak.0.max(self.monitor.retained());
    }

    fn begin_scan(&mut self, process: usize) {
        self.observe(&Event::invoke_scan(Process::from_index(process)));
    }

    fn end_scan(&mut self, process: usize, seen: &[u64]) {
        let values: Vec<Counted> = seen.iter().map(|&number| self.value(number)).collect();
        self.observe(&Event::respond_scan(Process::from_index(process), &values));
    }

    fn begin_update(&mut self, process: usize, number: u64) {
        let value = self.value(number);
        self.observe(&Event::invoke_update(
            Process::from_index(process),
            Segment::from_index(process),
            &value,
        ));
    }

    /// Performs one more act of some process.
    fn step(&mut self) {
        let process = self.draw(PROCESSES as u64) as usize;
        self.open[process] = match self.open[process].clone() {
            Open::Nothing if process < WRITERS => {
                // One update of four repeats the last value.
                self.numbers += 1;
                let is_repeated = self.draw(4) == 0;
                let number = if is_repeated { self.state[process] } else { self.numbers };
                self.begin_update(process, number);
                Open::Update { number, has_effect: false }
            }
            Open::Nothing => {
                self.begin_scan(process);
                Open::Scan { seen: None }
            }
            Open::Update { number, has_effect: false } => {
                self.state[process] = number;
                Open::Update { number, has_effect: true }
            }
            Open::Scan { seen: None } => Open::Scan { seen: Some(self.state.clone()) },
            Open::Update { has_effect: true, .. } => {
                self.observe(&Event::respond_update(Process::from_index(process)));
                Open::Nothing
            }
            Open::Scan { seen: Some(seen) } => {
                self.end_scan(process, &seen);
                Open::Nothing
            }
        };
        self.peak.1 = self.peak.1.max(Rc::strong_count(&self.all));
    }

    /// Continues until there are this many events. Returns the peaks on the way.
    fn go_on(&mut self, events: usize) -> (usize, usize) {
        self.peak = (0, 0);
        let end = self.monitor.events() + events;
        while self.monitor.events() < end {
            self.step();
        }
        self.peak
    }
}

#[test]
fn a_long_stream_is_monitored_in_bounded_memory() {
    let mut stream = Stream::new();
    let (retained, kept) = stream.go_on(1_000_000);
    assert!(retained <= MAX_RETAINED && kept <= MAX_VALUES, "{retained} operations, {kept} values");
}

#[test]
fn memory_grows_only_while_a_scan_stays_open() {
    let mut stream = Stream::new();
    for _ in 0..3 {
        stream.go_on(1_000);
        stream.begin_scan(PROCESSES);
        let seen = stream.state.clone();
        for thousands in 1..=20 {
            let (retained, kept) = stream.go_on(1_000);
            assert!((300 * thousands..1_000 * thousands).contains(&retained), "{retained}");
            assert!((300 * thousands..1_000 * thousands).contains(&kept), "{kept}");
        }
        stream.end_scan(PROCESSES, &seen);
        stream.go_on(200);
        let (retained, kept) = stream.go_on(1_000);
        assert!(
            retained <= MAX_RETAINED && kept <= MAX_VALUES,
            "{retained} operations, {kept} values"
        );
    }
}

/// With updates alone or with scans alone, unnecessary objects are forgotten.
#[test]
fn updates_alone_and_scans_alone_are_forgotten() {
    let mut stream = Stream::new();
    for number in 1..=1_000 {
        stream.begin_update(0, number);
        stream.observe(&Event::respond_update(Process::from_index(0)));
    }
    assert!(stream.peak.0 <= MAX_RETAINED, "{:?}", stream.peak);

    stream.begin_scan(PROCESSES);
    for number in 1_001..=2_000 {
        stream.begin_update(0, number);
        stream.observe(&Event::respond_update(Process::from_index(0)));
    }
    assert!(stream.monitor.retained() > 1_000, "{:?}", stream.peak);
    stream.end_scan(PROCESSES, &[1_000, 0, 0]);
    for _ in 0..40 {
        stream.begin_scan(PROCESSES);
        stream.end_scan(PROCESSES, &[2_000, 0, 0]);
    }
    let kept = Rc::strong_count(&stream.all);
    assert!(stream.monitor.retained() <= MAX_RETAINED && kept <= MAX_VALUES, "{kept} values");
}

/// As one long scan ends, another is open: windows are always long, but nothing older than the
/// oldest open scan is kept.
#[test]
fn a_relay_of_long_scans_is_monitored_in_bounded_memory() {
    let mut stream = Stream::new();
    let mut seen = [vec![0; WRITERS], vec![0; WRITERS]];
    stream.begin_scan(PROCESSES);
    for round in 1..=100 {
        let (next, last) = (round % 2, (round + 1) % 2);
        stream.begin_scan(PROCESSES + next);
        seen[next].clone_from(&stream.state);
        let (retained, kept) = stream.go_on(1_000);
        assert!((300..2_000).contains(&retained), "{retained}");
        assert!((300..2_000).contains(&kept), "{kept} values in round {round}");
        stream.end_scan(PROCESSES + last, &seen[last].clone());
    }
}

/// The position of an update with a lost outcome is known once a scan saw it.
#[test]
fn lost_outcomes_are_forgotten_once_seen() {
    let mut stream = Stream::new();
    for number in 1..=10_000 {
        stream.begin_update(0, number);
        if number % 2 == 0 {
            stream.begin_scan(PROCESSES);
            stream.end_scan(PROCESSES, &[number, 0, 0]);
            stream.observe(&Event::unknown(Process::from_index(0)));
        } else {
            stream.observe(&Event::fail(Process::from_index(0)));
        }
    }
    let kept = Rc::strong_count(&stream.all);
    assert!(
        stream.peak.0 <= MAX_RETAINED && kept <= MAX_VALUES,
        "{:?}, {kept} values",
        stream.peak
    );
    assert_eq!((stream.monitor.failed(), stream.monitor.pending()), (5_000, 5_000));
}

/// An update that no scan saw may take effect at any time: it is kept, and nothing else.
#[test]
fn lost_outcomes_that_no_scan_saw_are_kept() {
    let mut stream = Stream::new();
    for number in 1..=1_000 {
        stream.begin_update(0, number);
        stream.observe(&Event::unknown(Process::from_index(0)));
    }
    assert!((1_000..=1_000 + MAX_RETAINED).contains(&stream.monitor.retained()));
}

/// A scan that fails, or whose outcome is lost, constrains nothing: it is forgotten, whether or not
/// an older scan is open, and no response of a scan is needed for that.
#[test]
fn scans_without_response_are_forgotten() {
    for is_another_open in [false, true] {
        let mut stream = Stream::new();
        if is_another_open {
            stream.begin_scan(PROCESSES);
        }
        for number in 0..10_000 {
            stream.begin_scan(0);
            let reader = Process::from_index(0);
            stream.observe(&if number % 2 == 0 {
                Event::fail(reader)
            } else {
                Event::unknown(reader)
            });
        }
        assert!(stream.peak.0 <= MAX_RETAINED, "{:?}, {is_another_open}", stream.peak);
    }
}
