// Search inside conversations and calls, piece by piece.

let hunt = 0, searching = "", huntTimer = 0;
async function search() {
  const mine = ++hunt, text = needle();
  found = new Set();
  searching = "";
  if (!text) return draw();
  searching = ", searching the conversations…";
  $("matches").textContent = "Searching…";
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
