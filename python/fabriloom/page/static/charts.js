// The charts: the bundle of the report, redrawn when new numbers arrive.
/* global echarts, cursors */
import { figures } from "./state.js";

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const colour = (side) => style("--c" + side);

const decade = (value) => {
  const power = Math.round(Math.log10(value));
  if (power >= -2 && power <= 4) return String(Number(value.toPrecision(2)));
  return "10" + String(power).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
};

const axis = (name, log, vertical, most) => ({
  type: log ? "log" : "value", splitNumber: vertical || most ? 5 : 4, ...(vertical ? {} : { axisPointer: cursors.pointer(style, figures) }), name, nameLocation: "middle", nameGap: vertical ? 46 : 26, scale: log,
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
    // Charts with the same x axis; their cursors move together.
    this.linked = [];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.again());
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
    const { x, logX, logY } = this.axes;
    const lines = () => this.lines.map((line) => ({ name: this.lines.length > 1 ? line.name : "", points: line.points, step: line.step, logX, logY }));
    const beside = () => this.linked.filter((other) => other.chart && other.place.clientWidth).map((other) => other.cursor);
    this.cursor = cursors.watch(chart, this.place, { x, figures, lines, beside });
    chart.on("click", ({ data }) => { const point = data?.value?.[4]; if (this.picked && point) this.picked(point.load); });
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
        formatter: (hit) => (({ value }) => `${x}: ${figures(value[0])}<br>${y}: ${figures(value[1])}`)(hit),
      },
      xAxis: axis(x, logX, false, most), yAxis: axis(y, logY, true), series: this.lines.flatMap((line) => [this.series(line), ...this.spread(line)]),
    };
  }

  series(line) {
    const { logX, logY } = this.axes, paint = colour(line.side);
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

  // The 95 % intervals of a line, as bars.
  spread(line) {
    const data = line.points.filter(([, y, low]) => y !== null && low !== null && low !== undefined), paint = colour(line.side);
    if (!data.length) return [];
    const stroke = { stroke: paint, lineWidth: 1.2 };
    return [{
      type: "custom", name: line.name, silent: true, data, tooltip: { show: false }, encode: { x: 0, y: [2, 3] },
      renderItem: (_, api) => {
        const [x, low] = api.coord([api.value(0), api.value(2)]), high = api.coord([api.value(0), api.value(3)])[1];
        const bar = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: stroke });
        return { type: "group", children: [bar(x, low, x, high), bar(x - 3, low, x + 3, low), bar(x - 3, high, x + 3, high)] };
      },
    }];
  }
}
