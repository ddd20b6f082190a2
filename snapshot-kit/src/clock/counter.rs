//! The time-stamp counter of x86-64 processors: the only `unsafe` of the project.
//!
//! **Order.** From Intel's manual (volume 2, RDTSC): to read the counter before any later
//! instruction executes, put LFENCE after RDTSC; to read it after all earlier loads and stores are
//! globally visible, put MFENCE and LFENCE before it. AMD's manual (volume 2, 7.4) says the same of
//! LFENCE where it is dispatch-serialising, which Linux makes it on every AMD processor. [`begin`]
//! is the first, [`end`] the second. So the stamp of an invocation is older than every access of
//! the call, and the stamp of a response is younger than the moment from which all of them are
//! visible everywhere. (Without MFENCE an update by a plain store could respond with its value
//! still in the store buffer: a false alarm.)
//!
//! **One clock.** Readings of different processors compare only if the counters have one rate,
//! never stop, and were set together. `constant_tsc` and `nonstop_tsc` assert the first two. For
//! the last, Linux compares the processors' TSC_ADJUST at boot and tests for warps, and permanently
//! removes `tsc` from the list of its clock sources if it finds any, or when a watchdog sees them
//! drift. [`is_one_clock`] requires all three.
//!
//! **Safety.** RDTSC and the fences touch no memory of the program and have no preconditions except
//! the instructions' existence: SSE2 is part of x86-64, and RDTSC is refused (by a signal) only to
//! a process that requested it with `PR_SET_TSC`.

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "instructions without a safe name; argument above")]
mod instructions {
    use std::arch::x86_64::{_mm_lfence, _mm_mfence, _rdtsc};

    /// Reads the counter.
    #[inline]
    pub(crate) fn read() -> u64 {
        // SAFETY: reads a register; available on every x86-64 processor.
        unsafe { _rdtsc() }
    }

    /// Keeps later instructions from starting before earlier ones have executed.
    #[inline]
    pub(crate) fn begin() {
        // SAFETY: a fence; SSE2 is part of x86-64.
        unsafe { _mm_lfence() }
    }

    /// As [`begin`], and makes the effects of earlier instructions visible to all processors.
    #[inline]
    pub(crate) fn end() {
        // SAFETY: fences; SSE2 is part of x86-64.
        unsafe {
            _mm_mfence();
            _mm_lfence();
        }
    }
}

/// Never called on processors without a counter.
#[cfg(not(target_arch = "x86_64"))]
mod instructions {
    pub(crate) fn read() -> u64 {
        unreachable!("a clock is asked only where it exists")
    }

    pub(crate) fn begin() {}

    pub(crate) fn end() {}
}

pub(super) use instructions::{begin, end, read};

/// Returns true if the counters of all processors are one clock. The system is queried once.
pub(super) fn is_one_clock() -> bool {
    static ANSWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ANSWER.get_or_init(|| cfg!(all(target_arch = "x86_64", target_os = "linux")) && linux_trusts())
}

fn linux_trusts() -> bool {
    const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let has = |text: &str, word| text.split_ascii_whitespace().any(|other| other == word);
    let processors = read("/proc/cpuinfo");
    let mut flags = processors.lines().filter(|line| line.starts_with("flags")).peekable();
    has(&read(SOURCES), "tsc")
        && flags.peek().is_some()
        && flags.all(|line| has(line, "constant_tsc") && has(line, "nonstop_tsc"))
}
