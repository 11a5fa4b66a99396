// One iteration in full.

const section = (title, ...children) => [el("h4", {}, title), ...children];
const callout = (kind, title, ...children) => el("div", { class: "callout " + kind }, el("h4", {}, title), ...children);
function fold(key, head, className, content) {
  const body = el("div", { class: "call-body", hidden: true });
  const button = el("button", { type: "button", class: className, id: key, "aria-expanded": "false", onclick: () => set(body.hidden) }, head);
  function set(open) {
    if (open && !body.childNodes.length) body.append(...content());
    body.hidden = !open;
    button.setAttribute("aria-expanded", open);
    if (open) state.inner.add(key); else state.inner.delete(key);
  }
  if (state.inner.has(key)) set(true);
  return [button, body];
}
function detailNodes(row, detail) {
  const test = plan.cases[row.cell % cases];
  const nodes = [];
  if (detail.expectations && detail.expectations.length) {
    nodes.push(...section("Expectations", el("ul", {}, detail.expectations.map((it) => el("li", { class: "line" },
      mark(it.met ? "passed" : "failed", it.met ? "met" : "not met"), el("span", {}, it.what, it.why ? el("span", { class: "note failed" }, " – " + it.why) : null, differences(it.differences)))))));
  }
  nodes.push(...judgeNodes(detail));
  if (detail.turns) {
    const problems = [
      ...detail.turns.filter((turn) => turn.ending !== "completed").map((turn) => "Turn " + (turn.index + 1) + " ended with " + words(turn.ending) + (turn.detail ? ": " + turn.detail : "")),
      ...(detail.refusal ? ["The model API refused: " + detail.refusal] : []),
      ...detail.exposures.flatMap((it) => [
        ...it.faults.map((fault) => it.server + ": " + fault),
        ...(it.recordingFault ? ["The recording of " + it.server + " cannot be trusted: " + it.recordingFault] : []),
        ...(it.loginRequired ? [it.server + " asked for a login"] : []),
        ...(it.initialized ? [] : [it.server + " was never initialized"]),
        ...(it.toolsListed ? [] : ["the tools of " + it.server + " were never listed"])]),
    ];
    if (problems.length || detail.stderr) {
      nodes.push(callout(row.outcome === "failed" ? "failed" : "", row.outcome === "passed" ? "Noted" : "Errors", el("ul", {}, problems.map((text) => el("li", {}, text))),
        detail.stderr ? el("pre", {}, detail.stderr) : null));
    }
    const escapes = detail.turns.flatMap((turn) => turn.escapes);
    if (escapes.length) nodes.push(callout("", "Left the MCP binding", el("ul", {}, escapes.map(([kind, what]) => el("li", {}, kind + ": ", el("code", {}, what))))));
    const warnings = detail.turns.flatMap((turn) => turn.warnings);
    if (warnings.length) nodes.push(callout("", "Warnings", el("ul", {}, warnings.map((text) => el("li", {}, text)))));
    const bad = detail.calls.filter((call) => call.state !== "ok");
    if (bad.length) {
      nodes.push(callout("failed", "Failed calls, which count for no expectation", el("ul", {}, bad.map((call) => el("li", {},
        el("code", {}, call.tool), " – " + words(call.state) + (call.httpStatus && call.httpStatus >= 400 ? " " + call.httpStatus : "") + (call.error ? ": " + call.error : ""))))));
    }
    const unlisted = [...new Set(detail.calls.map((call) => call.tool).filter((tool) => !test.expectedTools.includes(tool) && !Object.hasOwn(test.expectations.expectedArguments || {}, tool)))];
    if (unlisted.length) nodes.push(...section("Called without being expected", el("p", {}, unlisted.map((tool, at) => [at ? ", " : "", el("code", {}, tool)]).flat())));
    nodes.push(...section("Conversation", ...conversation(row, detail)));
  }
  if (detail.earlier.length) {
    nodes.push(...section("Earlier attempts", el("ul", {}, detail.earlier.map((it) => el("li", { class: "line" }, mark(kindOf(it.outcome), it.outcome),
      el("span", {}, "attempt " + it.attempt + ": " + (it.why || it.outcome) + (it.reason ? ", " + it.reason : ""), el("span", { class: "note" }, " " + duration(it.durationMs) + ", " + it.worker)))))));
  }
  if (detail.turns) nodes.push(...section("Measured", el("p", { class: "quiet" }, measured(row, detail))));
  return nodes;
}
function differences(all) {
  if (!all || !all.length) return null;
  return el("ul", {}, all.map((it) => el("li", { class: "note" }, el("code", {}, it.at || "arguments"), ": expected " + it.expected + ", found " + it.found)));
}
function measured(row, detail) {
  const usage = detail.usage, parts = ["attempt " + detail.attempt + " by " + detail.worker + " in sandbox " + detail.sandbox, detail.startedAt, duration(row.durationMs)];
  if (detail.responseModel) parts.push("model " + detail.responseModel);
  if (usage.inputTokens !== null) parts.push(count(usage.inputTokens) + " tokens in" + (usage.cachedInputTokens ? ", " + count(usage.cachedInputTokens) + " of them cached" : ""));
  if (usage.outputTokens !== null) parts.push(count(usage.outputTokens) + " tokens out");
  if (usage.costUsd !== null) parts.push(dollars(usage.costUsd));
  if (detail.modelWaitingMs) parts.push(duration(detail.modelWaitingMs) + " lost waiting for the model");
  for (const it of detail.exposures) {
    if (it.toolsListed) parts.push((it.name || it.server) + (it.version ? " " + it.version : "") + " listed " + plural(it.toolCount, "tool") + (it.protocol ? ", protocol " + it.protocol : ""));
  }
  return parts.join(" · ");
}
function conversation(row, detail) {
  const nodes = [];
  for (const turn of detail.turns) {
    nodes.push(el("div", { class: "said user" }, el("div", { class: "who" }, turn.index ? "answer" : "prompt"), el("div", { class: "words" }, turn.prompt)));
    detail.calls.forEach((call, at) => { if (call.turn === turn.index) nodes.push(callNode(row, call, at)); });
    nodes.push(el("div", { class: "said" }, el("div", { class: "who" }, "agent"), el("div", { class: "words" }, turn.reply || el("span", { class: "quiet" }, "said nothing"))));
  }
  const last = detail.turns.length;
  detail.calls.forEach((call, at) => { if (!(call.turn < last)) nodes.push(callNode(row, call, at)); });
  if (detail.callsLeftOut) nodes.push(el("p", { class: "quiet" }, plural(detail.callsLeftOut, "further call") + " in results.json"));
  return nodes;
}
function callNode(row, call, at) {
  const ok = call.state === "ok";
  const brief = call.arguments && call.arguments !== "{}" ? call.arguments.length > 90 ? call.arguments.slice(0, 88) + "…" : call.arguments : "";
  const head = [twist(), mark(ok ? "passed" : "failed", words(call.state)),
    el("span", { class: "call-name" }, el("code", {}, plan.severalServers ? call.server + " / " + call.tool : call.tool), ok ? null : el("span", { class: "note failed" }, " " + words(call.state)), el("span", { class: "brief" }, brief)),
    el("span", { class: "row-figures" }, duration(call.durationMs))];
  return el("div", { class: "call" + (ok ? "" : " bad") }, fold("it-" + row.key + "-call-" + at, head, "call-head", () => callBody(call)));
}
function callBody(call) {
  const nodes = [...section("Arguments", call.arguments ? el("pre", {}, ...pretty(call.arguments)) : el("p", { class: "quiet" }, call.truncated ? "too large to be kept here" : "none"))];
  if (call.error) nodes.push(...section("Error", el("p", {}, call.error)));
  if (call.result) nodes.push(...section(call.state === "protocol_error" ? "JSON-RPC error" : "Result", ...resultNodes(call.result)));
  else nodes.push(...section("Result", el("p", { class: "quiet" }, call.bytes ? "too large to be kept here" : "none")));
  const facts = ["sent " + duration(call.afterMs) + " after the start", "took " + duration(call.durationMs), size(call.bytes)];
  if (call.httpStatus) facts.push("HTTP " + call.httpStatus);
  if (call.legs > 1) facts.push(plural(call.legs, "request"));
  if (call.sha256) facts.push("SHA-256 " + call.sha256);
  nodes.push(el("p", { class: "quiet" }, facts.join(" · ")));
  return nodes;
}
