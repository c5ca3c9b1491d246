// The drawn fabric: links coloured by utilisation, enlarged to its place, and its names to a readable size.
/* global large, plots, reaching */
import { inPicture } from "./geometry.js";

const MARGIN = 7, MOST_SHAPES = 3000, READABLE_PX = [12, 11, 10, 9], LEAST_PX = 8.5, MOST_NAMES = 300, MOST_TIMES = 24, STEP = 1.35;

// Removes the empty border of the drawing. With several planes each has its own picture, which keeps its border.
export const fit = (svg) => {
  const shapes = [...svg.querySelectorAll("path, circle, text, rect:not(:first-of-type), g > rect")];
  if (!shapes.length || shapes.length > MOST_SHAPES || svg.querySelector("svg")) return;
  const boxes = shapes.map((shape) => shape.getBBox()), least = (of) => Math.min(...boxes.map(of)), most = (of) => Math.max(...boxes.map(of));
  const x = least((box) => box.x) - MARGIN, y = least((box) => box.y) - MARGIN;
  const width = most((box) => box.x + box.width) + MARGIN - x, height = most((box) => box.y + box.height) + MARGIN - y;
  reaching.set(svg, { width, height, viewBox: `${x} ${y} ${width} ${height}` });
};

const overlap = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
const crowded = (boxes) => boxes.some((one, at) => boxes.some((other, next) => next > at && overlap(one, other)));

// The box of a name enlarged by a factor; it grows from its anchor.
const grown = ({ x, y, width, height }, anchor, times) => {
  const before = { start: 0, middle: 0.5, end: 1 }[anchor] ?? 0;
  return { x: x + before * width * (1 - times), y: y + height * (1 - times), width: width * times, height: height * times };
};

// Makes names of one size as large as there is room, up to a readable size, and hides them if they would be too small to read; the tip has
// them.
export class Names {
  constructor(svg) {
    this.svg = svg;
    this.sizes = new Map();
    for (const text of svg.querySelectorAll("text")) {
      const size = Number(text.getAttribute("font-size")), box = text.getBBox(), around = text.previousElementSibling;
      // The name in a box stays within it.
      const most = around?.tagName === "rect" && text.hasAttribute("pointer-events") ? (around.width.baseVal.value - 2) / Math.max(box.width, 1) : Infinity;
      this.sizes.set(size, [...(this.sizes.get(size) ?? []), { text, box, most, anchor: text.getAttribute("text-anchor") }]);
    }
  }

  fresh() {
    const scale = this.svg.getScreenCTM()?.a;
    if (!scale || scale === this.scale) return;
    this.scale = scale;
    for (const [size, names] of this.sizes) {
      const larger = READABLE_PX.map((px) => px / (size * scale)).filter((times) => times > 1);
      const fits = (times) => names.every(({ most }) => times <= most) && !crowded(names.map(({ box, anchor }) => grown(box, anchor, times)));
      const shown = size * ((names.length <= MOST_NAMES && larger.find(fits)) || 1), seen = shown * scale >= LEAST_PX;
      for (const { text } of names) {
        text.setAttribute("font-size", shown);
        text.setAttribute("visibility", seen ? "visible" : "hidden");
      }
    }
  }
}

export class Fabric {
  constructor(place, hover) {
    this.place = place;
    this.hover = hover;
    this.drawn = "";
    this.shapes = [];
    this.busy = [];
    this.carried = [];
    this.columns = [];
    new ResizeObserver(() => this.resized()).observe(place);
    reaching.turned.push(() => this.turn());
  }

