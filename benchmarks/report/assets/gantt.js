// The pictures of nodes and time, and of the machine at a moment. They are drawn
// pixel by pixel: the work follows the size of the picture, not of the workload.
const margin = { left: 46, right: 16, top: 4, bottom: 20 };
const view = { t0: 0, t1: Math.max(D.Horizon, 1), n0: 0, n1: machine.n };
let colouring = "job";
const mostWait = runs.reduce((m, r) => r.job.reduce((m, j, k) => Math.max(m, r.start[k] - D.Jobs.Submit[j]), m), 1);
const mostGPUs = Math.max(machine.mostGPUs, 1);

// Shades from dark blue to yellow (after viridis), in order of lightness.
const shades = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(f) {
  const x = clamp(f, 0, 1) * (shades.length - 1), i = Math.min(Math.floor(x), shades.length - 2);
  return shades[i].map((c, k) => Math.round(c + (x - i) * (shades[i + 1][k] - c)));
}

const pack = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
function hueOf(job) { // neighbours in the queue differ in hue, and a little in lightness
  const h = job * 137.508 % 360, l = [0.42, 0.56, 0.68][job % 3], a = 0.55 * Math.min(l, 1 - l);
  return [0, 8, 4].map(n => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}
function colourOf(run, k) {
  if (colouring === "wait") return pack(shade((run.start[k] - D.Jobs.Submit[run.job[k]]) / mostWait));
  if (colouring === "gpus") return pack(shade(run.gpus[k] / mostGPUs));
  return pack(hueOf(run.job[k]));
}
function hexColour(name) {
  const v = parseInt(css(name).slice(1), 16);
  return pack([v >> 16 & 255, v >> 8 & 255, v & 255]);
}

// laneLists finds, for nodes in ascending order, which job had which of a node's cores:
// run.lanes gets flat lists of job, first core, core after the last. A job takes
// the lowest cores that are free, and keeps them.
const maxKept = 4e6;
function laneLists(run, nodes) {
  if (run.kept > maxKept) {
    run.lanes.clear();
    run.kept = 0;
  }
  nodes = nodes.filter(n => !run.lanes.has(n));
  if (nodes.length === 0) return;
  const lists = nodes.map(() => []), busy = nodes.map(n => new Float64Array(machine.cores[n]));
  for (let k = 0; k < run.n; k++) {
    for (let s = run.from[k]; s < run.from[k + 1]; s += 3) {
      let lo = 0, hi = nodes.length;
      while (lo < hi) {
        const mid = (lo + hi) >> 1;
        if (nodes[mid] < run.segs[s]) lo = mid + 1; else hi = mid;
      }
      for (; lo < nodes.length && nodes[lo] <= run.segs[s + 1]; lo++) takeLanes(lists[lo], busy[lo], k, run.segs[s + 2], run.start[k], run.end[k]);
    }
  }
  nodes.forEach((n, i) => {
    run.lanes.set(n, Int32Array.from(lists[i]));
    run.kept += lists[i].length;
  });
}
function takeLanes(list, busy, k, need, start, end) {
  for (let c = 0; c < busy.length && need > 0; c++) {
    if (busy[c] > start) continue;
    const first = c;
    for (; c < busy.length && need > 0 && busy[c] <= start; c++, need--) busy[c] = end;
    list.push(k, first, c);
  }
}

// rowPlace is the node and the core that a line of the picture stands for. With few
// lines a node, it is another core from line to line, so that none is always hidden.
function rowPlace(y, height) {
  const pos = view.n0 + (y + 0.5) * (view.n1 - view.n0) / height, node = clamp(Math.floor(pos), 0, machine.n - 1);
  const inside = height >= 4 * (view.n1 - view.n0) ? pos - node : y * 0.6180339887 % 1;
  return [node, Math.min(Math.floor(inside * machine.cores[node]), machine.cores[node] - 1)];
}

class Gantt {
  constructor(run, parent) {
    this.run = run;
    this.base = document.createElement("canvas");
    this.over = document.createElement("canvas");
    this.over.className = "over";
    this.over.tabIndex = 0;
    this.over.setAttribute("role", "img");
    this.over.setAttribute("aria-label", "Jobs on nodes over time under " + run.policy + "; arrow keys move, plus and minus zoom");
    parent.append(this.base, this.over);
  }
  size() {
    const ratio = window.devicePixelRatio || 1, width = Math.max(this.base.parentElement.clientWidth, 120), height = clamp(innerHeight * 0.55, 260, 520);
    for (const c of [this.base, this.over]) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
      c.style.height = height + "px";
    }
    this.ratio = ratio;
    this.box = { x: margin.left, y: margin.top, w: width - margin.left - margin.right, h: height - margin.top - margin.bottom };
  }
  draw() {
    this.size();
    const c = this.base.getContext("2d"), r = this.ratio, b = this.box;
    const w = Math.max(1, Math.round(b.w * r)), h = Math.max(1, Math.round(b.h * r));
    const image = c.createImageData(w, h), pixels = new Uint32Array(image.data.buffer), scale = w / (view.t1 - view.t0);
    const places = [];
    for (let y = 0; y < h; y++) places.push(rowPlace(y, h));
    laneLists(this.run, [...new Set(places.map(p => p[0]))]);
    const colours = new Uint32Array(this.run.n);
    for (let k = 0; k < this.run.n; k++) colours[k] = colourOf(this.run, k);
    pixels.fill(hexColour("--idle"));
    places.forEach(([node, core], y) => {
      const list = this.run.lanes.get(node);
      for (let i = 0; i < list.length; i += 3) {
        if (core < list[i + 1] || core >= list[i + 2]) continue;
        const k = list[i], x = Math.floor((this.run.start[k] - view.t0) * scale);
        const end = Math.max(x + 1, Math.floor((this.run.end[k] - view.t0) * scale));
        if (x < w && end > 0) pixels.fill(colours[k], y * w + Math.max(x, 0), y * w + Math.min(end, w));
      }
    });
    c.putImageData(image, Math.round(b.x * r), Math.round(b.y * r));
    this.axes(c);
    this.mark();
  }
  axes(c) {
    const b = this.box;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = css("--soft");
    c.strokeStyle = css("--line");
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "right";
    const step = Math.max(1, niceStep(view.n1 - view.n0, 8));
    for (let n = Math.ceil(view.n0 / step) * step; n < view.n1; n += step)
      c.fillText(n, b.x - 5, clamp(b.y + (n - view.n0 + Math.min(0.5, step / 2)) * b.h / (view.n1 - view.n0), 8, b.y + b.h));
    c.textAlign = "center";
    const ts = timeStep(view.t1 - view.t0, Math.max(2, b.w / 85));
    for (let t = Math.ceil(view.t0 / ts) * ts; t <= view.t1; t += ts)
      c.fillText(duration(t, ts), clamp(this.x(t), b.x + 4, b.x + b.w - 4), b.y + b.h + 11);
  }
  x(t) { return this.box.x + (t - view.t0) * this.box.w / (view.t1 - view.t0); }
  y(n) { return this.box.y + (n - view.n0) * this.box.h / (view.n1 - view.n0); }
  // mark draws what changes with the pointer: the moment, the job pointed at, a zoom.
  mark() {
    const c = this.over.getContext("2d"), b = this.box, run = this.run;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.over.width, this.over.height);
    c.save();
    c.beginPath();
    c.rect(b.x, b.y, b.w, b.h);
    c.clip();
    c.strokeStyle = css("--ink");
    c.setLineDash([4, 3]);
    c.strokeRect(this.x(state.moment), b.y - 1, 0, b.h + 2);
    c.setLineDash([]);
    const k = state.job < 0 ? -1 : run.place[state.job];
    if (k >= 0) {
      for (let s = run.from[k]; s < run.from[k + 1]; s += 3) {
        const x = this.x(run.start[k]), y = this.y(run.segs[s]);
        const w = Math.max(2, this.x(run.end[k]) - x), h = Math.max(2, this.y(run.segs[s + 1] + 1) - y);
        c.lineWidth = 3;
        c.strokeStyle = css("--back");
        c.strokeRect(x, y, w, h);
        c.lineWidth = 1.5;
        c.strokeStyle = css("--ink");
        c.strokeRect(x, y, w, h);
      }
    }
    const z = state.zoom;
    if (z && z.gantt === this) {
      c.fillStyle = css("--ink");
      c.globalAlpha = 0.2;
      c.fillRect(z.x0, z.y0, z.x1 - z.x0, z.y1 - z.y0);
    }
    c.restore();
  }
  timeAt(x) { return view.t0 + (x - this.box.x) * (view.t1 - view.t0) / this.box.w; }
  nodeAt(y) { return view.n0 + (y - this.box.y) * (view.n1 - view.n0) / this.box.h; }
  // at is the job of the run under a point in the picture's own pixels, or -1.
  at(px, py) {
    const b = this.box, run = this.run;
    if (px < b.x || px >= b.x + b.w || py < b.y || py >= b.y + b.h) return -1;
    const h = Math.max(1, Math.round(b.h * this.ratio)), t = this.timeAt(px), pixel = (view.t1 - view.t0) / (b.w * this.ratio);
    const [node, core] = rowPlace(clamp(Math.floor((py - b.y) * this.ratio), 0, h - 1), h);
    const list = run.lanes.get(node) || [];
    let best = -1;
    for (let i = 0; i < list.length; i += 3) {
      const k = list[i];
      if (core >= list[i + 1] && core < list[i + 2] && run.start[k] <= t + pixel && t < Math.max(run.end[k], run.start[k] + pixel)) best = k;
    }
    return best;
  }
}

