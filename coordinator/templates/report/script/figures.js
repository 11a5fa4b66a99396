// Figures as people read them.

const plural = (n, one) => n + " " + one + (n === 1 ? "" : "s");
function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return Math.round(ms) + " ms";
  const s = ms / 1000;
  if (s < 59.95) return s.toFixed(1) + " s";
  const whole = Math.round(s), minutes = Math.round(s / 60);
  if (whole >= 172800) return Math.round(s / 86400) + " days";
  if (whole >= 3600) return Math.floor(minutes / 60) + " h " + String(minutes % 60).padStart(2, "0") + " min";
  return Math.floor(whole / 60) + " min " + String(whole % 60).padStart(2, "0") + " s";
}
const count = (n) => (n < 10000 ? String(n) : n < 1e6 ? (n / 1000).toFixed(1) + "k" : (n / 1e6).toFixed(1) + "M");
const dollars = (n) => "$" + (n === 0 || n >= 0.995 ? n.toFixed(2) : n.toFixed(4));
const size = (n) => (n < 1000 ? n + " bytes" : n < 1e6 ? (n / 1000).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB");
const words = (name) => name.replaceAll("_", " ");
const kindOf = (outcome) => (outcome === "aborted" || outcome === "waiting" ? "open" : outcome);
const kindOfMark = { p: "passed", f: "failed", i: "invalid", a: "open", w: "open" };
