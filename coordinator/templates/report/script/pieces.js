// Pieces: gzip in base64, unpacked when they are needed.

const rowPieces = new Map();
for (const piece of document.querySelectorAll('script[type="application/x-mcproctor-rows"]')) {
  const cell = Number(piece.dataset.cell);
  rowPieces.set(cell, [...(rowPieces.get(cell) || []), piece]);
}
const detailPieces = [...document.querySelectorAll('script[type="application/x-mcproctor-details"]')];
const pieceOfNumber = new Map(detailPieces.map((piece) => [Number(piece.dataset.piece), piece]));

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
  if (row.piece === null) throw new Error("the page would be too large with all of them; it is in results.json.");
  if (!recent.has(row.piece)) {
    recent.set(row.piece, unpack(pieceOfNumber.get(row.piece)));
    if (recent.size > 4) recent.delete(recent.keys().next().value);
  }
  const start = '{"iteration":' + row.iteration + ",";
  const line = (await recent.get(row.piece)).split("\n").find((text) => text.startsWith(start));
  return JSON.parse(line);
}