  // The SVG comes from our own server, which escapes every name in it. A fabric too large for one has `parts`.
  draw(svg, links, parts) {
    this.links = links;
    const drawn = svg ?? parts?.ends ?? "none";
    if (drawn === this.drawn) return false;
    this.drawn = drawn;
    const picture = document.createElement("div");
    picture.innerHTML = svg ?? (parts ? "" : "<p class='note'>This fabric is too large to be drawn.</p>");
    picture.className = "picture";
    this.place.classList.toggle("of-lines", Boolean(parts));
    this.large = null;
    this.place.replaceChildren(picture);
    const drawing = picture.querySelector("svg");
    if (drawing) fit(drawing);
    this.names = drawing ? new Names(drawing) : null;
    this.zoom = drawing ? new Zoom(this.place, drawing, () => this.resized()) : null;
    if (parts) this.large = this.zoom = new large.Large(this.place, parts, { point: (link, x, y) => this.tell(link < 0 ? [] : [link], x, y), open: (link, event) => this.opened?.([link], event), close: () => this.tell([]), moved: () => this.moved?.() });
    // In the head above the drawing the buttons cover nothing.
    const head = this.place.previousElementSibling;
    head.querySelector(".zoom")?.remove();
    if (this.zoom) head.append(Object.assign(this.zoom.bar, { className: "zoom" }));
    this.names?.fresh();
    this.place.append(this.hover);
    this.say(null);
    this.shapes = reaching.drawnIn(this.place).map((one) => ({ ...one, step: -1 }));
    this.limiting = reaching.limitIn(this.place);
    const say = (shape, x, y) => this.say(shape, x, y);
    reaching.reach(picture, { warmth: (on) => Math.max(...on.map((link) => this.busy[link] ?? 0)), point: say, open: (shape, event) => this.opened?.(reaching.linksOf(shape), event), close: () => this.say(null) });
    return true;
  }

  // The name of the switch whose box is at a point of the window.
  switchAt({ clientX: x, clientY: y }) {
    const within = (box) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    return [...this.place.querySelectorAll("svg text")].find(({ previousElementSibling: box }) => box?.tagName === "rect" && within(box.getBoundingClientRect()))?.textContent;
  }

  // Shift and a drag from one switch to another: calls with both names.
  joins(joined) {
    this.place.addEventListener("pointerdown", (event) => {
      const from = event.shiftKey && !event.button && this.switchAt(event), { zoom } = this;
      if (!from) return;
      const { x, y } = zoom.at(event);
      const line = reaching.shapeOf("line", { x1: x, y1: y, x2: x, y2: y, stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": "4 3", "pointer-events": "none" });
      zoom.svg.append(line);
      const move = (moved) => { const now = zoom.at(moved); reaching.set(line, { x2: now.x, y2: now.y }); };
      const end = (ended) => {
        removeEventListener("pointermove", move);
        line.remove();
        const to = this.switchAt(ended);
        if (to && to !== from) joined(from, to);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end, { once: true });
    });
  }

  // From units of the drawing to pixels of the window.
  matrix() {
    if (!this.large) return this.place.querySelector("svg").getScreenCTM();
    const box = this.place.getBoundingClientRect(), { a, e, f } = this.large.matrix();
    return { a, b: 0, c: 0, d: a, e: box.x + e, f: box.y + f };
  }

  // The page has turned light or dark.
  turn() {
    if (this.large) { this.moved?.(); return; }
    for (const one of this.shapes) one.step = -1;
    this.paint(this.shown ?? []);
    this.mark(this.marked ?? []);
    this.limits(this.limit ?? -1);
    this.moved?.();
  }

  resized() {
    this.names?.fresh();
    this.moved?.();
  }

  // `busy`: utilisation per link, in thousandths.
  colour(busy) {
    this.busy = busy;
    this.paint(busy);
  }

  paint(busy) {
    this.shown = busy;
    if (this.large) { this.large.paint(busy.map((one) => one / 1000)); return; }
    for (const one of this.shapes) {
      if (one.width !== undefined) continue;
      let sum = 0, most = 0;
      for (const link of one.links) { const value = busy[link] ?? 0; sum += value; if (value > most) most = value; }
      const value = one.dot ? most : sum / one.links.length;
      const step = Math.round(value / 16);
      if (step === one.step) continue;
      one.step = step;
      reaching.tint(one.shape, one.paint, value / 1000);
    }
  }

  // The link that limits the network, which is marked; -1: none.
  limits(link) {
    this.limit = link;
    if (this.large) this.large.mark([link]);
    else this.limiting?.(link);
  }

  // The links of a cycle of waiting packets.
  mark(cycle) {
    const wanted = new Set(this.marked = cycle);
    if (this.large && cycle.length) this.large.mark(cycle);
    for (const one of this.shapes) {
      if (one.shape.tagName !== "path" || !one.links.some((link) => wanted.has(link))) continue;
      one.width ??= one.shape.getAttribute("stroke-width");
      one.shape.setAttribute("stroke", reaching.ink("--cycle"));
      one.shape.setAttribute("stroke-width", "9");
    }
  }

  unmark() {
    this.marked = [];
    this.large?.mark([]);
    for (const one of this.shapes) {
      if (one.width === undefined) continue;
      one.shape.setAttribute("stroke-width", one.width);
      reaching.tint(one.shape, one.paint, 0);
      one.step = 0;
      delete one.width;
    }
  }

  // The positions of terminals: dots that have one link out and one link in.
  terminals() {
    if (this.large) return [];
    const dots = this.shapes.filter((one) => one.dot && one.links.length === 2), at = inPicture(this.place);
    const where = (dot) => { const [x, y] = at(dot, Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))); return { x, y }; };
    return dots.map(({ shape, links }) => ({ name: String(this.links[links[0]]).split(">")[0], links, ...where(shape) }));
  }

