//! Wrong programs that the explorer once verified: by wrong exchanges of processes, and by
//! counters counted up more than once in a step. None has a certificate.

use snapshot_semantics::certificate::{Coverage, Failure};

use crate::programs::Subject;

const ONLY_P3: &str = "algorithm syma3
shared last: process
shared whole: view
update(v):
    local w: view
    atomic:
        last := me
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local zero: view
    local k: 0..n-1
    atomic:
        k := last
        w := whole
    if k = 3: return zero
    return w
";

const ORDERED: &str = "algorithm symlt
shared last: process
shared whole: view
update(v):
    local w: view
    atomic:
        last := me
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local p: process
    atomic:
        p := last
        w := whole
    if p > 1: w[p] := initial
    return w
";

const THREE_MORE: &str = "algorithm cnt
shared c: counter
shared whole: view
update(v):
    local w: view
    local s: counter
    atomic:
        s := c
        c := s + 1
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local zero: view
    local x: counter
    local y: counter
    local d: counter
    x := c
    atomic:
        d := c
        w := whole
    y := x + 1
    y := y + 1
    y := y + 1
    if y < d: return zero
    return w
";

const TWICE: &str = "algorithm wrong_two_increments
shared a[segment]: value
shared hi: counter
shared lo: counter
update(v):
    atomic:
        a[me] := v
        h := hi
        hi := h + 1
scan:
    local c[segment]: value
    local t: counter
    atomic:
        t := lo
        h := hi
        t := t + 1
        t := t + 1
        lo := t
        for s in segments: c[s] := a[s]
    if t + 1 < h: c[me] := initial
    if t + 1 < h: c[process(1)] := initial
    return c
";

const TWO_COUNTERS: &str = "algorithm s2b
shared h: counter
shared g: counter
shared l: counter
shared k: counter
shared a[segment]: value
update(v):
    atomic:
        a[me] := v
        if me = process(0):
            t := h
            h := t + 1
        if me = process(1):
            t := g
            g := t + 1
scan:
    local c[segment]: value
    atomic:
        t := l
        x := h
        t1 := t + 1
        l := t1
        u := k
        y := g
        u1 := u + 1
        k := u1
        for s in segments: c[s] := a[s]
    if t1 + 1 < x and u1 + 1 < y: c[process(1)] := initial
    return c
";

const PRIVATELY: &str = "algorithm s1d
shared hi: counter
shared a[segment]: value
private mine: counter
private own: counter
update(v):
    a[me] := v
    if me = process(0):
        mine := mine + 1
        hi := mine
scan:
    local c[segment]: value
    if me = process(0): loop: h := hi
    for s in segments: c[s] := a[s]
    h := hi
    own := own + 1
    own := own + 1
    if own + 1 < h: c[process(0)] := initial
    return c
";

const CATCHING_UP: &str = "algorithm s3
shared seq: counter
shared a[segment]: value
private own: counter
private seen: counter
update(v):
    a[me] := v
    if me = process(0):
        own := own + 1
        own := own + 1
        seq := own
scan:
    local w[segment]: value
    if me = process(0): loop: t := seq
    for s in segments: w[s] := a[s]
    t := seq
    if seen < t: seen := seen + 1
    if seen < t: seen := seen + 1
    if seen < t: seen := seen + 1
    if seen + 1 < t: w[process(0)] := initial
    return w
";

#[test]
fn no_exchange_of_processes_is_presumed() {
    for (text, n) in [(ONLY_P3, 4), (ORDERED, 3)] {
        let subject = Subject::new(text, None);
        for coverage in Coverage::ALL {
            let failure = subject.prove(&subject.claim(n, None, coverage)).unwrap_err();
            assert!(matches!(failure, Failure::Violation { .. }), "{failure}");
            assert_eq!(failure.contradicts(), !coverage.symmetry);
        }
    }
}

#[test]
fn counters_are_what_they_are() {
    for (text, operations) in
        [(THREE_MORE, 4), (TWICE, 4), (TWO_COUNTERS, 4), (PRIVATELY, 4), (CATCHING_UP, 3)]
    {
        let subject = Subject::new(text, None);
        let antichain = Coverage { antichain: true, symmetry: false };
        let failure = subject.prove(&subject.claim(2, None, antichain)).unwrap_err();
        assert!(matches!(failure, Failure::Counters), "{failure}");
        let failure = subject.prove(&subject.claim(2, Some(operations), antichain)).unwrap_err();
        assert!(
            matches!(failure, Failure::Violation { .. }),
            "{}: {failure}",
            subject.program.name
        );
    }
}
