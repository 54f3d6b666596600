// The pictures of input files and of several workloads (locality, sections 5.2 to 5.6): jobs one by one against the
// first policy, box plots and empirical distributions. Ratios have a logarithmic scale; above 1 is better.
const ratioTicks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
function ratioScale(values) { // the least range that has them all, and 1
  let lo = 0.8, hi = 1.25;
  for (const v of values) {
    lo = Math.min(lo, v);
    hi = Math.max(hi, v);
  }
  lo = Math.max(lo / 1.05, ratioTicks[0]);
  hi = Math.min(hi * 1.05, ratioTicks[ratioTicks.length - 1]);
  const at = v => clamp(Math.log(v / lo) / Math.log(hi / lo), 0, 1);
  let ticks = ratioTicks.filter(v => v >= lo && v <= hi);
  if (ticks.length < 3) ticks = [0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2].filter(v => v >= lo && v <= hi);
  return { at, ticks };
}
const ratioLevel = (svg, box, v, y) => {
  add(svg, "line", { x1: box.x, x2: box.x + box.w, y1: y, y2: y, class: v === 1 ? "one" : "grid" });
  add(svg, "text", { x: box.x - 5, y: y + 4, "text-anchor": "end" }, String(v));
};

// Shares shows, of each job that counts, how many times smaller its stretch is than under the first policy, by its
// submission; the area is in proportion to the time from its start to its end. Equal points are drawn once.
const maxShown = 4000; // points of a picture; of more jobs, every second, third ... is drawn
class Shares {
  constructor(parent, number) {
    Object.assign(this, { number, run: runs[number] });
    this.svg = plain(parent, runs[number].policy + " against " + runs[0].policy + ": stretch, job by job", number);
    this.jobs = D.Share[number].map((v, j) => j).filter(j => D.Share[number][j] > 0);
    this.shown = this.jobs.filter((j, k) => k % Math.ceil(this.jobs.length / maxShown) === 0);
    this.better = this.jobs.filter(j => D.Share[number][j] > 1.005).length;
    this.worse = this.jobs.filter(j => D.Share[number][j] < 0.995).length;
  }
  draw() {
    const svg = this.svg, box = frame(svg, 230), { at, ticks } = ratioScale(shareRange), y = v => box.y + box.h * (1 - at(v));
    ticks.forEach(v => ratioLevel(svg, box, v, y(v)));
    const submits = this.jobs.map(j => D.Jobs.Submit[j]), t0 = submits.reduce((a, b) => Math.min(a, b), Infinity), span = Math.max(most([submits]) - t0, 1);
    add(svg, "text", { x: box.x, y: box.y + box.h + 16 }, this.jobs.length + " jobs by submission: " + this.better + " better, " + this.worse + " worse");
    const g = add(svg, "g", { style: "fill:" + policyColour(this.number), "fill-opacity": 0.35 });
    for (const j of this.shown) {
      const k = this.run.place[j], v = D.Share[this.number][j], runs = this.run.end[k] - this.run.start[k];
      const c = add(g, "circle", { cx: (box.x + (D.Jobs.Submit[j] - t0) / span * box.w).toFixed(1), cy: y(v).toFixed(1), r: clamp(Math.sqrt(runs / 3600), 1, 9).toFixed(1) });
      c.addEventListener("pointermove", e => showTip(describe(this.run, k) + "\nstretch " + v + " times better", e));
      c.addEventListener("pointerleave", e => showTip("", e));
    }
  }
}
// plain is a figure about one run.
function plain(parent, caption, number) {
  const f = parent.appendChild(document.createElement("figure")), head = f.appendChild(document.createElement("figcaption"));
  if (number >= 0) head.appendChild(document.createElement("i")).className = "key p" + number % 6;
  head.append(caption);
  return add(f, "svg", { role: "img", "aria-label": caption });
}

