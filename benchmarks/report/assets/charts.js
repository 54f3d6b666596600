// The charts of lines and bars, in SVG.
const ns = document.querySelector("svg").namespaceURI;
const dashes = ["", "7 3", "2 3", "9 3 2 3", "4 2", "12 4"];
const dash = i => dashes[(i + Math.floor(i / 6)) % 6]; // a seventh run has the first one's colour
const policyColour = i => "var(--p" + i % 6 + ")";
function add(parent, name, attributes, text) {
  const e = parent.appendChild(document.createElementNS(ns, name));
  for (const a in attributes) e.setAttribute(a, attributes[a]);
  if (text !== undefined) e.textContent = text;
  return e;
}

// figure makes a figure with a caption, and says which colour is which policy.
function figure(parent, caption, lines) {
  const f = parent.appendChild(document.createElement("figure")), head = f.appendChild(document.createElement("figcaption"));
  head.textContent = caption + "   ";
  runs.forEach((r, i) => {
    const key = head.appendChild(document.createElement("span")), svg = add(key, "svg", { width: 26, height: 10, style: "display:inline;width:26px;margin:0 4px 0 10px" });
    if (lines) add(svg, "line", { x1: 0, x2: 26, y1: 5, y2: 5, style: "stroke:" + policyColour(i), "stroke-width": 2.5, "stroke-dasharray": dash(i) });
    else add(svg, "rect", { width: 14, height: 10, x: 8, style: "fill:" + policyColour(i) });
    key.append(r.policy);
  });
  const svg = add(f, "svg", { role: "img", "aria-label": caption });
  return svg;
}

function frame(svg, height) {
  const w = Math.max(svg.parentElement.clientWidth, 120), box = { x: 46, y: 6, w: w - 62, h: height - 28 };
  svg.replaceChildren();
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", "0 0 " + w + " " + height);
  return box;
}
function levels(svg, box, most, words) {
  const step = niceStep(most, 4);
  for (let v = 0; v <= most * 1.0001; v += step) {
    const y = box.y + box.h * (1 - v / most);
    add(svg, "line", { x1: box.x, x2: box.x + box.w, y1: y, y2: y, class: "grid" });
    add(svg, "text", { x: box.x - 5, y: y + 4, "text-anchor": "end" }, words(v));
  }
}

// Curve shows one quantity of all runs over the time in view.
class Curve {
  constructor(parent, caption, values, words, most) {
    Object.assign(this, { svg: figure(parent, caption, true), values, words, most });
    this.svg.addEventListener("pointermove", e => this.point(e));
    this.svg.addEventListener("pointerleave", e => {
      this.cursor.setAttribute("visibility", "hidden");
      showTip("", e);
    });
  }
  draw() {
    const svg = this.svg, box = this.box = frame(svg, 150), x = t => box.x + (t - view.t0) * box.w / (view.t1 - view.t0);
    levels(svg, box, this.most, this.words);
    const ts = timeStep(view.t1 - view.t0, Math.max(2, box.w / 85));
    for (let t = Math.ceil(view.t0 / ts) * ts; t <= view.t1; t += ts)
      add(svg, "text", { x: clamp(x(t), box.x + 4, box.x + box.w - 4), y: box.y + box.h + 16, "text-anchor": "middle" }, duration(t, ts));
    const first = Math.floor(view.t0 / D.Step), last = Math.min(Math.ceil(view.t1 / D.Step), this.values[0].length);
    this.values.forEach((v, i) => {
      let path = "";
      for (let k = first; k < last; k++) {
        const y = (box.y + box.h * (1 - v[k] / this.most)).toFixed(1);
        path += (path ? "L" : "M") + x(Math.max(k * D.Step, view.t0)).toFixed(1) + " " + y + "H" + x(Math.min((k + 1) * D.Step, view.t1)).toFixed(1);
      }
      add(svg, "path", { d: path, fill: "none", style: "stroke:" + policyColour(i), "stroke-width": 1.6, "stroke-dasharray": dash(i) });
    });
    for (const t of D.Window || [])
      if (t >= view.t0 && t <= view.t1) add(svg, "line", { x1: x(t), x2: x(t), y1: box.y, y2: box.y + box.h, class: "window" });
    this.cursor = add(svg, "line", { y1: box.y, y2: box.y + box.h, style: "stroke:var(--ink)", visibility: "hidden" });
  }
  point(e) {
    const px = e.clientX - this.svg.getBoundingClientRect().left, box = this.box;
    if (px < box.x || px >= box.x + box.w) return;
    const t = view.t0 + (px - box.x) * (view.t1 - view.t0) / box.w, k = clamp(Math.floor(t / D.Step), 0, this.values[0].length - 1);
    for (const a of ["x1", "x2"]) this.cursor.setAttribute(a, px);
    this.cursor.setAttribute("visibility", "visible");
    showTip(duration(k * D.Step) + " to " + duration((k + 1) * D.Step) + runs.map((r, i) => "\n" + r.policy + ": " + this.words(this.values[i][k], true)).join(""), e);
  }
}

// Bars shows a value of each class, side by side for the runs.
class Bars {
  constructor(parent, caption, labels, draw, most, words, tipOf) {
    Object.assign(this, { svg: figure(parent, caption, false), labels, drawOne: draw, most, words, tipOf });
  }
  draw() {
    const svg = this.svg, box = frame(svg, 210), slot = box.w / this.labels.length, width = Math.min(26, slot * 0.8 / runs.length);
    levels(svg, box, this.most, this.words);
    this.labels.forEach((label, c) => {
      const mid = box.x + (c + 0.5) * slot;
      add(svg, "text", { x: mid, y: box.y + box.h + 16, "text-anchor": "middle", style: slot < 66 ? "font-size:9px" : "" }, label);
      runs.forEach((r, i) => {
        const g = add(svg, "g", { style: "stroke:" + policyColour(i) + ";fill:" + policyColour(i) });
        const x = mid + (i - runs.length / 2) * width;
        this.drawOne(g, i, c, x + width * 0.1, width * 0.8, v => box.y + box.h * (1 - v / this.most));
        const hit = add(g, "rect", { x, y: box.y, width, height: box.h, style: "fill:transparent;stroke:none" });
        hit.addEventListener("pointermove", e => showTip(r.policy + ", " + label + "\n" + this.tipOf(i, c), e));
        hit.addEventListener("pointerleave", e => showTip("", e));
      });
    });
  }
}

function boxPlot(g, b, x, w, y) {
  if (b.N === 0) return;
  const mid = x + w / 2;
  add(g, "line", { x1: mid, x2: mid, y1: y(b.P95), y2: y(b.P75) });
  add(g, "line", { x1: x, x2: x + w, y1: y(b.P95), y2: y(b.P95) });
  add(g, "rect", { x, width: w, y: y(b.P75), height: Math.max(1, y(b.P25) - y(b.P75)), "fill-opacity": 0.35 });
  add(g, "line", { x1: x, x2: x + w, y1: y(b.P50), y2: y(b.P50), "stroke-width": 3 });
  add(g, "circle", { cx: mid, cy: y(b.Mean), r: 2.5, style: "fill:var(--ink);stroke:none" });
}
