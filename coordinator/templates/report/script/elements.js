"use strict";
// The page's own script. Its files are joined into one and share one scope, in the order that `page.rs` names.
// Everything that tools, prompts and agents said is inserted as text nodes, never as markup.

const FIRST_ROWS = 50, MORE_ROWS = 200, FIRST_GROUPS = 100, STRIP_MARKS = 40, FEW_MATCHES = 40;
const plan = JSON.parse(document.getElementById("plan").textContent);
const cases = plan.cases.length;
const $ = (id) => document.getElementById(id);

// Building elements.

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
const SVG = "http://www.w3.org/2000/svg";
function mark(status, label) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "mark " + status);
  use.setAttribute("href", "#mark-" + status);
  if (label) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", label); } else svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}
function twist() {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("class", "twist");
  svg.setAttribute("viewBox", "0 0 10 10");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M3 1l4 4-4 4");
  svg.append(path);
  return svg;
}
