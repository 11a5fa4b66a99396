// What the reader has chosen: filters and open places in the address, the rest in the session's storage.

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
    anchors: anchors(), cells: order.filter((cell) => groups.has(cell) && groups.get(cell).node.isConnected && isOpen(cell)), focus: document.activeElement && document.activeElement.id,
    caret: document.activeElement === $("find") ? $("find").selectionStart : null,
    folds: [...document.querySelectorAll("details.more[open]")].map((fold) => fold.id) };
  try { sessionStorage.setItem(store, JSON.stringify(kept)); } catch { /* without storage only the scroll position is lost */ }
}
function recall() {
  try { return JSON.parse(sessionStorage.getItem(store) || "null"); } catch { return null; }
}
// Some places in view, so that what grows above them does not move them; not all of them may be there after a reload.
function anchors() {
  if (scrollY < 40) return [];
  const places = [];
  const top = $("filters").getBoundingClientRect().bottom;
  for (const node of document.querySelectorAll(".call-head[id], .detail[id], .row[id], .group[id], main > section[id]")) {
    const box = node.getBoundingClientRect();
    if (box.height && box.top >= Math.max(0, top) && box.top < innerHeight) places.push({ id: node.id, top: box.top });
  }
  return places.slice(0, 20);
}
