// Rows.

function rowNode(row) {
  const kind = kindOf(row.outcome), id = "it-" + row.key;
  const calls = row.tools.map(([tool, all, failed]) => tool + (all > 1 ? " ×" + all : "") + (failed ? " (" + failed + " failed)" : "")).join(", ");
  const figures = [row.attempts > 1 ? plural(row.attempts, "attempt") : "", row.turns > 1 ? plural(row.turns, "turn") : "",
    row.escapes ? "left the binding" : "", duration(row.durationMs)].filter(Boolean).join(" · ");
  const head = el("button", { type: "button", class: "row-head", id: id + "-head", "aria-expanded": "false", onclick: () => toggleRow(row) },
    twist(), mark(kind, row.outcome), el("span", {}, "#" + row.iteration),
    el("span", { class: "row-words" },
      row.outcome === "passed" ? null : [el("span", { class: "why " + row.outcome }, row.why || row.outcome), row.reason ? ": " + row.reason + " " : " "],
      el("span", { class: "row-tools" }, calls || "no call"), judgeMark(row)),
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
