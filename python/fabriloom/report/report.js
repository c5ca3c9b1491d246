"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const { ink: style } = reaching, { figures } = plots;
  const palette = () => [0, 1, 2, 3, 4, 5, 6, 7].map((n) => style("--c" + n));

  const text = (value) => {
    const element = document.createElement("span");
    element.textContent = value;
    return element.innerHTML;
  };

  const publishedBefore = (chart, number) => chart.series.slice(0, number).filter((one) => one.style === "published").length;
  // A dashed line has the colour of the solid one beside it.
  const colourOf = (chart, one, number) => {
    const own = one.of ? chart.series.findIndex((other) => other.name === one.of) : number;
    return chart.series.slice(0, own).filter((other) => !other.of).length % 8;
  };

  // Beside several others, a dashed line is in the legend with the solid one.
  const listed = (chart) => (one) => (chart.series.length > 2 && one.of ? one.of : one.name);
  const entries = (chart) => [...new Set(chart.series.map(listed(chart)))];

  const series = (chart) => chart.series.flatMap((one, number) => {
    const published = one.style === "published", lines = ["line", "dashed", "step"].includes(one.style);
    const colour = published ? style("--ink") : palette()[colourOf(chart, one, number)], hollow = new Set(one.hollow);
    const filled = { itemStyle: { color: style("--card"), borderColor: colour, borderWidth: 1.8 } };
    const all = one.points.map((value, at) => (hollow.has(at) ? { value, ...filled } : { value }));
    // A point that was not measured, or that has no place, is a gap in its line.
    const there = ({ value: [x, y] }) => y !== null && (!chart.x.log || x > 0) && (!chart.y.log || y > 0);
    const usable = all.filter(there), shown = lines ? all.map((point) => (there(point) ? point : { value: [point.value[0], null] })) : usable;
    const name = listed(chart)(one);
    const drawn = { id: String(number), name, data: shown, color: colour, encode: { x: 0, y: 1 }, z: published ? 4 : 3, type: lines ? "line" : "scatter" };
    if (one.style === "step") Object.assign(drawn, { step: "end", showSymbol: false, lineStyle: { width: 1.8 } });
    if (one.style === "line" || one.style === "dashed") Object.assign(drawn, { symbol: "circle", symbolSize: 7, lineStyle: { width: 2, type: one.style === "dashed" ? [6, 4] : "solid" }, showSymbol: usable.length <= 60 });
    if (one.style === "points") Object.assign(drawn, { symbolSize: 7 });
    if (published) Object.assign(drawn, { symbol: publishedBefore(chart, number) % 2 ? "triangle" : "diamond", symbolSize: 13, itemStyle: { color: "transparent", borderColor: colour, borderWidth: 1.8 } });
    const ranged = usable.map(({ value }) => value).filter((p) => p[2] !== null && p[2] !== undefined);
    return ranged.length ? [drawn, plots.intervals(name, colour, ranged)] : [drawn];
  });

  // The number of rows that the names of the curves take at this width; the chart begins below them.
  const rows = (chart, width) => {
    const names = entries(chart), room = width - 86;
    let count = names.length > 1 ? 1 : 0, used = 0;
    for (const name of count ? names : []) {
      const wide = 40 + 7 * name.length;
      if (used > 0 && used + wide > room) { count += 1; used = 0; }
      used += wide;
    }
    return count;
  };

  const option = (chart, width) => ({
    animation: false, aria: { enabled: true },
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    grid: { left: 74, right: 26, top: 26 + 26 * rows(chart, width), bottom: 58 },
    legend: {
      show: chart.series.length > 1, type: "plain", top: 10, left: 66, right: 20, itemHeight: 9, itemWidth: 19, itemGap: 16,
      textStyle: { color: style("--ink") }, inactiveColor: style("--rule"),
      data: entries(chart),
    },
    tooltip: {
      trigger: "item", confine: true, backgroundColor: style("--card"), borderColor: style("--rule"),
      textStyle: { color: style("--ink"), fontSize: 13 },
      formatter: (hit) => {
        const [x, y, low, high, label] = hit.data.value ?? hit.data;
        const spread = low === null || low === undefined ? "" : " (" + figures(low) + " to " + figures(high) + ")";
        const lines = [chart.series[Number(hit.seriesId)]?.name ?? hit.seriesName, label, chart.x.label + ": " + figures(x), chart.y.label + ": " + figures(y) + spread];
        return lines.filter(Boolean).map(text).join("<br>");
      },
    },
    dataZoom: [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: false, moveOnMouseWheel: false }],
    xAxis: plots.axis(chart.x, false), yAxis: plots.axis(chart.y, true), series: series(chart),
  });

  // A legend of more than two rows makes the chart taller.
  const fit = (chart, place) => {
    place.style.height = "";
    place.style.height = place.offsetHeight + 26 * Math.max(0, rows(chart, place.clientWidth) - 2) + "px";
  };

  const drawn = charts.map((chart, number) => {
    const place = document.getElementById("chart-" + number);
    fit(chart, place);
    const instance = echarts.init(place, null, { renderer: "svg" });
    instance.setOption(option(chart, place.clientWidth));
    return { chart, instance, place };
  });
  // Charts with the same x axis have their cursors at the same position.
  const alike = (a, b) => a.x.label === b.x.label && a.x.log === b.x.log;
  drawn.forEach((one) => {
    const lines = () => one.chart.series.filter(({ style }) => ["line", "dashed", "step"].includes(style)).map(({ name, points, style }) => ({
      name: one.chart.series.length > 1 ? name : "", points, step: style === "step", logX: one.chart.x.log, logY: one.chart.y.log,
    }));
    const beside = () => drawn.filter((other) => other !== one && alike(one.chart, other.chart)).map((other) => other.cursor);
    one.cursor = plots.watch(one.instance, one.place, { x: one.chart.x.label, lines, beside });
  });
  const again = () => drawn.forEach(({ chart, instance, place }) => { fit(chart, place); instance.resize(); instance.setOption(option(chart, place.clientWidth), true); });
  addEventListener("resize", again);
  reaching.turned.push(again);
  document.documentElement.dataset.charts = String(drawn.length);

  // A click on a column head sorts by this column; a second click reverses the order.
  const value = (row, column) => {
    const cell = row.cells[column], kept = cell.dataset.sort ?? cell.textContent.trim(), read = Number(kept);
    return kept === "" || Number.isNaN(read) ? kept : read;
  };
  document.querySelectorAll("th").forEach((head) => head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], way = head.ariaSort === "descending" ? 1 : -1;
    head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a, head.cellIndex), y = value(b, head.cellIndex);
      return way * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
    });
    body.append(...rows);
  }));

  // Tables have full sort values where a cell has them.
  document.querySelectorAll(".wide table").forEach((table) => {
    const rows = () => [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.sort ?? cell.innerText.trim()));
    saving.offer(table.closest(".wide"), "table", { CSV: () => saving.csv(rows()) });
  });
  drawn.forEach(({ chart, place }) => {
    const head = ["curve", chart.x.label, chart.y.label, "low", "high", "point"];
    const rows = () => chart.series.flatMap(({ name, points }) => points.map((point) => [name, ...head.slice(1).map((_, at) => point[at])]));
    saving.offer(place, "chart", { CSV: () => saving.csv([head, ...rows()]), ...saving.pictures(place) });
  });

  // A drawn fabric whose links have values: select the value that sets the colour, and click on a link to show all.
  const shown = (column, value) => value === null || value === undefined ? "–"
    : column.kind === "share" ? figures(100 * value) + " %" : figures(value);
  const made = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  // The values of one shape: of a terminal both links, of many links drawn as one their mean and maximum.
  const summed = (column, links) => {
    const values = links.map((link) => column.values[link]).filter((value) => value !== null);
    const sum = values.reduce((a, b) => a + b, 0);
    if (column.kind === "count") return shown(column, sum);
    if (values.length < 2) return shown(column, values[0]);
    return shown(column, sum / values.length) + " on average, " + shown(column, Math.max(...values)) + " at most";
  };
  const tipOf = (place, columns) => {
    const tip = made("div", { className: "tip", hidden: true });
    const row = (what, value) => made("div", {}, made("dt", { textContent: what }), made("dd", { textContent: value }));
    place.append(tip);
    return (shape, x, y) => {
      tip.hidden = !shape;
      if (!shape) return;
      const links = reaching.linksOf(shape), dot = shape.tagName === "circle" && links.length === 2;
      const told = (column) => dot ? "sends " + shown(column, column.values[links[0]]) + ", receives " + shown(column, column.values[links[1]]) : summed(column, links);
      tip.replaceChildren(made("b", { textContent: shape.ariaLabel }), made("dl", {}, ...columns.map((column) => row(column.label, told(column)))));
      reaching.put(tip, place, x, y);
    };
  };
  const MOST_ROWS = 12;
  const tableOf = (shape, names, columns) => {
    const links = reaching.linksOf(shape);
    const head = made("tr", {}, ...["", ...columns.map((column) => column.label)].map((label, at) => made("th", { textContent: label, scope: "col", className: at ? "n" : "" })));
    const rows = links.slice(0, MOST_ROWS).map((link) => made("tr", {}, made("td", { textContent: names[link] }),
      ...columns.map((column) => made("td", { className: "n", textContent: shown(column, column.values[link]) }))));
    const more = links.length > MOST_ROWS ? [made("p", { className: "note", textContent: "And " + (links.length - MOST_ROWS) + " more." })] : [];
    return [made("b", { textContent: shape.ariaLabel }), made("table", {}, made("thead", {}, head), made("tbody", {}, ...rows)), ...more];
  };
  // A fabric too large for strokes: the same colours, tips and tables, drawn by WebGL.
  const fabricOfLines = (place, { names, columns, limit, large: parts }) => {
    const panel = place.nextElementSibling, choice = panel.querySelector("select"), said = panel.querySelector("output"), hint = [...said.childNodes];
    const as = (link) => ({ tagName: "path", ariaLabel: names[link], dataset: { links: String(link) } }), tip = tipOf(place, columns);
    const drawn = new large.Large(place, parts, {
      point: (link, x, y) => tip(link < 0 ? null : as(link), x, y),
      open: (link) => said.replaceChildren(...tableOf(as(link), names, columns)), close: () => said.replaceChildren(...hint),
    });
    const colour = () => { const column = columns[Number(choice?.value ?? 0)]; drawn.paint(column.values.map((value) => (value ?? 0) / column.top)); legend(column); };
    const bar = made("p", { className: "note" }), legend = ({ label, top, ...column }) => bar.replaceChildren(made("i", { className: "ramp" }), ` ${label}, 0 to ${shown({ ...column }, top)}`);
    place.after(bar);
    columns.forEach((column, at) => choice?.add(new Option(column.label, at)));
    choice?.addEventListener("change", colour);
    if (limit !== undefined) drawn.mark([limit].flat());
    colour();
  };
  const fabric = (place, { names, columns, limit }) => {
    const panel = place.nextElementSibling, choice = panel.querySelector("select"), said = panel.querySelector("output");
    const hint = [...said.childNodes], told = columns.filter((column, at) => !at || column.values.some((value) => value));
    const shapes = reaching.drawnIn(place);
    const mark = reaching.limitIn(place);
    const warmth = (column, links, dot) => {
      const values = links.map((link) => column.values[link] ?? 0), sum = values.reduce((a, b) => a + b, 0);
      return dot ? Math.max(...values) : sum / values.length;
    };
    const colour = (column) => {
      shapes.forEach(({ shape, links, dot, paint }) => {
        reaching.tint(shape, paint, warmth(column, links, dot) / column.top);
      });
      const words = { label: column.label, 0: "0", 0.5: shown(column, column.top / 2), 1: shown(column, column.top) };
      place.querySelectorAll("[data-legend]").forEach((text) => { text.textContent = words[text.dataset.legend]; });
    };
    const now = () => columns[Number(choice?.value ?? 0)];
    told.forEach((column) => choice?.add(new Option(column.label, columns.indexOf(column))));
    choice?.addEventListener("change", () => colour(now()));
    const paint = () => { reaching.tone(place); colour(now()); if (limit !== undefined) mark(limit); };
    reaching.turned.push(paint);
    paint();
    reaching.reach(place, {
      warmth: (links) => warmth(now(), links, links.length === 2), point: tipOf(place, told),
      open: (shape) => said.replaceChildren(...tableOf(shape, names, told)),
      close: () => said.replaceChildren(...hint),
    });
  };
  const fabrics = JSON.parse(document.getElementById("fabrics").textContent);
  document.querySelectorAll(".fabric").forEach((place, number) => {
    const below = fabrics[number] ? place.nextElementSibling : place;
    // Drawings of large fabrics are no SVG.
    if (!fabrics[number]?.large) saving.offer(below, "drawing", saving.pictures(place));
    if (fabrics[number]) { (fabrics[number].large ? fabricOfLines : fabric)(place, fabrics[number]); return; }
    reaching.turned.push(() => reaching.tone(place));
    reaching.tone(place);
  });
})();