  // The values of a shape, shown beside it; hides them if there is no shape.
  say(shape, x, y) { this.tell(shape ? reaching.linksOf(shape) : [], x, y); }

  tell(links, x, y) {
    this.hover.hidden = !links.length;
    this.hover.textContent = "";
    if (!links.length) return;
    const rate = (link) => (this.carried.length ? ` with ${plots.figures(this.carried[link] / 1000)} MB/s` : "");
    const value = ({ values, kind }, link) => (kind === "share" ? `${plots.figures(100 * values[link], 3)} %` : plots.figures(values[link]));
    // During a run only the utilisation of a link is known; at the end, all values of the report.
    const share = (link) => (this.columns.length
      ? `${this.columns.filter(({ values }) => values[link] !== null).map((one) => `${one.label} ${value(one, link)}`).join(", ")}${rate(link)}`
      : `${((this.busy[link] ?? 0) / 10).toFixed(1)} % in use${rate(link)}`);
    const named = links.slice(0, 2).map((link) => `${this.links[link] ?? "link " + link}: ${share(link)}`);
    this.hover.textContent = named.join("\n") + (links.length > 2 ? `\nand ${links.length - 2} more` : "");
    reaching.put(this.hover, this.place, x, y);
  }
}

// Moves and enlarges a drawing: by buttons, by Ctrl and the wheel, by dragging, by the keys + - 0.
class Zoom {
  constructor(place, svg, moved) {
    Object.assign(this, { place, svg, moved });
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.whole = { x, y, width, height };
    this.view = { ...this.whole };
    const button = (text, label, act) => Object.assign(document.createElement("button"), { type: "button", textContent: text, ariaLabel: label, title: label, onclick: act });
    this.bar = document.createElement("div");
    this.bar.className = "zoom";
    this.bar.append(button("+", "Enlarge the drawing", () => this.by(STEP)), button("−", "Make the drawing smaller", () => this.by(1 / STEP)), button("⤢", "The whole drawing", () => this.all()));
    place.onwheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? STEP : 1 / STEP, this.at(event));
    };
    place.onpointerdown = (event) => this.grab(event);
    place.onkeydown = (event) => {
      const act = { "+": () => this.by(STEP), "=": () => this.by(STEP), "-": () => this.by(1 / STEP), 0: () => this.all() }[event.key];
      if (act && event.target.tagName !== "INPUT") { event.preventDefault(); act(); }
    };
  }

  at({ clientX, clientY }) {
    const to = this.svg.getScreenCTM().inverse();
    return { x: to.a * clientX + to.e, y: to.d * clientY + to.f };
  }

  by(factor, about) {
    const { view, whole } = this, next = Math.min(whole.width, Math.max(whole.width / MOST_TIMES, view.width / factor)), share = next / view.width;
    const { x, y } = about ?? { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    this.to({ x: x - (x - view.x) * share, y: y - (y - view.y) * share, width: next, height: view.height * share });
  }

  all() { this.to({ ...this.whole }); }

  // Never beyond the border of the drawing.
  to(view) {
    const { whole } = this, within = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
    view.x = within(view.x, whole.x, whole.x + whole.width - view.width);
    view.y = within(view.y, whole.y, whole.y + whole.height - view.height);
    this.view = view;
    this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    this.place.classList.toggle("zoomed", view.width < whole.width);
    this.moved();
  }

  grab(event) {
    if (this.view.width >= this.whole.width || event.button || event.shiftKey || event.target.closest("button")) return;
    let before = this.at(event);
    const move = (moved) => {
      const now = this.at(moved);
      this.to({ ...this.view, x: this.view.x + before.x - now.x, y: this.view.y + before.y - now.y });
      before = this.at(moved);
    };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }
}
