// Arguments and results.

// A result of nothing but text is shown as that text, with the message as it was sent one click away.
function resultNodes(raw) {
  let value;
  try { value = JSON.parse(raw); } catch { return [el("pre", {}, raw)]; }
  const plain = value && Array.isArray(value.content) && value.content.length && value.content.every((part) => part && part.type === "text" && typeof part.text === "string")
    && Object.keys(value).every((key) => ["content", "isError", "_meta"].includes(key));
  if (!plain) return [el("pre", {}, ...pretty(raw))];
  const sent = el("pre", { hidden: true }, ...pretty(raw));
  const button = el("button", { type: "button", class: "plain-button small", "aria-expanded": "false", onclick: () => { sent.hidden = !sent.hidden; button.setAttribute("aria-expanded", !sent.hidden); } }, "As sent");
  return [...value.content.map((part) => el("pre", {}, ...(/^\s*[[{]/.test(part.text) ? pretty(part.text) : [part.text]))), button, sent];
}
// Indents JSON without reading its numbers, so that they stand as they were sent. What is no JSON stays as it is.
function pretty(text) {
  try { JSON.parse(text); } catch { return [text]; }
  const out = [];
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  tokens.forEach((token, at) => {
    const next = tokens[at + 1], before = tokens[at - 1];
    if (token === "{" || token === "[") { out.push(token); if (next !== "}" && next !== "]") { depth++; out.push(line()); } }
    else if (token === "}" || token === "]") { if (before !== "{" && before !== "[") { depth--; out.push(line()); } out.push(token); }
    else if (token === ",") out.push(",", line());
    else if (token === ":") out.push(": ");
    else out.push(el("span", { class: next === ":" ? "json-key" : token[0] === '"' ? "json-text" : "json-other" }, token));
  });
  return out;
}
