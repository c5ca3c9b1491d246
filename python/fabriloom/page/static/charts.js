// The charts: the bundle of the report, redrawn when new numbers arrive; and a curve of latency against throughput, with
// its table.
/* global echarts, plots, reaching */
import { $, element, named, state } from "./state.js";

const { ink: style } = reaching, { figures } = plots;
export const colour = (side) => style("--c" + side);

export class Chart {
  constructor(id, x, y, { logX = false, logY = false, most } = {}) {
    this.place = document.getElementById(id);
    this.axes = { x, y, logX, most };
    // "auto": if the points need it.
    this.logged = logY;
    this.lines = [];
    // Charts with the same x axis; their cursors move together.
    this.linked = [];
    reaching.turned.push(() => this.again());
    // A hidden chart has no width and would be drawn with a wrong one.
    new ResizeObserver(() => { if (this.place.clientWidth) this.chart?.resize(); }).observe(this.place);
  }

  // Lines: {name, side, points, step, marks, until}; `until` is where the warm-up ends.
  show(lines) {
    this.lines = lines;
    if (!this.place.clientWidth) return;
    this.chart ??= this.begin();
    this.chart.setOption(this.option(), true);
  }

  begin() {
    const chart = echarts.init(this.place, null, { renderer: "svg" });
    chart.getZr().on("click", ({ offsetX, offsetY }) => {
      const place = [offsetX, offsetY];
      if (this.clicked && chart.containPixel("grid", place)) this.clicked(Math.max(0, chart.convertFromPixel("grid", place)[0]));
    });
    const { x, logX } = this.axes;
    const lines = () => this.lines.map((line) => ({ name: this.lines.length > 1 ? line.name : "", points: line.points, step: line.step, logX, logY: this.logY }));
    const beside = () => this.linked.filter((other) => other.chart && other.place.clientWidth).map((other) => other.cursor);
    this.cursor = plots.watch(chart, this.place, { x, lines, beside });
    chart.on("click", ({ data }) => { const point = data?.value?.[4]; if (this.picked && point) this.picked(point.load); });
    return chart;
  }

  again() { if (this.chart) this.show(this.lines); }

  option() {
    const { x, y, logX, most } = this.axes, { logY } = this;
    return {
      animation: false, aria: { enabled: true }, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      grid: { left: 62, right: 16, top: this.lines.length > 1 ? 50 : 14, bottom: 46 },
      legend: { show: this.lines.length > 1, top: 4, left: 56, itemHeight: 8, itemWidth: 16, textStyle: { color: style("--ink"), fontSize: 12, width: this.place.clientWidth - 110, overflow: "truncate" } },
      tooltip: {
        trigger: "item", confine: true, backgroundColor: style("--card"), borderColor: style("--rule"),
        textStyle: { color: style("--ink"), fontSize: 12 },
        formatter: (hit) => (({ value }) => `${x}: ${figures(value[0])}<br>${y}: ${figures(value[1])}`)(hit),
      },
      xAxis: plots.axis({ label: x, log: logX, top: most, size: 12, gap: 26 }, false), yAxis: plots.axis({ label: y, log: logY, top: this.top, size: 12, gap: 46 }, true),
      series: this.lines.flatMap((line) => [this.series(line), ...this.spread(line)]),
    };
  }

  series(line) {
    const { logX } = this.axes, { logY } = this, paint = colour(line.side);
    const points = line.points.map((value) => this.item(value, paint, logX, logY));
    const end = line.until ? { silent: true, symbol: "none", animation: false, label: { show: false }, data: [{ xAxis: line.until }], lineStyle: { color: paint, type: "dashed", opacity: 0.7 } } : undefined;
    return {
      name: line.name, type: "line", data: points, color: paint, markLine: end, step: line.step ? "end" : false,
      showSymbol: Boolean(line.marks), symbol: line.side ? "triangle" : "circle", symbolSize: 7, lineStyle: { width: 1.9, type: line.dashed ? [3, 4] : line.side ? [9, 3] : "solid" },
    };
  }

  // A point: a gap if it was not measured, hollow past saturation.
  item(value, paint, logX, logY) {
    const [x, y, , , point] = value, there = x !== null && y !== null && (!logX || x > 0) && (!logY || y > 0);
    const hollow = point && !point.sustained && !point.waits;
    return { value: there ? value : [x, null], ...(hollow ? { itemStyle: { color: style("--card"), borderColor: paint, borderWidth: 1.8 } } : {}) };
  }

  get solid() { return this.lines.filter((line) => !line.dashed); }
  get logY() { return this.logged === "auto" ? plots.spans(this.solid) : this.logged; }
  get top() { return plots.top(this.solid, this.lines.filter((line) => line.dashed), this.logY); }

  // The 95 % intervals of a line, as bars.
  spread(line) {
    const points = line.points.filter(([, y, low]) => y !== null && low !== null && low !== undefined);
    return points.length ? [plots.intervals(line.name, colour(line.side), points)] : [];
  }
}

// ---- the curve ----

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
