// Groups.

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
      figures.invalid ? el("span", { class: "note invalid" }, figures.invalid) : null, judgeCount(figures), matched));
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
  // What is open further down is shown too, without everything above it.
  const wanted = state.shown[cell] || FIRST_ROWS;
  const shown = matching.filter((row, at) => at < wanted || state.its.has(row.key));
  if (!made.list) {
    made.list = el("ol", { class: "rows" });
    made.more = el("button", { type: "button", class: "plain-button more-rows", onclick: () => { state.shown[cell] = made.wanted + MORE_ROWS; fill(cell); } });
    made.body.append(el("div", { class: "group-case" },
      el("p", { class: "prompt" }, test.prompt),
      el("p", { class: "quiet" }, test.expectedTools.length ? "expects " + test.expectedTools.join(", ") : Object.keys(test.expectations).length ? "expects what follows" : "expects no tool",
        ...Object.entries(test.expectations).map(([key, value]) => "; " + key + " " + JSON.stringify(value)),
        test.answers.length ? "; " + plural(test.answers.length, "scripted answer") : "", " · ", test.file),
      judgedCase(test),
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
