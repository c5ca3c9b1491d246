// What is measured: the numbers of a run and its charts over time, and the curve.
/* global plots */
import { Chart } from "./charts.js";
import { card, cards, viewed } from "./playing.js";
import { runAt } from "./running.js";
import { $, element, measured, named, ofNow, state } from "./state.js";

const { figures } = plots;

export const charts = {
  accepted: new Chart("chart-accepted", "simulated time (ms)", "accepted (MB/s)"),
  latency: new Chart("chart-latency", "simulated time (ms)", "mean latency (µs)"),
  tail: new Chart("chart-tail", "latency (µs)", "share that takes longer", { logX: true, logY: true }),
  load: new Chart("chart-load", "offered load (%)", "accepted (MB/s)", { most: 100 }),
  curve: new Chart("chart-curve", "accepted (MB/s)", "mean latency (µs)", { logY: "auto" }),
};
[charts.accepted.linked, charts.latency.linked] = [[charts.latency], [charts.accepted]];

// Shows the load of the curve to which the colours of the links belong.
export const ofLoad = (load) => { $("ramp-of").textContent = load === null ? "" : `, at a load of ${figures(100 * load)} %`; };

export const forget = () => {
  ofLoad(null);
  news.clear();
  state.live = [];
  Object.assign(state, { points: [[], []], verdicts: [] });
  for (const section of ["live", "study", "report"]) $(section).hidden = true;
  cards.forEach((one) => one.clear());
};

// Marks values that were measured with other settings, until they are measured again.
export const stale = () => {
  const old = measured() && !ofNow();
  document.body.classList.toggle("stale", old);
  $("old").hidden = !old;
};

// ---- a run ----

const lineOf = (name) => (live, side) => ({
  name: named(side), side, until: live.warming ? 0 : live.measured_from_ms,
  points: live.series.t_ms.map((time, at) => [time, live.series[name][at]]),
});

// The curve begins with all packets, and ends where less than one is left.
const tailOf = (live) => (live.tail.length
  ? [[live.tail[0][0] * 0.998, 1], ...live.tail.map(([latency, share]) => [latency, share || 0.5 / live.packets])]
  : []);

// Draws at most once a frame, however fast messages arrive; a hidden tab draws nothing until the end.
export const news = new Set();
export const drawNews = () => {
  if (!news.size) return;
  for (const side of news) {
    card(side).show(state.live[side]);
    if (viewed() === "use") card(side).fabric.mark(state.live[side].cycle);
  }
  news.clear();
  showLive();
};

const showLive = () => {
  stale();
  $("live").hidden = false;
  const live = state.live.filter(Boolean);
  charts.accepted.show(live.map(lineOf("accepted")));
  charts.latency.show(live.map(lineOf("latency")));
  charts.tail.show(live.map((one, side) => ({ name: named(side), side, step: true, points: tailOf(one) })));
  $("share").value = Math.min(...live.map((one) => one.share));
  if (viewed() === "use") cards.forEach((one) => one.fabric.paint(one.fabric.busy));
};

// ---- a curve ----

// The points of a line, with a gap where a load is missing: it is not finished, or was cancelled.
const withGaps = (points, of) => points.flatMap((one, at) => {
  const before = points[at - 1], gap = before && one.number > before.number + 1;
  return gap ? [[(of(before)[0] + of(one)[0]) / 2, null, null, null], of(one)] : [of(one)];
});

export const showPoints = () => {
  stale();
  $("study").hidden = false;
  const lines = (of) => state.points.map((points, side) => ({ name: named(side), side, marks: true, points: withGaps(points, of) })).filter((line) => line.points.length);
  const ranged = (value, half) => (half === null ? [null, null] : [value - half, value + half]);
  charts.load.show(lines((one) => [100 * one.load, one.accepted, ...ranged(one.accepted, one.accepted_ci95), one]));
  const waits = lines((one) => [one.accepted, one.total_us, null, null, one]).filter((line) => line.points.some(([, total, , , one]) => one && total > 1.01 * one.latency_us));
  charts.curve.show([
    ...lines((one) => [one.accepted, one.latency_us, ...ranged(one.latency_us, one.latency_ci95_us), one]),
    ...waits.map((line) => ({ ...line, name: state.points[1].length ? `${line.name}, with the wait` : "including the wait at the source", dashed: true })),
  ]);
  $("leaves").hidden = charts.curve.top === null;
  const cell = (text, number) => element("td", { textContent: text, className: number ? "n" : "" });
  const load = (one) => element("td", { className: "n" }, element("button", { type: "button", className: "plain", textContent: `${figures(100 * one.load)} %`, title: "Run this point", onclick: () => runAt(one.load) }));
  const rows = state.points.flatMap((points, side) => points.map((one) => element("tr", {}, cell(named(side)), load(one),
    cell(figures(one.accepted), true), cell(figures(one.latency_us), true), cell(figures(one.total_us), true), cell(figures(one.p99_us), true), cell(one.end.replace("_", " ")))));
  $("points").tBodies[0].replaceChildren(...rows);
  $("points").classList.toggle("alone", lines((one) => [one.load, one.load]).length < 2);
  $("study-text").textContent = state.verdicts.filter(Boolean).join(" ");
};
