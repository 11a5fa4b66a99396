// Controls.

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
// Opens an iteration, whatever the filters say, and a call in it.
async function showIteration(cell, iteration, call) {
  const key = cell + "-" + iteration;
  Object.assign(state, { q: "", agent: "", test: "", tool: "", only: "", outcomes: new Set() });
  fillControls();
  state.cells.add(cell);
  state.its.add(key);
  groupsShown = Math.max(groupsShown, order.indexOf(cell) + 1);
  await changed();
  const opener = call !== undefined && $("it-" + key + "-call-" + call);
  if (opener && opener.getAttribute("aria-expanded") === "false") opener.click();
  goTo(opener || $("it-" + key));
  const focused = opener || $("it-" + key + "-head");
  if (focused) focused.focus({ preventScroll: true });
}
function heads() {
  return [...document.querySelectorAll("#groups .group-head, #groups .row-head")].filter((node) => node.offsetParent);
}
function setUp() {
  options("by-agent", plan.agents);
  options("by-case", plan.cases.map((test) => test.name));
  $("by-tool").append(...plan.tools.map((tool) => el("option", { value: tool }, tool)));
  if (!plan.tools.length) $("by-tool").parentElement.hidden = true;
  setUpJudge();
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
  document.addEventListener("click", async (event) => {
    const link = event.target.closest('a[href^="#it="]');
    if (!link) return;
    event.preventDefault();
    const [, cell, iteration] = link.getAttribute("href").match(/^#it=(\d+)-(\d+)$/);
    await showIteration(Number(cell), iteration, link.dataset.call);
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
