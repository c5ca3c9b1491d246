// What is measured: the numbers of a run and its charts over time, and the curve.
/* global plots */
import { Chart, curves, showCurve } from "./charts.js";
import { card, cards, viewed } from "./playing.js";
import { runAt } from "./running.js";
import { $, measured, named, ofNow, state } from "./state.js";

const { figures } = plots;

export const charts = {
  accepted: new Chart("chart-accepted", "simulated time (ms)", "accepted (MB/s)"),
  latency: new Chart("chart-latency", "simulated time (ms)", "mean latency (µs)"),
  tail: new Chart("chart-tail", "latency (µs)", "share that takes longer", { logX: true, logY: true }),
  ...curves,
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

export const showPoints = () => {
  stale();
  showCurve(runAt);
};
