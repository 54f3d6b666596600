// The picture of input files (locality, section 5.2): jobs one by one against the first policy. Ratios have a
// logarithmic scale; above 1 is better.
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
    const g = add(svg, "g", { style: "fill:" + policyColour(this.number), "fill-opacity": 0.6 });
    for (const j of this.shown) {
      const k = this.run.place[j], v = D.Share[this.number][j], runs = this.run.end[k] - this.run.start[k];
      const c = add(g, "circle", { cx: (box.x + (D.Jobs.Submit[j] - t0) / span * box.w).toFixed(1), cy: y(v).toFixed(1), r: clamp(Math.sqrt(runs / 3600), 2, 9).toFixed(1) });
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
