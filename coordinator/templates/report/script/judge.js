// What the judge said. Its words are text like any other's.

const JUDGE_MARKS = { disagrees: "⚖ judge disagrees", error: "judge failed" };
TRAITS.judgeDisagrees = (row) => row.judge === "disagrees";
TRAITS.judgeUnclear = (row) => row.judge === "not_compared" || row.judge === "error";
function judgeMark(row) {
  const words = JUDGE_MARKS[row.judge];
  return words ? el("span", { class: "note judge" }, " " + words) : null;
}
function judgeCount(figures) {
  return figures.judgeDisagrees ? el("span", { class: "note judge", title: "iterations on which the judge disagrees" }, "⚖ " + figures.judgeDisagrees) : null;
}
function judgedCase(test) {
  return test.judged ? el("p", { class: "quiet" }, test.judged) : null;
}
function judgeNodes(detail) {
  const said = detail.judge;
  if (!said) return [];
  const opinion = (title, it, after) => [
    el("p", {}, title, el("span", { class: "verdict-word" }, it.verdict), after ? " – " + after : "",
      el("span", { class: "note" }, " " + it.model + ", " + duration(it.durationMs))),
    el("p", {}, it.reasoning)];
  const nodes = [];
  if (said.opinion) nodes.push(...opinion(said.disagrees ? "⚖ " : "", said.opinion, said.agreement));
  if (said.tone) nodes.push(...opinion("Tone: ", said.tone, ""));
  for (const it of said.choices) {
    nodes.push(el("p", {}, "After turn " + (it.afterTurn + 1) + ": " + (it.reply ? "picked reply " + it.reply : "no reply fitted") + " – " + it.reasoning));
  }
  if (said.usage) nodes.push(el("p", { class: "quiet" }, said.usage));
  return [callout("judge", "Judge", ...nodes)];
}
function setUpJudge() {
  if (!plan.judge) return;
  $("by-trait").append(el("option", { value: "judgeDisagrees" }, "judge disagrees"), el("option", { value: "judgeUnclear" }, "judge unclear"));
}