// Moment is the machine at one moment, as figures 4 and 5 of aucsched1 draw it.
class Moment {
  constructor(run, parent) {
    this.run = run;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Cores of the nodes at the moment shown under " + run.policy);
    parent.append(this.canvas);
  }
  draw() {
    const ratio = window.devicePixelRatio || 1, width = Math.max(this.canvas.parentElement.clientWidth, 120);
    const gap = machine.mostGPUs ? 8 : 0, high = machine.mostGPUs ? 40 : 0, low = 110, height = margin.top + high + gap + low + margin.bottom;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = height + "px";
    this.box = { x: margin.left, w: width - margin.left - margin.right, y: margin.top };
    const stacks = this.stacks();
    const c = this.canvas.getContext("2d");
    this.bars(c, ratio, margin.top + high + gap, low, machine.cores, machine.mostCores, stacks, 2);
    if (high) this.bars(c, ratio, margin.top, high, machine.gpus, machine.mostGPUs, stacks, 4);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = css("--soft");
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText("cores", margin.left - 5, margin.top + high + gap + low / 2);
    if (high) c.fillText("GPUs", margin.left - 5, margin.top + high / 2);
    c.textAlign = "center";
    const step = Math.max(1, niceStep(view.n1 - view.n0, Math.max(2, this.box.w / 70)));
    for (let n = Math.ceil(view.n0 / step) * step; n < view.n1; n += step)
      c.fillText(n, this.box.x + (n - view.n0) * this.box.w / (view.n1 - view.n0), height - margin.bottom + 11);
  }
  // stacks lists for each node in view: job, its colour, first core and the one after its last, the same of GPUs.
  stacks() {
    const run = this.run, lists = this.lists = new Map();
    for (let k = 0; k < run.n && run.start[k] <= state.moment; k++) {
      if (run.end[k] <= state.moment) continue;
      const colour = colourOf(run, k);
      for (let s = run.from[k]; s < run.from[k + 1]; s += 3) {
        for (let n = Math.max(run.segs[s], Math.floor(view.n0)); n <= run.segs[s + 1] && n < view.n1; n++) {
          if (!lists.has(n)) lists.set(n, []);
          const list = lists.get(n), at = list.length, c = at ? list[at - 3] : 0, g = at ? list[at - 1] : 0;
          list.push(k, colour, c, c + run.segs[s + 2], g, g + run.gpus[k]);
        }
      }
    }
    return lists;
  }
  bars(c, ratio, top, height, capacity, most, lists, field) {
    const w = Math.max(1, Math.round(this.box.w * ratio)), h = Math.round(height * ratio), image = c.createImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer), idle = hexColour("--idle"), none = hexColour("--back");
    for (let x = 0; x < w; x++) {
      const node = clamp(Math.floor(view.n0 + (x + 0.5) * (view.n1 - view.n0) / w), 0, machine.n - 1), list = lists.get(node) || [];
      for (let y = 0; y < h; y++) {
        const unit = Math.floor((h - 1 - y) * most / h);
        let colour = unit < capacity[node] ? idle : none;
        for (let i = 0; i < list.length; i += 6) if (unit >= list[i + field] && unit < list[i + field + 1]) colour = list[i + 1];
        pixels[y * w + x] = colour;
      }
    }
    c.putImageData(image, Math.round(this.box.x * ratio), Math.round(top * ratio));
  }
  at(px, py) {
    if (px < this.box.x || px >= this.box.x + this.box.w) return -1;
    const node = Math.floor(view.n0 + (px - this.box.x) * (view.n1 - view.n0) / this.box.w), list = this.lists.get(node) || [];
    const high = machine.mostGPUs ? 40 : 0, gap = high ? 8 : 0, inCores = py >= margin.top + high + gap;
    const unit = inCores ? Math.floor((margin.top + high + gap + 110 - py) * machine.mostCores / 110) : Math.floor((margin.top + high - py) * machine.mostGPUs / 40);
    for (let i = 0, f = inCores ? 2 : 4; i < list.length; i += 6) if (unit >= list[i + f] && unit < list[i + f + 1]) return list[i];
    return -1;
  }
}
