// A curve of latency against throughput: its charts and its table.
/* global plots */
import { Chart } from "./charts.js";
import { $, element, named, state } from "./state.js";

const { figures } = plots;

export const curves = {
  load: new Chart("chart-load", "offered load (%)", "accepted (MB/s)", { most: 100 }),
  curve: new Chart("chart-curve", "accepted (MB/s)", "mean latency (µs)", { logY: "auto" }),
};

// The points of a line, with a gap where a load is missing: it is not finished, or was cancelled.
const withGaps = (points, of) => points.flatMap((one, at) => {
  const before = points[at - 1], gap = before && one.number > before.number + 1;
  return gap ? [[(of(before)[0] + of(one)[0]) / 2, null, null, null], of(one)] : [of(one)];
});

// `runAt` runs a load of the table.
export const showCurve = (runAt) => {
  $("study").hidden = false;
  const lines = (of) => state.points.map((points, side) => ({ name: named(side), side, marks: true, points: withGaps(points, of) })).filter((line) => line.points.length);
  const ranged = (value, half) => (half === null ? [null, null] : [value - half, value + half]);
  curves.load.show(lines((one) => [100 * one.load, one.accepted, ...ranged(one.accepted, one.accepted_ci95), one]));
  const waits = lines((one) => [one.accepted, one.total_us, null, null, one]).filter((line) => line.points.some(([, total, , , one]) => one && total > 1.01 * one.latency_us));
  curves.curve.show([
    ...lines((one) => [one.accepted, one.latency_us, ...ranged(one.latency_us, one.latency_ci95_us), one]),
    ...waits.map((line) => ({ ...line, name: state.points[1].length ? `${line.name}, with the wait` : "including the wait at the source", dashed: true })),
  ]);
  $("leaves").hidden = curves.curve.top === null;
  const cell = (text, number) => element("td", { textContent: text, className: number ? "n" : "" });
  const load = (one) => element("td", { className: "n" }, element("button", { type: "button", className: "plain", textContent: `${figures(100 * one.load)} %`, title: "Run this point", onclick: () => runAt(one.load) }));
  const rows = state.points.flatMap((points, side) => points.map((one) => element("tr", {}, cell(named(side)), load(one),
    cell(figures(one.accepted), true), cell(figures(one.latency_us), true), cell(figures(one.total_us), true), cell(figures(one.p99_us), true), cell(one.end.replace("_", " ")))));
  $("points").tBodies[0].replaceChildren(...rows);
  $("points").classList.toggle("alone", lines((one) => [one.load, one.load]).length < 2);
  $("study-text").textContent = state.verdicts.filter(Boolean).join(" ");
};
