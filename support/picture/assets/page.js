// Draws the recording on a canvas, and answers the keys. The data are in the element
// `data`; what the columns hold, and how, is told in columns.rs. Only the rows and the
// pixels that are visible are drawn: a frame costs the same for ten operations and for a
// million.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const canvas = $("timeline");
  const NONE = 0xffffffff;
  const isOfExchanges = data.form === "exchanges", isNamed = data.form === "operations";
  const ROW = 40, BAR = 20, AXIS = 26;
  // The names of processes and segments, where the recording has names.
  const processName = (p) => data.processes[p] ?? `p${p}`, segmentName = (s) => data.segments[s] ?? `s${s}`;
  const longest = data.processes.reduce((most, name) => Math.max(most, name.length), 0);
  const GUTTER = Math.max(52, Math.min(longest * 7.3 + 16, window.innerWidth * 0.3));

  // --- the recording -------------------------------------------------------------
  let all = null; // columns, once they are unpacked

  async function unpack(base64) {
    const text = atob(base64);
    const packed = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) packed[k] = text.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function decode(bytes) {
    let at = 0;
    const next = () => {
      let byte = bytes[at++], number = byte & 127, unit = 128;
      while (byte > 127) { byte = bytes[at++]; number += (byte & 127) * unit; unit *= 128; }
      return number;
    };
    const back = (z) => (z % 2 ? -(z + 1) / 2 : z / 2);
    const count = next(), processes = next(), segments = next(), ticks = next(), entries = next();
    const process = new Uint32Array(count), kind = new Uint32Array(count);
    const begin = new Uint32Array(count), end = new Uint32Array(count).fill(NONE);
    const outcome = new Uint8Array(count), place = new Uint32Array(count);
    for (let k = 0; k < count; k++) process[k] = next();
    for (let k = 0; k < count; k++) kind[k] = next();
    for (let k = 0, last = 0; k < count; k++) begin[k] = last += next();
    for (let k = 0; k < count; k++) {
      const code = next();
      if (code) { end[k] = begin[k] + Math.floor(code / 4); outcome[k] = code % 4; }
    }
    const value = (last) => {
      const code = next(), half = Math.floor(code / 2);
      const isText = code % 2 ? !last.isText : last.isText;
      last.number = back(half) + (code % 2 ? 0 : last.number);
      last.isText = isText;
    };
    const fresh = () => Array.from({ length: segments }, () => ({ isText: false, number: 0 }));
    let updates = 0, scans = 0;
    for (let k = 0; k < count; k++) place[k] = kind[k] ? updates++ : outcome[k] === 1 ? scans++ : NONE;
    // Where its entries are: an exchange writes and reads.
    const seen = isOfExchanges ? new Uint32Array(count).fill(NONE) : place;
    if (isOfExchanges) for (let k = 0; k < count; k++) if (outcome[k] === 1) seen[k] = scans++;
    const written = new Float64Array(updates), writtenText = new Uint8Array(updates);
    let last = fresh();
    for (let k = 0; k < count; k++) if (kind[k]) {
      const one = last[kind[k] - 1];
      value(one);
      written[place[k]] = one.number; writtenText[place[k]] = one.isText;
    }
    const returned = new Float64Array(entries), returnedText = new Uint8Array(entries);
    last = fresh();
    for (let k = 0, e = 0; e < entries; k++) for (let s = 0; s < segments; s++, e++) {
      value(last[s]);
      returned[e] = last[s].number; returnedText[e] = last[s].isText;
    }
    const ordered = next(), order = new Uint32Array(ordered);
    const rank = new Uint32Array(ordered ? count : 0).fill(NONE);
    for (let k = 0, o = 0; k < ordered; k++) { order[k] = o += back(next()); rank[o] = k; }
    // Where each operation takes effect: the latest invocation so far, in that order;
    // several together divide the time up to the next event.
    const point = new Float64Array(ordered ? count : 0).fill(-1);
    // The same of blocks, whose operations take effect at one instant.
    const blocks = isOfExchanges || isNamed ? next() : 0, block = new Uint32Array(blocks ? count : 0).fill(NONE);
    const ends = new Uint32Array(blocks), instants = new Float64Array(blocks);
    for (let b = 0, k = 0, from = -1; b < blocks; b++) {
      ends[b] = k + next();
      for (; k < ends[b]; k++) { block[order[k]] = b; from = Math.max(from, begin[order[k]]); }
      instants[b] = from;
    }
    for (let b = 0; b < blocks;) {
      let after = b;
      while (after < blocks && instants[after] === instants[b]) after++;
      for (let j = b; j < after; j++) for (let k = j ? ends[j - 1] : 0; k < ends[j]; k++) {
        point[order[k]] = instants[b] + (j - b + 1) / (after - b + 1);
      }
      b = after;
    }
    for (let k = 0, from = -1; !blocks && k < ordered;) {
      from = Math.max(from, begin[order[k]]);
      let next = k;
      while (next < ordered && begin[order[next]] <= from) next++;
      for (let j = k; j < next; j++) point[order[j]] = from + (j - k + 1) / (next - k + 1);
      k = next;
    }
    // The operations of each process, in their order.
    const from = new Uint32Array(processes + 1);
    for (let k = 0; k < count; k++) from[process[k] + 1]++;
    for (let p = 0; p < processes; p++) from[p + 1] += from[p];
    const own = new Uint32Array(count), free = from.slice();
    for (let k = 0; k < count; k++) own[free[process[k]]++] = k;
    return { count, processes, segments, ticks: Math.max(ticks, 1), process, kind, begin, end, outcome,
      place, seen, block, blocks, written, writtenText, returned, returnedText, order, rank, point, from, own };
  }

  const show = (isText, number) => (isText ? data.dictionary[number] : String(number));
  const names = new Map(data.guilty.map((one) => [one.operation, one]));

  const value = (k) => show(all.writtenText[all.place[k]], all.written[all.place[k]]);

  function entries(k) {
    const parts = [];
    const first = all.seen[k] * all.segments;
    const hasNames = data.segments.length > 0, most = 12;
    let s = 0;
    for (; s < all.segments && parts.length < most; s++) {
      const value = show(all.returnedText[first + s], all.returned[first + s]);
      if (!hasNames) parts.push(value);
      else if (value !== "_") parts.push(`${segmentName(s)}: ${value}`);
    }
    return `[${parts.join(", ")}${s < all.segments ? ", \u2026" : ""}]`;
  }

  function deed(k) {
    const isSeen = all.seen[k] !== NONE && data.has_entries;
    if (isNamed) return value(k);
    if (isOfExchanges) return `exchange(${value(k)})${isSeen ? ` ${entries(k)}` : ""}`;
    if (all.kind[k]) {
      const s = all.kind[k] - 1;
      return s === all.process[k] && !data.segments.length ? `update(${value(k)})` : `update(${segmentName(s)}: ${value(k)})`;
    }
    if (!isSeen) return names.has(k) ? names.get(k).deed : "scan";
    return `scan ${entries(k)}`;
  }

  const label = (k) => (names.has(k) ? names.get(k).name + ": " : "") + deed(k);
  const ended = (k) => [`still open`, `to ${all.end[k]}`, `failed at ${all.end[k]}`, `outcome lost at ${all.end[k]}`][all.outcome[k]];
  const sentence = (k) =>
    `${label(k)} by ${processName(all.process[k])}, operation ${k}, ${data.tick} ${all.begin[k]} ${ended(k)}` +
    (!all.rank.length || all.rank[k] === NONE ? ""
      : all.blocks ? `, in block ${all.block[k] + 1}` : `, ${all.rank[k] + 1}. in the linearization`);

  // --- the view --------------------------------------------------------------------
  const view = { from: 0, to: 1, top: 0, rows: [], width: 300, height: 200, selected: -1, pinned: false };
  let colours = {};
  const context = canvas.getContext("2d");
  let isDue = false;
  const due = () => { if (!isDue) { isDue = true; requestAnimationFrame(draw); } };
  const x = (t) => GUTTER + ((t - view.from) / (view.to - view.from)) * (view.width - GUTTER);
  const t = (px) => view.from + ((px - GUTTER) / (view.width - GUTTER)) * (view.to - view.from);
  const y = (row) => AXIS + row * ROW - view.top;

  function readColours() {
    const style = getComputedStyle(root);
    colours = {};
    for (const name of ["page", "ink", "soft", "line", "panel", "update", "update-edge", "scan",
      "scan-edge", "wrong", "right", "time", "supposed", "focus", "mark", "band0", "band1", "band2", "band3"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    due();
  }

  function chooseRows() {
    const only = $("only") && $("only").checked;
    const wanted = new Set(data.guilty.map((one) => all.process[one.operation]));
    view.rows = [];
    for (let p = 0; p < all.processes; p++) {
      if (only ? wanted.has(p) : all.from[p + 1] > all.from[p]) view.rows.push(p);
    }
    view.rowOf = new Map(view.rows.map((p, row) => [p, row]));
    resize();
  }

  function resize() {
    const wanted = AXIS + Math.max(view.rows.length, 1) * ROW + 6;
    const height = Math.round(Math.max(90, Math.min(wanted, window.innerHeight * 0.6)));
    canvas.style.height = `${height}px`;
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    view.width = box.width; view.height = height;
    canvas.width = Math.round(box.width * ratio); canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    scrollTo(view.top);
    due();
  }

  function scrollTo(top) {
    view.top = Math.max(0, Math.min(top, AXIS + view.rows.length * ROW + 6 - view.height));
  }

  function look(from, to) {
    const most = all.ticks * 1.05 + 2;
    let span = Math.min(Math.max(to - from, 4), most);
    let begin = (from + to - span) / 2;
    begin = Math.max(-span * 0.5, Math.min(begin, all.ticks - span * 0.5));
    view.from = begin; view.to = begin + span;
    due();
  }

  function zoom(factor, px) {
    const at = t(px === undefined ? (GUTTER + view.width) / 2 : px);
    look(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }

  const lastTick = (k) => (all.end[k] === NONE ? Math.min(all.ticks, all.begin[k] + Math.max(4, view.to - view.from)) : all.end[k]);

  function goHome() {
    if (!data.guilty.length) return look(-1, Math.min(all.ticks, 60));
    let from = Infinity, to = 0;
    for (const one of data.guilty) {
      from = Math.min(from, all.begin[one.operation]);
      to = Math.max(to, all.end[one.operation] === NONE ? all.begin[one.operation] : all.end[one.operation]);
    }
    const margin = Math.max(3, (to - from) * 0.15);
    look(from - margin, to + margin);
    reveal(data.guilty[0].operation);
  }

  function reveal(k) {
    const row = view.rowOf.get(all.process[k]);
    if (row === undefined) return;
    if (y(row) < AXIS) scrollTo(row * ROW);
    if (y(row) + ROW > view.height) scrollTo(AXIS + (row + 1) * ROW + 6 - view.height);
    const begin = all.begin[k], end = all.end[k] === NONE ? begin + 2 : all.end[k], span = view.to - view.from;
    if (end < view.from || begin > view.to || (end - begin < span && (begin < view.from || end > view.to))) {
      look((begin + end - span) / 2, (begin + end + span) / 2);
    }
    due();
  }

  // The first position in the row of p whose operation ends at `tick` or later.
  function firstAt(p, tick) {
    let low = all.from[p], high = all.from[p + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      // An operation whose outcome was lost ends for its process where that was said.
      if (all.end[all.own[middle]] < tick) low = middle + 1; else high = middle;
    }
    return low;
  }

  function drawRow(p, top) {
    const limit = all.from[p + 1], perTick = (view.width - GUTTER) / (view.to - view.from);
    let at = firstAt(p, view.from);
    while (at < limit) {
      const k = all.own[at];
      if (all.begin[k] > view.to) break;
      const left = Math.max(GUTTER, x(all.begin[k]));
      const right = all.end[k] === NONE ? view.width : Math.min(view.width + 20, x(all.end[k]));
      if (right - left < 3 && perTick < 3) {
        // A pixel of many operations: how many there are decides how dense it looks.
        const edge = Math.max(left, GUTTER) + 2;
        const after = Math.max(at + 1, firstAt(p, t(edge)));
        let updates = 0;
        const stride = Math.max(1, (after - at) >> 3);
        for (let o = at; o < after; o += stride) updates += all.kind[all.own[o]] ? 1 : 0;
        const isMostlyUpdates = updates * 2 * stride > after - at;
        context.fillStyle = isMostlyUpdates ? colours["update-edge"] : colours["scan-edge"];
        context.globalAlpha = Math.min(1, 0.35 + 0.1 * (after - at));
        context.fillRect(left, top + 4, 2, BAR - 8);
        context.globalAlpha = 1;
        at = after;
        continue;
      }
      drawBar(k, left, right, top);
      at++;
    }
  }

  function drawBar(k, left, right, top) {
    const width = Math.max(2, right - left), kind = all.kind[k] && !(isNamed && all.kind[k] === 2) ? "update" : "scan";
    context.fillStyle = colours[kind];
    context.fillRect(left, top, width, BAR);
    context.strokeStyle = colours[`${kind}-edge`];
    context.lineWidth = 1.2;
    context.setLineDash(all.outcome[k] === 1 ? [] : [4, 3]);
    context.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - 1), BAR - 1);
    context.setLineDash([]);
    const shown = Math.min(right, view.width) - Math.max(left, GUTTER);
    if (shown > 34 && !names.has(k)) {
      context.fillStyle = colours.ink;
      context.font = "12px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace";
      context.fillText(clipped(deed(k), shown - 8), Math.max(left, GUTTER) + 5, top + 14);
    }
    if (all.point.length && all.point[k] >= 0 && width > 6) {
      const px = x(all.point[k]);
      context.fillStyle = colours.right;
      context.beginPath(); context.arc(px, top + BAR, 3.5, 0, 7); context.fill();
    }
  }

  function clipped(text, width) {
    const fits = Math.floor(width / 7.3);
    return text.length <= fits ? text : text.slice(0, Math.max(0, fits - 1)) + "\u2026";
  }

  function visible(k) {
    const row = view.rowOf.get(all.process[k]);
    if (row === undefined) return null;
    const left = x(all.begin[k]), right = all.end[k] === NONE ? view.width - 4 : x(all.end[k]);
    return { row, top: y(row) + 10, left, right: Math.max(right, left + 4) };
  }

  function drawGuilty() {
    context.font = "bold 12px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace";
    for (const one of data.guilty) {
      const box = visible(one.operation);
      if (!box) continue;
      context.strokeStyle = colours.wrong;
      context.lineWidth = 3;
      context.strokeRect(box.left, box.top - 1, box.right - box.left, BAR + 2);
      const left = Math.max(box.left, GUTTER), room = Math.min(box.right, view.width) - left;
      context.fillStyle = colours.ink;
      if (room > 24) context.fillText(clipped(`${one.name}: ${one.deed}`, room - 8), left + 5, box.top + 14);
      else { context.fillStyle = colours.wrong; context.fillText(one.name, box.right + 3, box.top + 14); }
    }
    for (const [before, after, kind] of data.arrows) {
      const a = visible(data.guilty[before].operation), b = visible(data.guilty[after].operation);
      const isSeen = (box) => box && box.right >= GUTTER && box.left <= view.width;
      if (a && b && (isSeen(a) || isSeen(b))) drawArrow(a, b, colours[kind === "values" ? "wrong" : kind], kind === "supposed");
    }
  }

  function drawArrow(a, b, colour, isDashed) {
    const clamp = (v) => Math.max(GUTTER + 4, Math.min(v, view.width - 4));
    const isDown = a.row < b.row, isSame = a.row === b.row, shift = isSame ? 0 : isDown ? -9 : 9;
    const x1 = (clamp(a.left) + clamp(a.right)) / 2 + shift, x2 = (clamp(b.left) + clamp(b.right)) / 2 + shift;
    // In one row: over it, or under it if it leads back, within the room between rows.
    const isUnder = isSame && x2 < x1;
    const y1 = isUnder || isDown ? a.top + BAR : a.top, y2 = isUnder || !(isSame || isDown) ? b.top + BAR : b.top;
    const middle = isSame ? y1 + (isUnder ? 13 : -13) : (y1 + y2) / 2;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.setLineDash(isDashed ? [5, 4] : []);
    context.beginPath(); context.moveTo(x1, y1);
    context.bezierCurveTo(x1, middle, x2, middle, x2, y2);
    context.stroke();
    context.setLineDash([]);
    const way = (isSame ? 7 : 9) * (Math.sign(y2 - middle) || 1);
    context.beginPath(); context.moveTo(x2, y2);
    context.lineTo(x2 - 5, y2 - way); context.lineTo(x2 + 5, y2 - way); context.fill();
  }

  function drawAxis() {
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, view.width, AXIS);
    context.strokeStyle = colours.line; context.fillStyle = colours.soft;
    context.lineWidth = 1;
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const rough = ((view.to - view.from) * 90) / (view.width - GUTTER), unit = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough));
    for (let tick = Math.max(0, Math.ceil(view.from / step) * step); tick <= Math.min(view.to, all.ticks); tick += step) {
      const px = x(tick);
      if (px < GUTTER) continue;
      context.beginPath(); context.moveTo(px, AXIS - 5); context.lineTo(px, AXIS); context.stroke();
      const text = tick.toLocaleString("en");
      if (px + context.measureText(text).width + 4 < view.width) context.fillText(text, px + 3, AXIS - 8);
    }
    context.fillText(data.tick, 6, AXIS - 8);
    let last = -9;
    for (let k = lower(data.annotations, view.from); k < data.annotations.length && data.annotations[k].tick <= view.to; k++) {
      const px = x(data.annotations[k].tick);
      if (px - last < 4 || px < GUTTER) continue;
      last = px;
      context.fillStyle = colours.focus;
      context.beginPath(); context.moveTo(px - 5, 0); context.lineTo(px + 5, 0); context.lineTo(px, 8); context.fill();
    }
  }

  function lower(list, tick) {
    let low = 0, high = list.length;
    while (low < high) { const m = (low + high) >> 1; if (list[m].tick < tick) low = m + 1; else high = m; }
    return low;
  }

  function line(tick, colour, dash) {
    const px = x(tick);
    if (px < GUTTER || px > view.width) return;
    context.strokeStyle = colour; context.lineWidth = 1.5; context.setLineDash(dash);
    context.beginPath(); context.moveTo(px, AXIS); context.lineTo(px, view.height); context.stroke();
    context.setLineDash([]);
  }

  function draw() {
    isDue = false;
    const started = performance.now();
    context.fillStyle = colours.page;
    context.fillRect(0, 0, view.width, view.height);
    const first = Math.max(0, Math.floor(view.top / ROW));
    const last = Math.min(view.rows.length, Math.ceil((view.top + view.height) / ROW));
    context.save();
    context.beginPath(); context.rect(GUTTER, AXIS, view.width - GUTTER, view.height - AXIS); context.clip();
    for (const band of data.bands) {
      const left = Math.max(GUTTER, x(band.from)), right = Math.min(view.width, x(band.to));
      if (right < GUTTER || left > view.width) continue;
      context.fillStyle = colours[`band${Math.min(band.kind, 3)}`];
      context.fillRect(left, AXIS, Math.max(2, right - left), view.height - AXIS);
    }
    for (let row = first; row < last; row++) {
      context.strokeStyle = colours.line; context.lineWidth = 1;
      context.beginPath(); context.moveTo(GUTTER, y(row) + ROW - 0.5); context.lineTo(view.width, y(row) + ROW - 0.5); context.stroke();
      drawRow(view.rows[row], y(row) + 10);
    }
    if (data.decided_at !== null) line(data.decided_at, colours.wrong, [6, 4]);
    drawGuilty();
    if (view.selected >= 0) {
      const box = visible(view.selected);
      if (box) {
        context.strokeStyle = colours.focus; context.lineWidth = 3;
        context.strokeRect(box.left - 3, box.top - 4, box.right - box.left + 6, BAR + 8);
      }
    }
    if (data.steps) line(step, colours.focus, []);
    context.restore();
    context.font = "12px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace";
    for (let row = first; row < last; row++) {
      context.fillStyle = colours.ink;
      if (y(row) + 14 > AXIS) context.fillText(clipped(processName(view.rows[row]), GUTTER - 10), 6, y(row) + 24);
    }
    drawAxis();
    const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
    // Events are numbered from 0, steps from 1: tick 0 is before the first.
    const firstTick = data.tick === "step" ? 1 : 0, lastOne = all.ticks - 1;
    const shown = Math.max(0, Math.min(Math.floor(view.to), lastOne) - Math.max(Math.ceil(view.from), firstTick) + 1);
    $("scale").textContent = `${shown.toLocaleString("en")} of ${count(lastOne - firstTick + 1, data.tick)} shown; ${count(all.count, "operation")}`;
    root.dataset.frame = (performance.now() - started).toFixed(2);
    root.dataset.frames = Number(root.dataset.frames || 0) + 1;
    root.dataset.view = `${view.from.toFixed(2)} ${view.to.toFixed(2)}`;
  }

  // --- one operation ------------------------------------------------------------------
  function select(k, isPinned) {
    view.selected = k;
    root.dataset.selected = k;
    if (k < 0) { $("told").textContent = "\u00a0"; unpin(); due(); return; }
    $("told").textContent = sentence(k);
    reveal(k);
    if (isPinned || view.pinned) pin(k);
  }

  function unpin() { view.pinned = false; $("details").hidden = true; }

  function pin(k) {
    view.pinned = true;
    const list = document.createElement("dl");
    const add = (name, text) => {
      const term = document.createElement("dt"), description = document.createElement("dd");
      term.textContent = name; description.textContent = text; list.append(term, description);
    };
    add("operation", `${k}${names.has(k) ? ` (${names.get(k).name} of the argument)` : ""}`);
    add("process", data.processes[all.process[k]] ?? all.process[k]);
    if (isNamed) add("text", value(k));
    else if (isOfExchanges) add("writes", value(k));
    else if (all.kind[k]) {
      add("updates segment", data.segments[all.kind[k] - 1] ?? all.kind[k] - 1);
      add("with", value(k));
    }
    if (isNamed || (all.kind[k] && !isOfExchanges)) { /* It returns nothing. */ }
    else if (all.seen[k] === NONE) add(isOfExchanges ? "exchange" : "scan", "did not return");
    else if (!data.has_entries) add("returned", names.has(k) ? names.get(k).deed : "its values are not on this page");
    else {
      const first = all.seen[k] * all.segments, most = Math.min(all.segments, 256);
      for (let s = 0; s < most; s++) add(data.segments[s] ?? `segment ${s}`, show(all.returnedText[first + s], all.returned[first + s]));
      if (most < all.segments) add("more", `${all.segments - most} more segments`);
    }
    add("invoked", `${data.tick} ${all.begin[k]}`);
    add("end", ["none: still open", `${data.tick} ${all.end[k]}`, `failed at ${data.tick} ${all.end[k]}`, `outcome lost at ${data.tick} ${all.end[k]}`][all.outcome[k]]);
    if (names.has(k) && names.get(k).place) add("in the file", names.get(k).place);
    if (all.blocks) add("block", all.rank[k] === NONE ? "no effect" : `${all.block[k] + 1} of ${all.blocks}`);
    else if (all.rank.length) add("linearization", all.rank[k] === NONE ? "no effect" : `takes effect as number ${all.rank[k] + 1} of ${all.order.length}`);
    const reasons = document.querySelectorAll(".legend li");
    data.arrows.forEach(([before, after, , number], at) => {
      if ([before, after].some((one) => data.guilty[one].operation === k) && reasons[at]) add(`arrow ${number}`, reasons[at].textContent);
    });
    $("details").replaceChildren(list);
    $("details").hidden = false;
  }

  const positionOf = (k) => {
    const p = all.process[k];
    let low = all.from[p], high = all.from[p + 1];
    while (low < high) { const m = (low + high) >> 1; if (all.own[m] < k) low = m + 1; else high = m; }
    return low;
  };

  function along(by) {
    const k = view.selected, p = all.process[k], at = positionOf(k) + by;
    if (at >= all.from[p] && at < all.from[p + 1]) select(all.own[at]);
  }

  function across(by) {
    const k = view.selected, middle = all.end[k] === NONE ? all.begin[k] + 1 : (all.begin[k] + all.end[k]) / 2;
    for (let row = (view.rowOf.get(all.process[k]) ?? 0) + by; row >= 0 && row < view.rows.length; row += by) {
      const p = view.rows[row];
      if (all.from[p] === all.from[p + 1]) continue;
      // The operation of that process that is nearest in time.
      let at = Math.min(firstAt(p, middle), all.from[p + 1] - 1);
      const after = all.begin[all.own[at]] - middle;
      if (at > all.from[p] && after > 0 && middle - all.end[all.own[at - 1]] <= after) at--;
      select(all.own[at]);
      return;
    }
  }

  function start() {
    if (data.guilty.length) return data.guilty[0].operation;
    let best = -1;
    for (const p of view.rows) {
      const at = firstAt(p, Math.max(0, view.from));
      if (at < all.from[p + 1] && (best < 0 || all.begin[all.own[at]] < all.begin[best])) best = all.own[at];
    }
    return best;
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: () => along(-1), ArrowRight: () => along(1), ArrowUp: () => across(-1), ArrowDown: () => across(1) };
    const nextGuilty = () => {
      if (!data.guilty.length) return;
      const at = data.guilty.findIndex((one) => one.operation === view.selected);
      select(data.guilty[(at + 1) % data.guilty.length].operation);
    };
    const inOrder = (by) => {
      if (!all.order.length) return;
      const at = view.selected < 0 || all.rank[view.selected] === NONE ? (by > 0 ? -1 : all.order.length) : all.rank[view.selected];
      if (at + by >= 0 && at + by < all.order.length) select(all.order[at + by]);
    };
    const others = {
      Enter: () => { if (view.selected < 0) select(start(), true); else { pin(view.selected); } },
      Escape: () => select(-1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      "0": () => look(-1, all.ticks), g: nextGuilty, n: () => inOrder(1), p: () => inOrder(-1),
      Home: () => look(-1, view.to - view.from), End: () => look(all.ticks - (view.to - view.from), all.ticks),
      PageUp: () => look(view.from - (view.to - view.from) * 0.8, view.to - (view.to - view.from) * 0.8),
      PageDown: () => look(view.from + (view.to - view.from) * 0.8, view.to + (view.to - view.from) * 0.8),
    };
    if (moves[event.key]) { if (view.selected < 0) select(start()); else moves[event.key](); }
    else if (others[event.key]) others[event.key]();
    else return;
    event.preventDefault();
  }

  // --- mouse and touch ---------------------------------------------------------------
  const pointers = new Map();
  let moved = 0;
  const local = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

  function under(px, py) {
    if (py < AXIS || px < GUTTER) return -1;
    const p = view.rows[Math.floor((py - AXIS + view.top) / ROW)];
    if (p === undefined) return -1;
    const at = firstAt(p, t(px - 2));
    return at < all.from[p + 1] && all.begin[all.own[at]] <= t(px + 2) ? all.own[at] : -1;
  }

  function hover(px, py) {
    if (py < AXIS) {
      const k = lower(data.annotations, t(px - 5)), one = data.annotations[k];
      if (one && one.tick <= t(px + 5)) $("told").textContent = `${data.tick} ${one.tick}: ${one.text}`;
      return;
    }
    const k = under(px, py);
    canvas.style.cursor = k >= 0 ? "pointer" : "grab";
    if (k >= 0) $("told").textContent = sentence(k);
    else if (view.selected >= 0) $("told").textContent = sentence(view.selected);
  }

  function pointers_() {
    canvas.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, local(event)); moved = 0; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      const [px, py] = local(event), before = pointers.get(event.pointerId);
      if (!before) return hover(px, py);
      const perPixel = (view.to - view.from) / (view.width - GUTTER);
      if (pointers.size === 1) {
        moved += Math.abs(px - before[0]) + Math.abs(py - before[1]);
        const by = (before[0] - px) * perPixel;
        look(view.from + by, view.to + by);
        scrollTo(view.top + before[1] - py);
      } else {
        const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
        const was = Math.abs(before[0] - other[0]) || 1, is = Math.abs(px - other[0]) || 1;
        moved = 99;
        zoom(was / is, (px + other[0]) / 2);
      }
      pointers.set(event.pointerId, [px, py]);
    });
    const up = (event) => {
      if (pointers.delete(event.pointerId) && moved < 5 && event.type === "pointerup") { const k = under(...local(event)); select(k, k >= 0); }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [px] = local(event);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) * (view.to - view.from)) / view.width;
        look(view.from + by, view.to + by);
      } else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * 0.002), px);
    }, { passive: false });
  }

  // --- steps of an algorithm ------------------------------------------------------------
  let step = 0;

  // Scrolls a list, and not the page, if an item of it cannot be seen.
  function inView(item, list) {
    const top = item.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (top < 0 || top + item.offsetHeight > list.clientHeight) list.scrollTop += top - list.clientHeight / 2;
  }

  function goTo(target) {
    const { steps, start } = data.steps, rows = $("state").tBodies[0].rows;
    target = Math.max(0, Math.min(target, steps.length));
    const index = goTo.index || (goTo.index = new Map(start.map(([name], row) => [name, row])));
    const put = (change, text) => { const row = rows[index.get(change.name)]; if (row) row.cells[1].textContent = text; };
    while (step < target) { for (const change of steps[step].changes) put(change, change.new); step++; }
    while (step > target) { step--; for (const change of [...steps[step].changes].reverse()) put(change, change.old); }
    for (const row of rows) row.classList.remove("changed");
    for (const item of document.querySelectorAll("#step-list [aria-selected=true]")) item.setAttribute("aria-selected", "false");
    for (const item of document.querySelectorAll(".source .here")) item.classList.remove("here");
    const now = step ? steps[step - 1] : null;
    if (now) {
      for (const change of now.changes) { const row = rows[index.get(change.name)]; if (row) row.classList.add("changed"); }
      const item = $(`step-${step}`);
      item.setAttribute("aria-selected", "true");
      $("step-list").setAttribute("aria-activedescendant", item.id);
      inView(item, $("step-list"));
      const source = document.querySelectorAll(".source li")[now.line - 1];
      if (source) { source.classList.add("here"); inView(source, source.parentElement); }
    } else $("step-list").removeAttribute("aria-activedescendant");
    $("at").value = step;
    $("now").textContent = `${step} of ${steps.length}`;
    $("step-told").textContent = now ? `Step ${step}: p${now.process} ${now.text}` : "Before the first step.";
    root.dataset.step = step;
    if (all) { const span = view.to - view.from; if (step < view.from || step > view.to) look(step - span / 2, step + span / 2); due(); }
  }

  function stepping() {
    const last = data.steps.steps.length;
    $("first").onclick = () => goTo(0);
    $("back").onclick = () => goTo(step - 1);
    $("forth").onclick = () => goTo(step + 1);
    $("last").onclick = () => goTo(last);
    $("at").oninput = () => goTo(Number($("at").value));
    $("step-list").onclick = (event) => { const item = event.target.closest("li"); if (item) goTo(Number(item.dataset.step)); };
    $("step-list").onkeydown = (event) => {
      const to = { ArrowDown: step + 1, ArrowRight: step + 1, ArrowUp: step - 1, ArrowLeft: step - 1, Home: 0, End: last, PageDown: step + 10, PageUp: step - 10 }[event.key];
      if (to !== undefined) { goTo(to); event.preventDefault(); }
    };
    goTo(0);
  }

  // --- begin ---------------------------------------------------------------------------
  async function begin() {
    if (data.steps) stepping();
    all = decode(await unpack(data.columns));
    chooseRows();
    readColours();
    if ($("only") && view.rows.length > 16) { $("only").checked = true; chooseRows(); }
    goHome();
    canvas.addEventListener("keydown", key);
    pointers_();
    new ResizeObserver(resize).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
    // What is folded is printed, too.
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details.fold:not([open])")];
      for (const one of folded) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
    matchMedia("print").addEventListener("change", () => { readColours(); draw(); });
    $("closer").onclick = () => zoom(0.5);
    $("farther").onclick = () => zoom(2);
    $("all").onclick = () => look(-1, all.ticks);
    if ($("home")) $("home").onclick = goHome;
    if ($("only")) $("only").onchange = () => { chooseRows(); goHome(); };
    for (const button of document.querySelectorAll("button[data-operation]")) {
      button.onclick = () => { select(Number(button.dataset.operation), true); canvas.focus(); canvas.scrollIntoView({ block: "nearest" }); };
    }
    for (const button of document.querySelectorAll("button[data-tick]")) {
      button.onclick = () => { const at = Number(button.dataset.tick); look(at - 20, at + 20); };
    }
    draw();
    root.dataset.operations = all.count;
    root.dataset.ready = "yes";
  }
  begin().catch((error) => { $("told").textContent = `The recording cannot be drawn here: ${error}`; root.dataset.failed = String(error); console.error(error); });
})();
