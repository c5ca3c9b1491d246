// The charts: the bundle of the report, redrawn as numbers come.
/* global echarts */
import { figures } from "./state.js";

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const colour = (side) => style("--c" + side);

const decade = (value) => {
  const power = Math.round(Math.log10(value));
  if (power >= -2 && power <= 4) return String(Number(value.toPrecision(2)));
  return "10" + String(power).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
};

const axis = (name, log, vertical, most) => ({
  type: log ? "log" : "value", splitNumber: vertical || most ? 5 : 4, name, nameLocation: "middle", nameGap: vertical ? 46 : 26, scale: log,
  nameTextStyle: { color: style("--soft"), fontSize: 12 },
  axisLabel: { color: style("--soft"), fontSize: 11, formatter: log ? decade : (v) => figures(v), hideOverlap: true },
  axisLine: { show: true, lineStyle: { color: style("--rule") } },
  axisTick: { show: !vertical, lineStyle: { color: style("--rule") } },
  splitLine: { lineStyle: { color: style("--grid") } },
  min: log ? (range) => (vertical ? 10 ** Math.floor(Math.log10(range.min)) : Number((range.min * 0.95).toPrecision(2))) : 0,
  max: most ?? (log && !vertical ? (range) => Number((range.max * 1.1).toPrecision(2)) : null),
});

export class Chart {
  constructor(id, x, y, { logX = false, logY = false, most } = {}) {
    this.place = document.getElementById(id);
    this.axes = { x, y, logX, logY, most };
    this.lines = [];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.again());
    // A chart that is hidden has no width, and would be drawn at some other one.
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
    return chart;
  }

  again() { if (this.chart) this.show(this.lines); }

  option() {
    const { x, y, logX, logY, most } = this.axes;
    return {
      animation: false, aria: { enabled: true }, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      grid: { left: 62, right: 16, top: this.lines.length > 1 ? 50 : 14, bottom: 46 },
      legend: { show: this.lines.length > 1, top: 4, left: 56, itemHeight: 8, itemWidth: 16, textStyle: { color: style("--ink"), fontSize: 12, width: this.place.clientWidth - 110, overflow: "truncate" } },
      tooltip: {
        trigger: "item", confine: true, backgroundColor: style("--card"), borderColor: style("--rule"),
        textStyle: { color: style("--ink"), fontSize: 12 },
        formatter: (hit) => `${x}: ${figures(hit.data[0])}<br>${y}: ${figures(hit.data[1])}`,
      },
      xAxis: axis(x, logX, false, most), yAxis: axis(y, logY, true), series: this.lines.map((line) => this.series(line)),
    };
  }

  series(line) {
    const { logX, logY } = this.axes, paint = colour(line.side);
    const points = line.points.filter(([a, b]) => a !== null && (!logX || a > 0) && (!logY || b > 0));
    const end = line.until ? { silent: true, symbol: "none", animation: false, label: { show: false }, data: [{ xAxis: line.until }], lineStyle: { color: paint, type: "dashed", opacity: 0.7 } } : undefined;
    return {
      name: line.name, type: "line", data: points, color: paint, markLine: end, step: line.step ? "end" : false,
      showSymbol: Boolean(line.marks), symbol: line.side ? "triangle" : "circle", symbolSize: 7, lineStyle: { width: 1.9, type: line.side ? [7, 3] : "solid" },
    };
  }
}
