// Start.

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
    for (const cell of kept.cells || []) if (plan.cells[cell]) state.cells.add(cell); // also what a filter had opened by itself
    for (const id of kept.folds || []) if ($(id)) $(id).open = true;
  } else if (!location.hash && order.reduce((sum, cell) => sum + plan.cells[cell].marks.length, 0) <= 12) {
    for (const cell of order) state.cells.add(cell);
  }
  if (kept || plan.running) history.scrollRestoration = "manual";
  setUp();
  if (plan.running) keepUp();
  await (state.q ? search() : draw());
  if (kept) {
    const anchor = (kept.anchors || []).find(({ id }) => $(id) && $(id).getBoundingClientRect().height);
    if (anchor) scrollBy(0, $(anchor.id).getBoundingClientRect().top - anchor.top);
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
