"use strict";
// The page's own script. Everything that tools, prompts and agents said is inserted as text nodes, never as markup.
(() => {
  const FIRST_ROWS = 50, MORE_ROWS = 200, FIRST_GROUPS = 100, STRIP_MARKS = 40, FEW_MATCHES = 40;
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const cases = plan.cases.length;
  const $ = (id) => document.getElementById(id);

  // --- Building elements

  function el(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }
  const SVG = "http://www.w3.org/2000/svg";
  function mark(status, label) {
    const svg = document.createElementNS(SVG, "svg");
    const use = document.createElementNS(SVG, "use");
    svg.setAttribute("class", "mark " + status);
    use.setAttribute("href", "#mark-" + status);
    if (label) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label); } else svg.setAttribute("aria-hidden", "true");
    svg.append(use);
    return svg;
  }
  function twist() {
    const svg = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    svg.setAttribute("class", "twist");
    svg.setAttribute("viewBox", "0 0 10 10");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", "M3 1l4 4-4 4");
    svg.append(path);
    return svg;
  }

  // --- Figures as people read them

  const plural = (n, one) => n + " " + one + (n === 1 ? "" : "s");
  function duration(ms) {
    if (ms === null || ms === undefined) return "";
    if (ms < 1000) return Math.round(ms) + " ms";
    const s = ms / 1000;
    if (s < 59.95) return s.toFixed(1) + " s";
    const whole = Math.round(s);
    return Math.floor(whole / 60) + " min " + String(whole % 60).padStart(2, "0") + " s";
  }
  const count = (n) => (n < 10000 ? String(n) : n < 1e6 ? (n / 1000).toFixed(1) + "k" : (n / 1e6).toFixed(1) + "M");
  const dollars = (n) => "$" + (n === 0 || n >= 0.995 ? n.toFixed(2) : n.toFixed(4));
  const size = (n) => (n < 1000 ? n + " bytes" : n < 1e6 ? (n / 1000).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB");
  const words = (name) => name.replaceAll("_", " ");
  const kindOf = (outcome) => (outcome === "aborted" || outcome === "waiting" ? "open" : outcome);
  const kindOfMark = { p: "passed", f: "failed", i: "invalid", a: "open", w: "open" };

  // --- Pieces: gzip in base64, unpacked when they are needed

  const rowPieces = new Map();
  for (const piece of document.querySelectorAll('script[type="application/x-mcproctor-rows"]')) {
    const cell = Number(piece.dataset.cell);
    rowPieces.set(cell, [...(rowPieces.get(cell) || []), piece]);
  }
  const detailPieces = [...document.querySelectorAll('script[type="application/x-mcproctor-details"]')];

  async function unpack(piece) {
    const packed = atob(piece.textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  const rowsOf = new Map();
  function rows(cell) {
    if (!rowsOf.has(cell)) {
      rowsOf.set(cell, Promise.all((rowPieces.get(cell) || []).map(unpack)).then((texts) => {
        const where = plan.agents[Math.floor(cell / cases)] + " " + plan.cases[cell % cases].name;
        return texts.join("").split("\n").filter(Boolean).map((line) => {
          const row = JSON.parse(line);
          row.cell = cell;
          row.key = cell + "-" + row.iteration;
          const called = row.tools.map(([tool]) => tool).join(" ");
          row.text = ["#" + row.iteration, where, row.outcome, row.why || "", row.reason, called].join(" ").toLowerCase();
          return row;
        });
      }));
    }
    return rowsOf.get(cell);
  }
  const recent = new Map(); // the last few detail pieces, by number
  async function detailOf(row) {
    if (!recent.has(row.piece)) {
      recent.set(row.piece, unpack(detailPieces[row.piece]));
      if (recent.size > 4) recent.delete(recent.keys().next().value);
    }
    const start = '{"iteration":' + row.iteration + ",";
    const line = (await recent.get(row.piece)).split("\n").find((text) => text.startsWith(start));
    return JSON.parse(line);
  }

  // --- What the reader has chosen: filters and open places in the address, the rest in the session's storage

  const store = "mcproctor:" + plan.run;
  const state = { q: "", outcomes: new Set(), agent: "", test: "", tool: "", only: "", cells: new Set(), its: new Set(),
    inner: new Set(), shown: {}, closed: new Set(), paused: false };
  const list = (set) => [...set].join(",");
  function writeAddress() {
    const address = new URLSearchParams();
    for (const key of ["q", "agent", "test", "tool", "only"]) if (state[key] !== "") address.set(key, state[key]);
    if (state.outcomes.size) address.set("outcome", list(state.outcomes));
    if (state.cells.size) address.set("cell", list(state.cells));
    if (state.its.size) address.set("it", list(state.its));
    try { history.replaceState(null, "", "#" + address); } catch { /* an address that cannot be changed only costs the link */ }
  }
  function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const set = (key) => new Set((address.get(key) || "").split(",").filter(Boolean));
    for (const key of ["q", "agent", "test", "tool", "only"]) state[key] = address.get(key) || "";
    state.outcomes = set("outcome");
    state.cells = new Set([...set("cell")].map(Number).filter((cell) => plan.cells[cell]));
    state.its = new Set([...set("it")].filter((key) => plan.cells[Number(key.split("-")[0])]));
    for (const key of state.its) state.cells.add(Number(key.split("-")[0]));
  }
  function remember() {
    writeAddress();
    const kept = { inner: [...state.inner], shown: state.shown, closed: [...state.closed], paused: state.paused, y: scrollY,
      anchor: anchor(), focus: document.activeElement && document.activeElement.id,
      caret: document.activeElement === $("find") ? $("find").selectionStart : null,
      folds: [...document.querySelectorAll("details.more[open]")].map((fold) => fold.id) };
    try { sessionStorage.setItem(store, JSON.stringify(kept)); } catch { /* without storage only the scroll position is lost */ }
  }
  function recall() {
    try { return JSON.parse(sessionStorage.getItem(store) || "null"); } catch { return null; }
  }
  // The place in view, so that what grows above it does not move it.
  function anchor() {
    if (scrollY < 40) return null;
    for (const node of document.querySelectorAll(".detail[id], .row[id], .group[id], main > section[id]")) {
      const box = node.getBoundingClientRect();
      if (box.height && box.top >= 0 && box.top < innerHeight) return { id: node.id, top: box.top };
    }
    return null;
  }

  // --- Filters

  const needsRows = () => state.tool !== "" || state.only !== "" || state.q !== "";
  const filtering = () => needsRows() || state.outcomes.size > 0 || state.agent !== "" || state.test !== "";
  let found = new Set(); // iterations whose conversation or calls hold the search text
  const TRAITS = {
    retried: (row) => row.attempts > 1,
    failedCalls: (row) => row.tools.some(([, , failed]) => failed > 0),
    escapes: (row) => row.escapes > 0,
    turns: (row) => row.turns > 1,
    warnings: (row) => row.warnings > 0,
  };
  const needle = () => state.q.trim().toLowerCase();
  function matches(row) {
    if (state.outcomes.size && !state.outcomes.has(kindOf(row.outcome))) return false;
    if (state.tool !== "" && !row.tools.some(([tool]) => tool === state.tool)) return false;
    if (TRAITS[state.only] && !TRAITS[state.only](row)) return false;
    const text = needle();
    return !text || row.text.includes(text) || found.has(row.key);
  }
  const inColumn = (cell) => (state.agent === "" || Math.floor(cell / cases) === Number(state.agent))
    && (state.test === "" || cell % cases === Number(state.test));

  // --- Groups

  const order = plan.cells.map((_, cell) => cell).filter((cell) => plan.cells[cell].marks.replaceAll("-", "") !== "");
  const tally = (cell, kind) => [...plan.cells[cell].marks].filter((letter) => kindOfMark[letter] === kind).length;
  const badness = new Map(order.map((cell) => {
    const failed = tally(cell, "failed"), passed = tally(cell, "passed"), all = plan.cells[cell].marks.length || 1;
    return [cell, (failed / (failed + passed || 1)) * 1000 + tally(cell, "invalid") / all];
  }));
  order.sort((a, b) => badness.get(b) - badness.get(a) || a - b);
  const groups = new Map();
  let groupsShown = FIRST_GROUPS, round = 0, few = false;

  function group(cell) {
    if (groups.has(cell)) return groups.get(cell);
    const test = plan.cases[cell % cases], figures = plan.cells[cell];
    const matched = el("span", { class: "note matched" });
    const head = el("button", { type: "button", class: "group-head", id: "head-" + cell, "aria-expanded": "false",
      onclick: () => toggleGroup(cell) },
      twist(),
      el("span", { class: "group-name" }, test.name, plan.agents.length > 1 ? el("span", { class: "agent-name" }, " · " + plan.agents[Math.floor(cell / cases)]) : null),
      strip(figures.marks),
      el("span", { class: "group-figures" }, el("b", {}, figures.counts),
        figures.rate ? " " + figures.rate : "", figures.range ? el("span", { class: "note" }, figures.range) : null,
        figures.invalid ? el("span", { class: "note invalid" }, figures.invalid) : null, matched));
    const body = el("div", { class: "group-body", hidden: true });
    const node = el("div", { class: "group", id: "cell-" + cell }, head, body);
    const made = { node, head, body, matched, items: new Map(), drawn: "" };
    groups.set(cell, made);
    return made;
  }
  function strip(marks) {
    const letters = [...marks].filter((letter) => letter !== "-");
    if (letters.length <= STRIP_MARKS) return el("span", { class: "strip" }, letters.map((letter) => mark(kindOfMark[letter], kindOfMark[letter])));
    return el("span", { class: "strip" }, ["failed", "invalid", "passed", "open"].map((kind) => {
      const n = letters.filter((letter) => kindOfMark[letter] === kind).length;
      return n ? [mark(kind, kind), count(n) + "\u2002"] : null;
    }).flat());
  }
  const isOpen = (cell) => !state.closed.has(cell) && (state.cells.has(cell) || (few && filtering()));
  function toggleGroup(cell) {
    if (isOpen(cell)) { state.cells.delete(cell); if (few && filtering()) state.closed.add(cell); }
    else { state.closed.delete(cell); state.cells.add(cell); }
    writeAddress();
    return draw();
  }

  // Draws everything that the choices ask for; a newer call makes an older one stop.
  async function draw() {
    const mine = ++round;
    const candidates = order.filter(inColumn);
    const counts = new Map();
    let total = 0;
    for (const cell of candidates) {
      let n;
      if (needsRows()) {
        n = (await rows(cell)).filter(matches).length;
        if (mine !== round) return;
      } else {
        const letters = [...plan.cells[cell].marks].filter((letter) => letter !== "-");
        n = state.outcomes.size ? letters.filter((letter) => state.outcomes.has(kindOfMark[letter])).length : letters.length;
      }
      counts.set(cell, n);
      total += n;
    }
    few = total <= FEW_MATCHES;
    const visible = candidates.filter((cell) => counts.get(cell) > 0);
    const nodes = [];
    for (const cell of visible.slice(0, groupsShown)) {
      const { node, head, body, matched } = group(cell);
      const open = isOpen(cell);
      head.setAttribute("aria-expanded", open);
      body.hidden = !open;
      matched.textContent = needsRows() || state.outcomes.size ? plural(counts.get(cell), "match").replace(/matchs$/, "matches") : "";
      if (open) await fill(cell);
      if (mine !== round) return;
      nodes.push(node);
    }
    const rest = visible.length - nodes.length;
    if (rest > 0) nodes.push(el("button", { type: "button", class: "plain-button more-rows", onclick: () => { groupsShown += FIRST_GROUPS; draw(); } }, "Show " + Math.min(rest, FIRST_GROUPS) + " of " + rest + " more"));
    sync($("groups"), nodes);
    const all = order.reduce((sum, cell) => sum + plan.cells[cell].marks.replaceAll("-", "").length, 0);
    $("matches").textContent = filtering() ? total + " of " + plural(all, "iteration") + (total === 1 ? " matches" : " match") + searching
      : order.length ? plural(all, "iteration") + ", the worst first" : "No iteration has a result yet.";
    $("clear").hidden = !filtering();
    for (const chip of document.querySelectorAll("[data-outcome]")) chip.setAttribute("aria-pressed", state.outcomes.has(chip.dataset.outcome));
  }
  // Puts exactly these children there, without touching those that stay, so that focus and selection stay too.
  function sync(parent, nodes) {
    const keep = new Set(nodes);
    for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
    nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] || null); });
  }

  async function fill(cell) {
    const made = group(cell), test = plan.cases[cell % cases];
    const matching = (await rows(cell)).filter(matches);
    const wanted = Math.max(state.shown[cell] || FIRST_ROWS, ...matching.map((row, at) => (state.its.has(row.key) ? at + 1 : 0)));
    const shown = matching.slice(0, wanted);
    if (!made.list) {
      made.list = el("ol", { class: "rows" });
      made.more = el("button", { type: "button", class: "plain-button more-rows", onclick: () => { state.shown[cell] = made.wanted + MORE_ROWS; fill(cell); } });
      made.body.append(el("div", { class: "group-case" },
        el("p", { class: "prompt" }, test.prompt),
        el("p", { class: "quiet" }, test.expectedTools.length ? "expects " + test.expectedTools.join(", ") : "expects no tool",
          test.answers.length ? "; " + plural(test.answers.length, "scripted answer") : "", " · ", test.file),
        test.expectedOutcome ? el("p", { class: "quiet" }, "a right answer: " + test.expectedOutcome) : null),
        made.list, made.more);
    }
    made.wanted = wanted;
    const nodes = [];
    for (const row of shown) {
      if (!made.items.has(row.key)) made.items.set(row.key, rowNode(row));
      const item = made.items.get(row.key);
      nodes.push(item.node);
      if (state.its.has(row.key)) await openRow(row, item);
    }
    for (const key of made.items.keys()) if (made.items.size > 2000 && !state.its.has(key)) made.items.delete(key);
    sync(made.list, nodes);
    const rest = matching.length - shown.length;
    made.more.hidden = rest <= 0;
    made.more.textContent = "Show " + Math.min(rest, MORE_ROWS) + " of " + rest + " more";
  }

  // --- Rows

  function rowNode(row) {
    const kind = kindOf(row.outcome), id = "it-" + row.key;
    const calls = row.tools.map(([tool, all, failed]) => tool + (all > 1 ? " ×" + all : "") + (failed ? " (" + failed + " failed)" : "")).join(", ");
    const figures = [row.attempts > 1 ? plural(row.attempts, "attempt") : "", row.turns > 1 ? plural(row.turns, "turn") : "",
      row.escapes ? "left the binding" : "", duration(row.durationMs)].filter(Boolean).join(" · ");
    const head = el("button", { type: "button", class: "row-head", id: id + "-head", "aria-expanded": "false", onclick: () => toggleRow(row) },
      twist(), mark(kind, row.outcome), el("span", {}, "#" + row.iteration),
      el("span", { class: "row-words" },
        row.outcome === "passed" ? null : [el("span", { class: "why " + row.outcome }, row.why || row.outcome), row.reason ? ": " + row.reason + " " : " "],
        el("span", { class: "row-tools" }, calls || "no call")),
      el("span", { class: "row-figures" }, figures));
    return { node: el("li", { class: "row", id }, head), head, detail: null };
  }
  async function toggleRow(row) {
    const item = groups.get(row.cell).items.get(row.key);
    if (state.its.delete(row.key)) {
      item.head.setAttribute("aria-expanded", "false");
      if (item.detail) { item.detail.remove(); item.detail = null; }
    } else {
      state.its.add(row.key);
      state.cells.add(row.cell);
      await openRow(row, item);
    }
    writeAddress();
  }
  async function openRow(row, item) {
    if (item.detail) return;
    item.head.setAttribute("aria-expanded", "true");
    item.detail = el("div", { class: "detail", id: "it-" + row.key + "-detail" });
    item.node.append(item.detail);
    try {
      item.detail.append(...detailNodes(row, await detailOf(row)));
    } catch (error) {
      item.detail.append(el("p", {}, "This iteration cannot be shown: " + error.message));
    }
  }

  // --- One iteration in full

  const section = (title, ...children) => [el("h4", {}, title), ...children];
  const callout = (kind, title, ...children) => el("div", { class: "callout " + kind }, el("h4", {}, title), ...children);
  function fold(key, head, className, content) {
    const body = el("div", { class: "call-body", hidden: true });
    const button = el("button", { type: "button", class: className, id: key, "aria-expanded": "false", onclick: () => set(body.hidden) }, head);
    function set(open) {
      if (open && !body.childNodes.length) body.append(...content());
      body.hidden = !open;
      button.setAttribute("aria-expanded", open);
      if (open) state.inner.add(key); else state.inner.delete(key);
    }
    if (state.inner.has(key)) set(true);
    return [button, body];
  }
  function detailNodes(row, detail) {
    const test = plan.cases[row.cell % cases];
    const nodes = [];
    if (detail.expectations && detail.expectations.length) {
      nodes.push(...section("Expectations", el("ul", {}, detail.expectations.map((it) => el("li", { class: "line" },
        mark(it.met ? "passed" : "failed", it.met ? "met" : "not met"), el("span", {}, it.what, it.why ? el("span", { class: "note failed" }, " – " + it.why) : null))))));
    }
    if (detail.turns) {
      const problems = [
        ...detail.turns.filter((turn) => turn.ending !== "completed").map((turn) => "Turn " + (turn.index + 1) + " ended with " + words(turn.ending) + (turn.detail ? ": " + turn.detail : "")),
        ...(detail.refusal ? ["The model API refused: " + detail.refusal] : []),
        ...detail.exposures.flatMap((it) => [
          ...it.faults.map((fault) => it.server + ": " + fault),
          ...(it.recordingFault ? ["The recording of " + it.server + " cannot be trusted: " + it.recordingFault] : []),
          ...(it.loginRequired ? [it.server + " asked for a login"] : []),
          ...(it.initialized ? [] : [it.server + " was never initialized"]),
          ...(it.toolsListed ? [] : ["the tools of " + it.server + " were never listed"])]),
      ];
      if (problems.length || detail.stderr) {
        nodes.push(callout(row.outcome === "failed" ? "failed" : "", row.outcome === "passed" ? "Noted" : "Errors", el("ul", {}, problems.map((text) => el("li", {}, text))),
          detail.stderr ? el("pre", {}, detail.stderr) : null));
      }
      const escapes = detail.turns.flatMap((turn) => turn.escapes);
      if (escapes.length) nodes.push(callout("", "Left the MCP binding", el("ul", {}, escapes.map(([kind, what]) => el("li", {}, kind + ": ", el("code", {}, what))))));
      const warnings = detail.turns.flatMap((turn) => turn.warnings);
      if (warnings.length) nodes.push(callout("", "Warnings", el("ul", {}, warnings.map((text) => el("li", {}, text)))));
      const bad = detail.calls.filter((call) => call.state !== "ok");
      if (bad.length) {
        nodes.push(callout("failed", "Failed calls, which count for no expectation", el("ul", {}, bad.map((call) => el("li", {},
          el("code", {}, call.tool), " – " + words(call.state) + (call.httpStatus && call.httpStatus >= 400 ? " " + call.httpStatus : "") + (call.error ? ": " + call.error : ""))))));
      }
      const unlisted = [...new Set(detail.calls.map((call) => call.tool).filter((tool) => !test.expectedTools.includes(tool)))];
      if (unlisted.length) nodes.push(...section("Called without being expected", el("p", {}, unlisted.map((tool, at) => [at ? ", " : "", el("code", {}, tool)]).flat())));
      nodes.push(...section("Conversation", ...conversation(row, detail)));
    }
    if (detail.earlier.length) {
      nodes.push(...section("Earlier attempts", el("ul", {}, detail.earlier.map((it) => el("li", { class: "line" }, mark(kindOf(it.outcome), it.outcome),
        el("span", {}, "attempt " + it.attempt + ": " + (it.why || it.outcome) + (it.reason ? ", " + it.reason : ""), el("span", { class: "note" }, " " + duration(it.durationMs) + ", " + it.worker)))))));
    }
    if (detail.turns) nodes.push(...section("Measured", el("p", { class: "quiet" }, measured(row, detail))));
    return nodes;
  }
  function measured(row, detail) {
    const usage = detail.usage, parts = ["attempt " + detail.attempt + " by " + detail.worker + " in sandbox " + detail.sandbox, detail.startedAt, duration(row.durationMs)];
    if (detail.responseModel) parts.push("model " + detail.responseModel);
    if (usage.inputTokens !== null) parts.push(count(usage.inputTokens) + " tokens in" + (usage.cachedInputTokens ? ", " + count(usage.cachedInputTokens) + " of them cached" : ""));
    if (usage.outputTokens !== null) parts.push(count(usage.outputTokens) + " tokens out");
    if (usage.costUsd !== null) parts.push(dollars(usage.costUsd));
    if (detail.modelWaitingMs) parts.push(duration(detail.modelWaitingMs) + " lost waiting for the model");
    for (const it of detail.exposures) {
      if (it.toolsListed) parts.push((it.name || it.server) + (it.version ? " " + it.version : "") + " listed " + plural(it.toolCount, "tool") + (it.protocol ? ", protocol " + it.protocol : ""));
    }
    return parts.join(" · ");
  }
  function conversation(row, detail) {
    const nodes = [];
    for (const turn of detail.turns) {
      nodes.push(el("div", { class: "said user" }, el("div", { class: "who" }, turn.index ? "answer" : "prompt"), el("div", { class: "words" }, turn.prompt)));
      detail.calls.forEach((call, at) => { if (call.turn === turn.index) nodes.push(callNode(row, call, at)); });
      nodes.push(el("div", { class: "said" }, el("div", { class: "who" }, "agent"), el("div", { class: "words" }, turn.reply || el("span", { class: "quiet" }, "said nothing"))));
    }
    const last = detail.turns.length;
    detail.calls.forEach((call, at) => { if (!(call.turn < last)) nodes.push(callNode(row, call, at)); });
    if (detail.callsLeftOut) nodes.push(el("p", { class: "quiet" }, plural(detail.callsLeftOut, "further call") + " in results.json"));
    return nodes;
  }
  function callNode(row, call, at) {
    const ok = call.state === "ok";
    const brief = call.arguments && call.arguments !== "{}" ? call.arguments.length > 90 ? call.arguments.slice(0, 88) + "…" : call.arguments : "";
    const head = [twist(), mark(ok ? "passed" : "failed", words(call.state)),
      el("span", { class: "call-name" }, el("code", {}, plan.severalServers ? call.server + " / " + call.tool : call.tool), ok ? null : el("span", { class: "note failed" }, " " + words(call.state)), el("span", { class: "brief" }, brief)),
      el("span", { class: "row-figures" }, duration(call.durationMs))];
    return el("div", { class: "call" + (ok ? "" : " bad") }, fold("it-" + row.key + "-call-" + at, head, "call-head", () => callBody(call)));
  }
  function callBody(call) {
    const nodes = [...section("Arguments", call.arguments ? el("pre", {}, ...pretty(call.arguments)) : el("p", { class: "quiet" }, call.truncated ? "too large to be kept here" : "none"))];
    if (call.error) nodes.push(...section("Error", el("p", {}, call.error)));
    if (call.result) nodes.push(...section(call.state === "protocol_error" ? "JSON-RPC error" : "Result", ...resultNodes(call.result)));
    else nodes.push(...section("Result", el("p", { class: "quiet" }, call.bytes ? "too large to be kept here" : "none")));
    const facts = ["sent " + duration(call.afterMs) + " after the start", "took " + duration(call.durationMs), size(call.bytes)];
    if (call.httpStatus) facts.push("HTTP " + call.httpStatus);
    if (call.legs > 1) facts.push(plural(call.legs, "request"));
    if (call.sha256) facts.push("SHA-256 " + call.sha256);
    nodes.push(el("p", { class: "quiet" }, facts.join(" · ")));
    return nodes;
  }
  // A result of nothing but text is shown as that text, with the message as it was sent one click away.
  function resultNodes(raw) {
    let value;
    try { value = JSON.parse(raw); } catch { return [el("pre", {}, raw)]; }
    const plain = value && Array.isArray(value.content) && value.content.length && value.content.every((part) => part && part.type === "text" && typeof part.text === "string")
      && Object.keys(value).every((key) => ["content", "isError", "_meta"].includes(key));
    if (!plain) return [el("pre", {}, ...pretty(raw))];
    const sent = el("pre", { hidden: true }, ...pretty(raw));
    const button = el("button", { type: "button", class: "plain-button small", "aria-expanded": "false", onclick: () => { sent.hidden = !sent.hidden; button.setAttribute("aria-expanded", !sent.hidden); } }, "As sent");
    return [...value.content.map((part) => el("pre", {}, ...(/^\s*[[{]/.test(part.text) ? pretty(part.text) : [part.text]))), button, sent];
  }
  // Indents JSON without reading its numbers, so that they stand as they were sent. What is no JSON stays as it is.
  function pretty(text) {
    try { JSON.parse(text); } catch { return [text]; }
    const out = [];
    let depth = 0;
    const line = () => "\n" + "  ".repeat(depth);
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
    tokens.forEach((token, at) => {
      const next = tokens[at + 1], before = tokens[at - 1];
      if (token === "{" || token === "[") { out.push(token); if (next !== "}" && next !== "]") { depth++; out.push(line()); } }
      else if (token === "}" || token === "]") { if (before !== "{" && before !== "[") { depth--; out.push(line()); } out.push(token); }
      else if (token === ",") out.push(",", line());
      else if (token === ":") out.push(": ");
      else out.push(el("span", { class: next === ":" ? "json-key" : token[0] === '"' ? "json-text" : "json-other" }, token));
    });
    return out;
  }

  // --- Search inside conversations and calls, piece by piece

  let hunt = 0, searching = "", huntTimer = 0;
  async function search() {
    const mine = ++hunt, text = needle();
    found = new Set();
    searching = "";
    if (!text) return draw();
    searching = ", searching the conversations…";
    await draw();
    // What stands in a piece is JSON, so the text is looked for as JSON writes it; arguments and results are JSON inside JSON.
    const once = JSON.stringify(text).slice(1, -1), twice = JSON.stringify(once).slice(1, -1);
    let drawn = performance.now();
    for (const piece of detailPieces) {
      const all = (await unpack(piece)).toLowerCase();
      if (mine !== hunt) return;
      if (!all.includes(once) && !all.includes(twice)) continue;
      for (const line of all.split("\n")) {
        if (line.includes(once) || line.includes(twice)) found.add(piece.dataset.cell + "-" + parseInt(line.slice('{"iteration":'.length), 10));
      }
      if (performance.now() - drawn > 400) { await draw(); drawn = performance.now(); }
      if (mine !== hunt) return;
    }
    searching = "";
    return draw();
  }

  // --- Controls

  function changed() {
    state.closed.clear();
    groupsShown = FIRST_GROUPS;
    writeAddress();
    return draw();
  }
  function bind(id, key) {
    $(id).value = state[key];
    if ($(id).value !== state[key]) state[key] = $(id).value = "";
    $(id).addEventListener("change", () => { state[key] = $(id).value; changed(); });
  }
  function options(id, names) {
    $(id).append(...names.map((name, index) => el("option", { value: index }, name)));
    if (names.length < 2) $(id).parentElement.hidden = true;
  }
  function fillControls() {
    $("find").value = state.q;
    for (const [id, key] of [["by-agent", "agent"], ["by-case", "test"], ["by-tool", "tool"], ["by-trait", "only"]]) $(id).value = state[key];
  }
  function goTo(node) {
    if (node) node.scrollIntoView({ block: "start" });
  }
  function heads() {
    return [...document.querySelectorAll("#groups .group-head, #groups .row-head")].filter((node) => node.offsetParent);
  }
  function setUp() {
    options("by-agent", plan.agents);
    options("by-case", plan.cases.map((test) => test.name));
    $("by-tool").append(...plan.tools.map((tool) => el("option", { value: tool }, tool)));
    if (!plan.tools.length) $("by-tool").parentElement.hidden = true;
    bind("by-agent", "agent"); bind("by-case", "test"); bind("by-tool", "tool"); bind("by-trait", "only");
    $("find").value = state.q;
    $("find").addEventListener("input", () => {
      state.q = $("find").value;
      state.closed.clear();
      writeAddress();
      clearTimeout(huntTimer);
      huntTimer = setTimeout(search, 180);
    });
    for (const chip of document.querySelectorAll("[data-outcome]")) {
      chip.addEventListener("click", () => {
        if (!state.outcomes.delete(chip.dataset.outcome)) state.outcomes.add(chip.dataset.outcome);
        changed();
      });
    }
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("clear").addEventListener("click", () => {
      Object.assign(state, { q: "", agent: "", test: "", tool: "", only: "", outcomes: new Set() });
      fillControls();
      hunt++;
      found = new Set();
      searching = "";
      changed();
      $("find").focus();
    });
    $("filters").hidden = false;
    document.addEventListener("click", async (event) => {
      const link = event.target.closest('a[href^="#cell="], a[href^="#agent="]');
      if (!link) return;
      event.preventDefault();
      const [, kind, index] = link.getAttribute("href").match(/^#(cell|agent)=(\d+)$/);
      Object.assign(state, { q: "", agent: kind === "agent" && plan.agents.length > 1 ? index : "", test: "", tool: "", only: "", outcomes: new Set() });
      fillControls();
      if (kind === "cell") {
        state.cells.add(Number(index));
        groupsShown = Math.max(groupsShown, order.indexOf(Number(index)) + 1);
      }
      await changed();
      goTo(kind === "cell" ? $("cell-" + index) : $("iterations"));
      if (kind === "cell" && $("head-" + index)) $("head-" + index).focus({ preventScroll: true });
    });
    for (const link of document.querySelectorAll(".places a, .skip")) {
      link.addEventListener("click", (event) => { event.preventDefault(); goTo($(link.getAttribute("href").slice(1))); });
    }
    addEventListener("hashchange", () => { readAddress(); fillControls(); search(); });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key === "/" && !typing) { event.preventDefault(); $("find").focus(); $("find").select(); }
      if ((event.key === "j" || event.key === "k") && !typing) {
        const all = heads(), at = all.indexOf(document.activeElement);
        const next = all[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
        if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
      }
    });
    addEventListener("pagehide", remember);
  }

  // --- Reloading while the run goes on

  function keepUp() {
    let left = plan.reloadSeconds, touched = 0;
    for (const kind of ["keydown", "input", "pointerdown", "change"]) addEventListener(kind, () => { touched = Date.now(); }, { capture: true, passive: true });
    const busy = () => {
      const selection = getSelection();
      if (selection && !selection.isCollapsed) return "something is selected";
      const active = document.activeElement, typing = active && /^(INPUT|SELECT)$/.test(active.tagName);
      return Date.now() - touched < (typing ? 8000 : 1500) ? "you are at it" : "";
    };
    const show = () => {
      const age = Math.round((Date.now() - plan.writtenAtUnixMs) / 1000);
      const old = age > 90 ? " Last written " + duration(age * 1000) + " ago: the run may have been stopped." : "";
      $("reload-words").textContent = (state.paused ? "Reloading is paused." : left > 0 ? "Reloads in " + left + " s." : "Waits, because " + busy() + ".") + old;
      $("pause").textContent = state.paused ? "Go on" : "Pause";
    };
    $("pause").hidden = false;
    $("pause").addEventListener("click", () => { state.paused = !state.paused; left = plan.reloadSeconds; show(); });
    setInterval(() => {
      if (!state.paused && left > 0) left--;
      if (!state.paused && left === 0 && !busy()) { remember(); location.reload(); return; }
      show();
    }, 1000);
    show();
  }

  // --- Start

  async function start() {
    if (!("DecompressionStream" in window)) {
      $("matches").textContent = "This browser cannot unpack the iterations; results.json beside this page holds the same.";
      return;
    }
    const kept = recall();
    const shared = /(^|[#&])(cell|it)=/.test(location.hash);
    readAddress();
    if (kept) {
      state.inner = new Set(kept.inner); state.shown = kept.shown || {}; state.closed = new Set(kept.closed); state.paused = !!kept.paused;
      for (const id of kept.folds || []) if ($(id)) $(id).open = true;
    } else if (!location.hash && order.reduce((sum, cell) => sum + plan.cells[cell].marks.length, 0) <= 12) {
      for (const cell of order) state.cells.add(cell);
    }
    if (kept || plan.running) history.scrollRestoration = "manual";
    setUp();
    if (plan.running) keepUp();
    await (state.q ? search() : draw());
    if (kept) {
      const place = kept.anchor && $(kept.anchor.id);
      if (place) scrollBy(0, place.getBoundingClientRect().top - kept.anchor.top);
      else scrollTo(0, kept.y || 0);
      const focused = kept.focus && $(kept.focus);
      if (focused) {
        focused.focus({ preventScroll: true });
        if (kept.caret !== null && focused === $("find")) focused.setSelectionRange(kept.caret, kept.caret);
      }
    } else if (shared) {
      goTo($("it-" + [...state.its][0]) || $("cell-" + [...state.cells][0]));
    }
    document.body.dataset.ready = "yes";
  }
  start();
})();