// Boxes has a box for each policy, over the workloads.
class Boxes {
  constructor(parent) { this.svg = plain(parent, "Box plots over " + D.Days.Sorted[0].length + " workloads", -1); }
  draw() {
    const svg = this.svg, box = frame(svg, 260), n = D.Days.Policies.length, slot = box.w / n, w = Math.min(34, slot * 0.6);
    const { at, ticks } = ratioScale(D.Days.Sorted.flat()), y = v => box.y + box.h * (1 - at(v));
    ticks.forEach(v => ratioLevel(svg, box, v, y(v)));
    D.Days.Policies.forEach((name, i) => {
      const b = D.Days.Boxes[i], mid = box.x + (i + 0.5) * slot, x = mid - w / 2;
      add(svg, "text", { x: mid, y: box.y + box.h + 16, "text-anchor": "middle", style: slot < 52 ? "font-size:9px" : "" }, name);
      const g = add(svg, "g", { class: "day-box", style: "stroke:" + policyColour(i) + ";fill:" + policyColour(i) });
      for (const [a, c] of [[b.High, b.Q3], [b.Q1, b.Low]]) {
        add(g, "line", { x1: mid, x2: mid, y1: y(a), y2: y(c) });
        const end = a === b.High ? a : c;
        add(g, "line", { x1: x, x2: x + w, y1: y(end), y2: y(end) });
      }
      add(g, "rect", { x, width: w, y: y(b.Q3), height: Math.max(1, y(b.Q1) - y(b.Q3)), "fill-opacity": 0.3 });
      add(g, "line", { x1: x, x2: x + w, y1: y(b.Median), y2: y(b.Median), "stroke-width": 3 });
      add(g, "line", { x1: x, x2: x + w, y1: y(b.Mean), y2: y(b.Mean), "stroke-width": 2, "stroke-dasharray": "4 3" });
      for (const v of D.Days.Sorted[i]) if (v < b.Low || v > b.High) add(g, "circle", { cx: mid, cy: y(v), r: 2.5, "fill-opacity": 0 });
      const hit = add(svg, "rect", { x: mid - slot / 2, y: box.y, width: slot, height: box.h, style: "fill:transparent;stroke:none" });
      const words = v => v.toFixed(3), all = D.Days.Sorted[i];
      hit.addEventListener("pointermove", e => showTip(name + "\nmedian " + words(b.Median) + ", mean " + words(b.Mean) + "\nhalf within " + words(b.Q1) + " to " + words(b.Q3) +
        "\nthree quarters within " + words(b.Low) + " to " + words(b.High) + "\nleast " + words(all[0]) + ", most " + words(all[all.length - 1]), e));
      hit.addEventListener("pointerleave", e => showTip("", e));
    });
  }
}

// Distribution has a line for each policy: the share of workloads that come to no more.
class Distribution {
  constructor(parent) {
    this.svg = plain(parent, "Empirical distribution: share of the workloads with at most so much", -1);
    this.legend = this.svg.parentElement.insertBefore(document.createElement("p"), this.svg);
    this.legend.className = "note";
    D.Days.Policies.forEach((name, i) => {
      const key = this.legend.appendChild(document.createElement("span")), svg = add(key, "svg", { width: 26, height: 10, style: "display:inline;width:26px;margin:0 4px 0 10px" });
      add(svg, "line", { x1: 0, x2: 26, y1: 5, y2: 5, style: "stroke:" + policyColour(i), "stroke-width": 2.5, "stroke-dasharray": dash(i) });
      key.append(name);
    });
  }
  draw() {
    const svg = this.svg, box = frame(svg, 260), { at, ticks } = ratioScale(D.Days.Sorted.flat()), x = v => box.x + box.w * at(v), y = f => box.y + box.h * (1 - f);
    levels(svg, box, 1, v => percent(v));
    for (const v of ticks) {
      add(svg, "line", { x1: x(v), x2: x(v), y1: box.y, y2: box.y + box.h, class: v === 1 ? "one" : "grid" });
      add(svg, "text", { x: x(v), y: box.y + box.h + 16, "text-anchor": "middle" }, String(v));
    }
    D.Days.Sorted.forEach((sorted, i) => {
      let path = "M" + box.x + " " + y(0);
      sorted.forEach((v, k) => { path += "H" + x(v).toFixed(1) + "V" + y((k + 1) / sorted.length).toFixed(1); });
      add(svg, "path", { d: path + "H" + (box.x + box.w), class: "day-line", fill: "none", style: "stroke:" + policyColour(i), "stroke-width": 1.6, "stroke-dasharray": dash(i) });
    });
  }
}
