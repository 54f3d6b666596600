// The page: what is drawn where, and what the pointer and the keys do.
const state = { moment: Math.floor(D.Horizon / 2), job: -1, zoom: null };
const byId = id => document.getElementById(id);

function pane(parent, run) {
  const f = parent.appendChild(document.createElement("figure")), head = f.appendChild(document.createElement("figcaption"));
  const key = head.appendChild(document.createElement("i"));
  key.className = "key p" + run.number % 6;
  head.append(run.policy);
  const p = f.appendChild(document.createElement("div"));
  p.className = "pane";
  return p;
}
const gantts = runs.map(r => new Gantt(r, pane(byId("gantts"), r)));
const moments = runs.map(r => new Moment(r, pane(byId("moments"), r)));
const percent = (v, exact) => (100 * v).toFixed(exact ? 1 : 0) + "%";
const most = lists => lists.reduce((m, l) => l.reduce((a, b) => Math.max(a, b), m), 0);
const curves = [new Curve(byId("curves"), "Cores in use", D.Runs.map(r => r.CPU), percent, 1)];
if (machine.mostGPUs) curves.push(new Curve(byId("curves"), "GPUs in use", D.Runs.map(r => r.GPU), percent, 1));
curves.push(new Curve(byId("curves"), "Jobs in the queue", D.Runs.map(r => r.Queue), (v, exact) => exact ? v.toFixed(1) : String(+v.toFixed(1)), Math.max(most(D.Runs.map(r => r.Queue)), 1)));
for (const [caption, key] of [["Cores in use by jobs that count", "Counted"], ["Cores asked for in the queue", "Asked"], ["Cores that wait for a file", "Loading"]])
  if (D.Runs[0][key]) curves.push(new Curve(byId("curves"), caption, D.Runs.map(r => r[key]), percent, Math.max(most(D.Runs.map(r => r[key])), 0.01)));

const used = D.Sizes.map((s, c) => c).filter(c => D.Runs.some(r => r.Waits[c].N > 0));
const longest = Math.max(most(D.Runs.map(r => r.Waits.map(b => Math.max(b.P95, b.Mean)))), 1), unit = longest > 2 * 86400 ? 86400 : longest > 7200 ? 3600 : 60;
const unitName = { 86400: "days", 3600: "hours", 60: "minutes" }[unit];
const bars = [new Bars(byId("boxes"), "Wait in " + unitName + ", by cores asked for", used.map(c => D.Sizes[c]),
  (g, i, c, x, w, y) => boxPlot(g, D.Runs[i].Waits[used[c]], x, w, v => y(v / unit)), longest / unit, v => String(+v.toPrecision(3)),
  (i, c) => {
    const b = D.Runs[i].Waits[used[c]];
    return b.N + " jobs\nmean " + duration(b.Mean) + ", median " + duration(b.P50) + "\nhalf within " + duration(b.P25) + " to " + duration(b.P75) + "\n95% within " + duration(b.P95);
  })];
for (const [caption, labels, key] of [["Fragmentation: blocks of consecutive nodes", D.Blocks, "Blocks"], ["Spread: first node to last, over the job's nodes", D.Spreads, "Spreads"]]) {
  const kept = labels.map((l, c) => c).filter(c => D.Runs.some(r => r[key][c] > 0));
  bars.push(new Bars(byId("boxes"), caption, kept.map(c => labels[c]),
    (g, i, c, x, w, y) => add(g, "rect", { x, width: w, y: y(D.Runs[i][key][kept[c]]), height: y(0) - y(D.Runs[i][key][kept[c]]) }),
    Math.max(most(D.Runs.map(r => r[key])), 0.01), percent, (i, c) => percent(D.Runs[i][key][kept[c]], true) + " of the jobs"));
}
const shareRange = (D.Share || []).flat().filter(v => v > 0);
if (shareRange.length > 0) runs.slice(1).forEach(r => bars.push(new Shares(byId("shares"), r.number)));
const note = byId("boxes").firstChild.appendChild(document.createElement("p"));
note.className = "note";
note.textContent = "Box: the middle half of the jobs; bar in it: median; dot: mean; whisker: 95% wait no longer.";
byId("step").textContent = D.Step < 60 ? D.Step + " s" : D.Step < 3600 ? D.Step / 60 + " min" : D.Step / 3600 + " h";

