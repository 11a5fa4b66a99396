// Reloading while the run goes on.

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
