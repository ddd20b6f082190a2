// Asks the server for an execution at a position, and shows the answer. All that is kept here are
// the moves, and how many of them are made; the address keeps them, too, so that the page can be
// loaded again.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  // `walk`: a counterexample or a recorded execution, along which one goes until one leaves it.
  let moves = [], at = 0, walk = null, view = null, chosen = -1, asked = 0;

  // --- questions -----------------------------------------------------------------
  async function ask(path, question) {
    const answer = await fetch(path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question),
    });
    const text = await answer.text();
    if (answer.ok) return text;
    let reason = text;
    try { reason = JSON.parse(text).error; } catch { /* It is not JSON: as it is. */ }
    throw new Error(reason || `the server answers ${answer.status}`);
  }

  function tell(text, isError) {
    $("told").textContent = text || "\u00a0";
    $("told").classList.toggle("error", Boolean(isError));
  }

  const failed = (error) => tell(error instanceof TypeError ? `The server does not answer: ${error.message}` : error.message, true);

  // Shows these moves at this position, or tells why there is no such execution.
  async function show(next, position, text) {
    const mine = ++asked;
    root.dataset.ready = "no";
    try {
      const answer = JSON.parse(await ask("/view", { moves: next, at: position }));
      // A later question overtakes.
      if (mine !== asked) return;
      moves = next; at = position; view = answer; chosen = -1;
      history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify([at, moves]))}`);
      draw();
      tell(text === undefined ? told() : text);
    } catch (error) {
      if (mine === asked) failed(error);
    } finally {
      if (mine === asked) root.dataset.ready = "yes";
    }
  }

  function told() {
    if (!at) return "Before the first step.";
    const step = view.steps[at - 1];
    return `Step ${at}: p${step.process} ${step.text}`;
  }

  const goTo = (position) => {
    const target = Math.max(0, Math.min(position, moves.length));
    if (target !== at) return show(moves, target);
  };

  // Makes a move at the position. The move that was made there before goes forward again; another
  // one leaves the rest.
  function make(line) {
    if (moves[at] === line) return goTo(at + 1);
    return show([...moves.slice(0, at), line], at + 1);
  }

  // --- the answer, shown ------------------------------------------------------------
  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  const letter = (number) => String.fromCharCode(97 + number);

  function drawTurns() {
    const held = document.activeElement.closest(".turn");
    $("processes").replaceChildren(...view.turns.map((turn) => {
      const box = element("div", undefined, "turn"), head = element("p"), choices = element("div", undefined, "choices");
      head.append(element("b", `p${turn.process}`), ` ${turn.operation ? `${turn.operation}, ` : ""}${turn.position}`);
      turn.choices.forEach((choice, number) => {
        const button = element("button");
        button.type = "button";
        button.dataset.line = choice.line;
        const key = turn.choices.length > 1 ? letter(number) : turn.process < 10 ? String(turn.process) : "";
        if (key) button.append(element("kbd", key));
        button.append(choice.text);
        button.onclick = () => make(choice.line);
        choices.append(button);
      });
      if (turn.others) choices.append(element("span", `and ${turn.others} others: type one of them`, "note"));
      box.dataset.process = turn.process;
      box.append(head, choices);
      return box;
    }));
    // Enter goes on with the same process.
    const button = held && document.querySelector(`.turn[data-process="${held.dataset.process}"] button`);
    if (button) button.focus();
  }

  function drawSteps() {
    const list = $("step-list");
    list.replaceChildren(...view.steps.map((step, number) => {
      const item = element("li");
      item.id = `step-${number + 1}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(number + 1 === at));
      item.classList.toggle("undone", number >= at);
      item.classList.toggle("decides", view.standing.decided === number + 1);
      item.append(element("b", `p${step.process}`), ` ${step.text}`);
      item.onclick = () => goTo(number + 1);
      return item;
    }));
    if (at) { list.setAttribute("aria-activedescendant", `step-${at}`); inView($(`step-${at}`), list); } else list.removeAttribute("aria-activedescendant");
  }

  function inView(item, list) {
    const top = item.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (top < 0 || top + item.offsetHeight > list.clientHeight) list.scrollTop += top - list.clientHeight / 2;
  }

  function drawState() {
    $("state").tBodies[0].replaceChildren(...view.state.map((place) => {
      const row = element("tr"), name = element("th", place.name);
      name.scope = "row";
      row.append(name, element("td", place.held));
      row.classList.toggle("changed", place.was !== null);
      if (place.was !== null) row.title = `was ${place.was}`;
      return row;
    }));
  }

  function drawSource() {
    const lines = document.querySelectorAll(".source li");
    for (const line of lines) { line.classList.remove("here"); delete line.dataset.next; }
    for (const turn of view.turns) {
      const line = lines[turn.line - 1];
      if (line) line.dataset.next = `${line.dataset.next ? `${line.dataset.next} ` : ""}p${turn.process}`;
    }
    const line = at ? lines[view.steps[at - 1].line - 1] : null;
    if (line) { line.classList.add("here"); inView(line, line.parentElement); }
  }

  function drawHistory() {
    const { standing } = view;
    $("verdict").textContent = standing.word;
    $("verdict").className = `verdict ${{ linearizable: "linearizable", unknown: "unknown" }[standing.kind] || "violation"}`;
    $("reason").textContent = standing.reason;
    const pictures = [standing.picture, standing.proof].filter(Boolean).map((picture) => {
      const box = element("div", undefined, "wide");
      box.tabIndex = 0;
      box.innerHTML = picture; // Escaped by the server.
      return box;
    });
    $("pictures").replaceChildren(...(pictures.length ? pictures : [element("p", "No operation has begun.", "note")]));
    $("argument").replaceChildren(...standing.argument.map((line) => {
      const depth = Math.min(8, Math.floor((line.length - line.trimStart().length) / 2));
      return element("p", line.trimStart(), `d${depth}`);
    }));
  }

  function draw() {
    drawTurns(); drawSteps(); drawState(); drawSource(); drawHistory();
    const isOn = walk && moves.length === walk.length && moves.every((line, number) => line === walk[number]);
    $("at").textContent = `${at} of ${moves.length}${isOn ? ", along the execution that was found" : ""}`;
    $("first").disabled = $("back").disabled = !at;
    $("forth").disabled = $("last").disabled = at === moves.length;
    $("trace").open = false;
    root.dataset.at = at;
    root.dataset.moves = moves.length;
  }

  // --- traces and counterexamples ---------------------------------------------------
  const trace = () => ask("/trace", { moves: moves.slice(0, at), at });

  async function save() {
    try {
      const place = element("a");
      place.href = URL.createObjectURL(new Blob([await trace()], { type: "text/plain" }));
      place.download = `${data.title.replace(/[^A-Za-z0-9]+/g, "-")}.trace`;
      place.click();
      URL.revokeObjectURL(place.href);
      tell(`Saved: snapshot-verify replay ${place.download}`);
    } catch (error) { failed(error); }
  }

  async function copy() {
    try {
      const text = await trace();
      $("file").textContent = text;
      try { await navigator.clipboard.writeText(text); tell("The trace is in the clipboard."); } catch {
        $("trace").open = true;
        tell("The clipboard is not allowed here: the trace stands below.");
      }
    } catch (error) { failed(error); }
  }

  async function find() {
    tell("Searching ...");
    $("find").disabled = true;
    root.dataset.ready = "no";
    try {
      const found = JSON.parse(await ask("/find", {}));
      if (!found.moves) return tell(found.told);
      walk = found.moves;
      await show(walk, 0, found.told);
    } catch (error) { failed(error); } finally { $("find").disabled = false; root.dataset.ready = "yes"; }
  }

  // --- keys --------------------------------------------------------------------------
  // One choice is made; of several, the first is focused, and letters choose.
  function choose(process) {
    const turn = view.turns[process];
    if (!turn) return tell(`There is no process p${process}.`, true);
    if (turn.choices.length === 1) return make(turn.choices[0].line);
    if (!turn.choices.length) return tell(`p${process} can make no step.`, true);
    chosen = process;
    for (const box of document.querySelectorAll(".turn")) box.classList.toggle("chosen", Number(box.dataset.process) === process);
    document.querySelector(`.turn[data-process="${process}"] button`).focus();
    tell(`p${process}: choose by a letter, or by Tab and Enter.`);
  }

  const keys = {
    ArrowLeft: () => goTo(at - 1), Backspace: () => goTo(at - 1), ArrowRight: () => goTo(at + 1),
    Home: () => goTo(0), End: () => goTo(moves.length), "/": () => $("move").focus(), "!": find,
    "+": save, "=": copy, "?": () => $("keys").showModal(), Escape: () => { chosen = -1; draw(); },
  };

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open || !view) return;
    if (event.target === $("move")) { if (event.key === "Escape") $("move").blur(); return; }
    const choices = chosen < 0 ? [] : view.turns[chosen].choices;
    const choice = event.key.length === 1 ? choices[event.key.charCodeAt(0) - 97] : undefined;
    if (choice) make(choice.line);
    else if (/^[0-9]$/.test(event.key)) choose(Number(event.key));
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  }

  function begin() {
    document.addEventListener("keydown", key);
    $("first").onclick = () => goTo(0);
    $("back").onclick = () => goTo(at - 1);
    $("forth").onclick = () => goTo(at + 1);
    $("last").onclick = () => goTo(moves.length);
    $("find").onclick = find; $("save").onclick = save; $("copy").onclick = copy;
    $("help").onclick = () => $("keys").showModal();
    $("other").onsubmit = (event) => { event.preventDefault(); make($("move").value.trim().replace(/\s+/g, " ")); };
    $("trace").ontoggle = async () => {
      if (!$("trace").open || !view) return;
      try { $("file").textContent = await trace(); } catch (error) { failed(error); }
    };
    if (data.recorded.length) walk = data.recorded;
    let first = [0, data.recorded];
    try {
      const [position, kept] = JSON.parse(decodeURIComponent(location.hash.slice(1)));
      if (Number.isInteger(position) && Array.isArray(kept)) first = [Math.max(0, Math.min(position, kept.length)), kept];
    } catch { /* The address holds no execution. */ }
    show(first[1], first[0]).then(() => { if (!view) show(data.recorded, 0); });
  }
  begin();
})();
