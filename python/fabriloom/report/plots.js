"use strict";
/* global reaching */
// What the charts of reports and of the laboratory share: numbers, axes, intervals, and cursors: a position on the x
// axis, the values of the curves there, and the same position in linked charts.
const plots = (() => {
  const SHOWN = 8;
  // A linear axis ends at this multiple of the highest solid point, a logarithmic one at the second: the wait before the
  // network may be thousands of times as long as the way through it. `report/page.py` has the same rule.
  const MOST_ON_A_LINE = 30, ROOM = 2, ROOM_LOG = 10, ROUND = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  const style = (name) => reaching.ink(name);

  // Formats a number with at most four figures, without an exponent between a thousandth and ten million.
  const figures = (value, digits = 4) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2).replace("e+", "e");
    return String(Number(value.toPrecision(digits)));
  };
  const decade = (value) => {
    const power = Math.round(Math.log10(value));
    if (power >= -2 && power <= 4) return String(Number(value.toPrecision(2)));
    return "10" + String(power).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  };

  // Whether a vertical axis is logarithmic.
  const spans = (solid) => {
    const heights = solid.flatMap(({ points }) => points.map(([, y]) => y)).filter((y) => y > 0);
    return Math.max(...heights) > MOST_ON_A_LINE * Math.min(...heights);
  };

  // Where a vertical axis ends if dashed lines leave far above the solid ones; null: where its points end.
  const top = (solid, dashed, log) => {
    const most = (lines) => Math.max(0, ...lines.flatMap(({ points }) => points.map(([, y]) => y ?? 0)));
    const end = (log ? ROOM_LOG : ROOM) * most(solid);
    if (!end || most(dashed) <= end) return null;
    const power = 10 ** Math.floor(Math.log10(end));
    return ROUND.find((step) => step * power >= end * 0.999999) * power;
  };

  // A vertical logarithmic axis begins at a power of ten, a horizontal one just below the data.
  const lowest = (log, vertical, range) => {
    if (!log) return Math.min(0, range.min);
    return vertical ? 10 ** Math.floor(Math.log10(range.min)) : Number((range.min * 0.95).toPrecision(2));
  };

  // An axis; `top`: where it ends; `size`: of its name in pixels; `gap`: between it and its name.
  const axis = ({ label, log, top: end, size = 13, gap }, vertical) => ({
    type: log ? "log" : "value", name: label, nameLocation: "middle", nameGap: gap ?? (vertical ? 52 : 32), scale: log,
    nameTextStyle: { color: style("--soft"), fontSize: size },
    axisLabel: { color: style("--soft"), fontSize: size - 1, formatter: log ? decade : (value) => figures(value), hideOverlap: true },
    axisLine: { show: true, lineStyle: { color: style("--rule") } },
    axisTick: { show: !vertical, lineStyle: { color: style("--rule") } },
    splitLine: { lineStyle: { color: style("--grid") } },
    ...(vertical ? {} : { axisPointer: pointer() }),
    min: (range) => lowest(log, vertical, range),
    max: end ?? (log && !vertical ? (range) => Number((range.max * 1.1).toPrecision(2)) : null),
  });

  // The 95 % intervals of a curve: points with x, y, low and high.
  const intervals = (name, colour, points) => ({
    type: "custom", name, silent: true, clip: true, z: 1, data: points, tooltip: { show: false }, encode: { x: 0, y: [2, 3] },
    renderItem: (_, api) => {
      const [x, low] = api.coord([api.value(0), api.value(2)]), high = api.coord([api.value(0), api.value(3)])[1];
      const bar = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.3, opacity: 0.85 } });
      return { type: "group", children: [bar(x, low, x, high), bar(x - 4, low, x + 4, low), bar(x - 4, high, x + 4, high)] };
    },
  });

  const pointer = () => ({
    show: true, snap: false, triggerTooltip: false, lineStyle: { color: style("--accent"), type: "dashed" },
    label: { formatter: ({ value }) => figures(value), color: style("--paper"), backgroundColor: style("--accent") },
  });

  // The value of a curve at a position between its points; none where the curve turns back or has a gap.
  const between = (line, at) => {
    const next = line.points.findIndex(([x]) => x >= at);
    if (next < 0 || line.points.some(([x], n) => n && x < line.points[n - 1][0])) return null;
    const [x2, y2] = line.points[next], [x1, y1] = line.points[Math.max(0, next - 1)];
    if (x2 === at || x1 === x2) return x2 === at ? y2 : null;
    if (line.step) return y1;
    if (y1 === null || y2 === null) return null;
    const along = line.logX ? Math.log(at / x1) / Math.log(x2 / x1) : (at - x1) / (x2 - x1);
    return line.logY ? y1 * (y2 / y1) ** along : y1 + along * (y2 - y1);
  };

  // Makes a chart react to pointer and arrow keys. `lines()` returns its curves: {name, points, step, logX, logY};
  // `beside()` the cursors that follow. Returns the cursor.
  const watch = (chart, place, { x, lines, beside }) => {
    const said = document.createElement("output");
    said.className = "cursor";
    said.ariaLive = "off";
    place.after(said);
    let now = null;
    const pixel = (at) => [chart.convertToPixel({ xAxisIndex: 0 }, at), place.clientHeight / 2];
    const show = (at) => {
      now = at;
      const found = at === null ? [] : lines().map((line) => [line.name, between(line, at)]).filter(([, y]) => y !== null);
      const more = found.length > SHOWN ? [`and ${found.length - SHOWN} more`] : [];
      const told = found.slice(0, SHOWN).map(([name, y]) => (name ? `${name} ${figures(y)}` : figures(y)));
      said.textContent = found.length ? `${x} ${figures(at)}: ${[...told, ...more].join(", ")}` : "";
    };
    const point = (at) => {
      const on = at !== null && place.clientWidth && chart.containPixel("grid", pixel(at));
      const [px, py] = on ? pixel(at) : [];
      chart.dispatchAction(on ? { type: "updateAxisPointer", x: px, y: py } : { type: "updateAxisPointer", currTrigger: "leave" });
      show(on ? at : null);
    };
    const all = (at) => { show(at); beside().forEach((other) => other.point(at)); };
    chart.getZr().on("mousemove", ({ offsetX, offsetY }) => {
      const on = chart.containPixel("grid", [offsetX, offsetY]);
      said.ariaLive = "off";
      all(on ? chart.convertFromPixel("grid", [offsetX, offsetY])[0] : null);
    });
    chart.getZr().on("globalout", () => all(null));
    place.tabIndex = 0;
    place.addEventListener("keydown", (event) => {
      const { key, ctrlKey, altKey, metaKey } = event;
      if (ctrlKey || altKey || metaKey || !["ArrowLeft", "ArrowRight", "Escape"].includes(key)) return;
      event.stopPropagation();
      event.preventDefault();
      const stops = [...new Set(lines().flatMap((line) => line.points.map(([at]) => at)))].sort((a, b) => a - b);
      const after = key === "ArrowRight" ? stops.find((at) => now === null || at > now) : stops.findLast((at) => now === null || at < now);
      const at = key === "Escape" ? null : after ?? now;
      said.ariaLive = "polite";
      point(at);
      all(at);
    });
    return { point };
  };

  return { figures, spans, top, axis, intervals, watch };
})();
