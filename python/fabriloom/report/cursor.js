"use strict";
// Cursors of charts: a position on the x axis, the values of the curves there, and the same position in linked charts.
const cursors = (() => {
  const SHOWN = 8;
  const pointer = (style, figures) => ({
    show: true, snap: false, triggerTooltip: false, lineStyle: { color: style("--accent"), type: "dashed" },
    label: { formatter: ({ value }) => figures(value), color: style("--paper"), backgroundColor: style("--accent") },
  });

  // The value of a curve at a position between its points; none where the curve turns back or has a gap.
  const between = (line, at) => {
    const next = line.points.findIndex(([x]) => x >= at);
    if (next < 0 || line.points.some(([x], n) => n && x < line.points[n - 1][0])) return null;
    const [x2, y2] = line.points[next], [x1, y1] = line.points[Math.max(0, next - 1)];
    if (x2 === at || x1 === x2) return x2 === at ? y2 : null;
    if (y1 === null || y2 === null || line.step) return y1;
    const along = line.logX ? Math.log(at / x1) / Math.log(x2 / x1) : (at - x1) / (x2 - x1);
    return line.logY ? y1 * (y2 / y1) ** along : y1 + along * (y2 - y1);
  };

  // Makes a chart react to pointer and arrow keys. `lines()` returns its curves: {name, points, step, logX, logY};
  // `beside()` the cursors that follow. Returns the cursor.
  const watch = (chart, place, { x, figures, lines, beside }) => {
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

  return { pointer, watch };
})();