function drawTime() {
  gantts.forEach(g => g.draw());
  moments.forEach(m => m.draw());
  curves.forEach(c => c.draw());
  byId("when").textContent = duration(state.moment) + " after the first submission";
}
function drawAll() {
  drawTime();
  bars.forEach(b => b.draw());
  const scale = byId("scale");
  scale.replaceChildren();
  if (colouring === "job") return;
  const [low, high] = colouring === "wait" ? ["0", duration(mostWait)] : ["0", String(mostGPUs)];
  scale.append(low);
  for (let i = 0; i < 9; i++) scale.appendChild(document.createElement("i")).style.background = "rgb(" + shade(i / 8) + ")";
  scale.append(high);
}
function drawMoment() {
  gantts.forEach(g => g.mark());
  moments.forEach(m => m.draw());
}
const queued = new Set(); // each drawing at most once a frame, however many events
function redraw(draw) {
  if (queued.size === 0) requestAnimationFrame(() => {
    const all = [...queued];
    queued.clear();
    all.forEach(f => f());
  });
  queued.add(draw);
}
function look(t0, t1, n0, n1) {
  const span = clamp(t1 - t0, Math.min(10, D.Horizon), Math.max(D.Horizon, 1)), nodes = clamp(Math.round(n1 - n0), 1, machine.n);
  view.t0 = clamp(t0, 0, Math.max(D.Horizon, 1) - span);
  view.t1 = view.t0 + span;
  view.n0 = clamp(Math.round(n0), 0, machine.n - nodes);
  view.n1 = view.n0 + nodes;
  redraw(drawTime);
}
function setMoment(t) {
  state.moment = clamp(Math.round(t), 0, Math.max(D.Horizon - 1, 0));
  byId("moment").value = state.moment;
  byId("when").textContent = duration(state.moment) + " after the first submission";
  redraw(drawMoment);
}
function highlight(job) {
  if (job === state.job) return;
  state.job = job;
  gantts.forEach(g => g.mark());
}
// whole is all that there is to see; with a window, what is near it: jobs may run for weeks after it.
const whole = D.Window ? [Math.max(0, 2 * D.Window[0] - D.Window[1]), Math.min(D.Horizon, 2 * D.Window[1] - D.Window[0])] : [0, D.Horizon];
const actions = {
  in: (t, n) => look(view.t0 + t / 4, view.t1 - t / 4, view.n0 + n / 4, view.n1 - n / 4),
  out: (t, n) => look(view.t0 - t / 2, view.t1 + t / 2, view.n0 - n / 2, view.n1 + n / 2),
  left: t => look(view.t0 - t / 4, view.t1 - t / 4, view.n0, view.n1),
  right: t => look(view.t0 + t / 4, view.t1 + t / 4, view.n0, view.n1),
  up: (t, n) => look(view.t0, view.t1, view.n0 - Math.ceil(n / 4), view.n1 - Math.ceil(n / 4)),
  down: (t, n) => look(view.t0, view.t1, view.n0 + Math.ceil(n / 4), view.n1 + Math.ceil(n / 4)),
  all: () => look(...whole, 0, machine.n),
};
const act = name => actions[name](view.t1 - view.t0, view.n1 - view.n0);
const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Escape: "all" };
const place = (e, canvas) => {
  const b = canvas.getBoundingClientRect();
  return [e.clientX - b.left, e.clientY - b.top];
};
function point(e, canvas, pane) {
  const k = pane.at(...place(e, canvas));
  highlight(k < 0 ? -1 : pane.run.job[k]);
  showTip(k < 0 ? "" : describe(pane.run, k), e);
}
for (const g of gantts) {
  g.over.addEventListener("pointerdown", e => {
    const [x, y] = place(e, g.over);
    state.zoom = { gantt: g, x0: x, y0: y, x1: x, y1: y };
    if (e.pointerType === "mouse") g.over.setPointerCapture(e.pointerId);
    point(e, g.over, g);
  });
  g.over.addEventListener("pointermove", e => {
    const z = state.zoom;
    if (!z || z.gantt !== g || e.pointerType !== "mouse") return point(e, g.over, g);
    [z.x1, z.y1] = place(e, g.over);
    showTip("", e);
    g.mark();
  });
  g.over.addEventListener("pointerup", () => {
    const z = state.zoom;
    state.zoom = null;
    if (!z) return;
    const wide = Math.abs(z.x1 - z.x0) > 5, high = Math.abs(z.y1 - z.y0) > 5;
    if (!wide && !high) return setMoment(g.timeAt(z.x0));
    const [ta, tb] = [g.timeAt(z.x0), g.timeAt(z.x1)].sort((a, b) => a - b), [na, nb] = [g.nodeAt(z.y0), g.nodeAt(z.y1)].sort((a, b) => a - b);
    look(wide ? ta : view.t0, wide ? tb : view.t1, high ? Math.floor(na) : view.n0, high ? Math.ceil(nb) : view.n1);
  });
  g.over.addEventListener("pointercancel", () => { state.zoom = null; });
  g.over.addEventListener("pointerleave", e => {
    highlight(-1);
    showTip("", e);
  });
  g.over.addEventListener("dblclick", () => act("all"));
  g.over.addEventListener("keydown", e => {
    if (!keys[e.key]) return;
    e.preventDefault();
    act(keys[e.key]);
  });
}
for (const m of moments) {
  m.canvas.addEventListener("pointermove", e => point(e, m.canvas, m));
  m.canvas.addEventListener("pointerdown", e => point(e, m.canvas, m));
  m.canvas.addEventListener("pointerleave", e => {
    highlight(-1);
    showTip("", e);
  });
}
document.querySelectorAll("[data-do]").forEach(b => b.addEventListener("click", () => act(b.dataset.do)));
byId("colour").addEventListener("change", e => {
  colouring = e.target.value;
  redraw(drawAll);
});
byId("moment").max = Math.max(D.Horizon - 1, 0);
byId("moment").addEventListener("input", e => setMoment(+e.target.value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(drawAll));
addEventListener("hashchange", () => redraw(drawAll)); // parts that were hidden have a size now
let lastWidth = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === lastWidth) return;
  lastWidth = document.body.clientWidth;
  redraw(drawAll);
}).observe(document.body);
if (D.Window) {
  [view.t0, view.t1] = whole;
  state.moment = Math.round((D.Window[0] + D.Window[1]) / 2);
}
byId("moment").value = state.moment;
drawAll();
