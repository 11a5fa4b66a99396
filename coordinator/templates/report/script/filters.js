// Filters.

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
