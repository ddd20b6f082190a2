//! Programs whose bits matter by their relation to others only.

/// A toggle distinguishes writes: wrong, because two writes may have the same toggle.
pub const TOGGLED: &str = "
algorithm toggled
type register = record (val: value, toggle: bool)
shared r[process]: register
private toggle: bool
update(v):
    toggle := not toggle
    r[me] := (v, toggle)
scan:
    local a[process]: register
    local b[process]: register
    loop
        for k in processes: a[k] := r[k]
        for k in processes: b[k] := r[k]
        if all k in processes: a[k].toggle = b[k].toggle:
            return [b[k].val for k in processes]
";

/// An update informs each process by a bit, after its write.
pub const TOLD: &str = "
algorithm told
shared a[process]: value
shared h[process][process]: bool
shared g[process][process]: bool
update(v):
    a[me] := v
    for k in processes except me:
        t := not h[k][me]
        g[me][k] := t
scan:
    local copy[process]: value
    local mine[process]: bool
    for k in processes except me:
        t := g[k][me]
        h[me][k] := t
        mine[k] := t
    for k in processes: copy[k] := a[k]
    return copy
";

/// An update records for each process, by flipping a bit, that it was made.
pub const NOTED: &str = "
algorithm noted
shared a[process]: value
shared h[process][process]: bool
update(v):
    a[me] := v
    for k in processes except me:
        b := h[k][me]
        h[k][me] := not b
scan:
    local copy[process]: value
    local mine[process]: bool
    for k in processes except me:
        b := h[me][k]
        mine[k] := b
    for k in processes: copy[k] := a[k]
    return copy
";

/// An update marks a cell with a bit that is not in the cell's class.
pub const MARKED: &str = "
algorithm marked
type mark = record (by: process or none, bit: bool)
shared a[segment]: value
shared m: mark
private toggle: bool
update(v):
    a[me] := v
    toggle := not toggle
    m := (me, toggle)
scan:
    local copy[segment]: value
    x := m
    if x.bit:
        for s in segments: copy[s] := a[s]
    return copy
";

/// Updates see scans, which first write bits: one for each process, where a view of t lists it
/// before the one that all views list.
pub const LED: &str = "
algorithm led
shared f[process][process]: bool
shared g[process]: bool
shared active: process or none := none
shared a[segment]: value
private mine: bool
update(v):
    active := none
    mine := not mine
    g[me] := mine
    for k in processes: f[me][k] := mine
    a[me] := v
scan:
    local copy[segment]: value
    repeat
        active := me
        for s in segments: copy[s] := a[s]
    until active = me
    return copy
";
