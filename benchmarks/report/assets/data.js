"use strict";
// The data of the page, unpacked, and words for numbers.
const D = JSON.parse(document.getElementById("data").textContent);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const clamp = (v, lo, hi) => Math.min(Math.max(v, lo), hi);

// The machine, node by node.
const machine = (() => {
  const n = D.Machine.reduce((s, g) => s + g.Nodes, 0);
  const cores = new Int32Array(n), gpus = new Int32Array(n);
  let at = 0;
  for (const g of D.Machine) {
    cores.fill(g.Cores, at, at + g.Nodes);
    gpus.fill(g.GPUs, at, at += g.Nodes);
  }
  return { n, cores, gpus, mostCores: cores.reduce((a, b) => Math.max(a, b), 0), mostGPUs: gpus.reduce((a, b) => Math.max(a, b), 0) };
})();

// A run: segs has first node, last node and cores on each; job k has those from
// offset from[k] to from[k + 1].
const runs = D.Runs.map((r, number) => {
  const n = r.Job ? r.Job.length : 0, from = new Int32Array(n + 1), segs = new Int32Array(r.Segs ? r.Segs.length : 0);
  for (let k = 0, s = 0; k < n; k++) {
    for (let i = 0, next = 0; i < r.Parts[k]; i++, s += 3) {
      segs[s] = next + r.Segs[s];
      next = segs[s] + r.Segs[s + 1];
      segs[s + 1] = next - 1;
      segs[s + 2] = r.Segs[s + 2];
    }
    from[k + 1] = s;
  }
  const place = new Int32Array(D.Jobs.ID.length).fill(-1);
  for (let k = 0; k < n; k++) place[r.Job[k]] = k;
  return { number, policy: r.Policy, n, from, segs, place, job: r.Job || [], start: r.Start || [], end: r.End || [], gpus: r.GPUs || [], cls: r.Class,
    lanes: new Map(), kept: 0, data: r };
});

const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 17280000, 31536000];
const timeStep = (span, most) => steps.find(s => span / s <= most) || Math.ceil(span / most / 31536000) * 31536000;

// A time as days, hours, minutes and seconds, as exact as step asks for.
function duration(t, step = 1) {
  const two = v => String(v).padStart(2, "0");
  t = Math.round(t);
  const d = Math.floor(t / 86400), h = Math.floor(t / 3600) % 24, m = Math.floor(t / 60) % 60, s = t % 60;
  if (t === 0) return "0";
  if (step >= 86400) return d + " d";
  if (step >= 60 && t < 3600) return m + " min";
  const clock = step >= 3600 && d === 0 ? h + " h" : step >= 60 ? h + ":" + two(m) : h + ":" + two(m) + ":" + two(s);
  return d > 0 ? d + " d " + clock : clock;
}

// Steps of 1, 2 or 5 times a power of ten.
function niceStep(span, most) {
  const raw = span / most, p = Math.pow(10, Math.floor(Math.log10(raw)));
  return [1, 2, 5, 10].map(k => k * p).find(s => s >= raw * 0.999);
}

// Node ranges of job k, shortened.
function nodesOf(run, k) {
  const out = [];
  let count = 0, last = -2;
  for (let s = run.from[k]; s < run.from[k + 1]; s += 3) {
    count += run.segs[s + 1] - run.segs[s] + 1;
    if (run.segs[s] === last + 1) out[out.length - 1][1] = run.segs[s + 1];
    else out.push([run.segs[s], run.segs[s + 1]]);
    last = run.segs[s + 1];
  }
  const words = out.slice(0, 8).map(([a, b]) => a === b ? String(a) : a + "-" + b).join(",");
  return { count, blocks: out.length, words: out.length > 8 ? words + ", …" : words };
}

function describe(run, k) {
  const j = run.job[k], where = nodesOf(run, k);
  let cores = 0;
  for (let s = run.from[k]; s < run.from[k + 1]; s += 3) cores += (run.segs[s + 1] - run.segs[s] + 1) * run.segs[s + 2];
  const each = run.gpus[k] ? ", " + run.gpus[k] + " GPU" + (run.gpus[k] > 1 ? "s" : "") + " on each" : "";
  return "Job " + D.Jobs.ID[j] + " under " + run.policy + ({ "-": "", S: ", placed as Slurm does" }[run.cls[k]] ?? ", bid of class " + run.cls[k]) +
    "\n" + cores + " cores on " + where.count + " node" + (where.count > 1 ? "s" : "") + each +
    "\nnodes " + where.words + (where.blocks > 1 ? " (" + where.blocks + " blocks)" : "") +
    "\nsubmitted " + duration(D.Jobs.Submit[j]) + ", waited " + duration(run.start[k] - D.Jobs.Submit[j]) +
    "\nstart " + duration(run.start[k]) + ", end " + duration(run.end[k]) +
    "\nran " + duration(run.end[k] - run.start[k]) + " of at most " + duration(D.Jobs.Limit[j]);
}

const tip = document.getElementById("tip");
function showTip(text, event) {
  tip.hidden = text === "";
  if (tip.hidden) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect(), x = event.clientX, y = event.clientY;
  tip.style.left = clamp(x + 14 + box.width > innerWidth ? x - box.width - 14 : x + 14, 4, Math.max(4, innerWidth - box.width - 4)) + "px";
  tip.style.top = clamp(y + 14 + box.height > innerHeight ? y - box.height - 14 : y + 14, 4, Math.max(4, innerHeight - box.height - 4)) + "px";
}
