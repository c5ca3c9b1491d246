// The drawn fabric: links coloured by utilisation.
/* global reaching */
import { inPicture } from "./geometry.js";
import { Names, fit } from "./names.js";
import { figures } from "./state.js";
import { Zoom } from "./zoom.js";

const MARK = "#e0007a";

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
  }

  // The SVG comes from our own server, which escapes every name in it.
  draw(svg, links, colours) {
    this.links = links;
    this.colours = colours;
    if (svg === this.drawn) return false;
    this.drawn = svg;
    const picture = document.createElement("div");
    picture.innerHTML = svg ?? "<p class='note'>This fabric is too large to be drawn.</p>";
    picture.className = "picture";
    this.place.replaceChildren(picture);
    const drawing = picture.querySelector("svg");
    if (drawing) fit(drawing);
    this.names = drawing ? new Names(drawing) : null;
    this.zoom = drawing ? new Zoom(this.place, drawing, () => this.resized()) : null;
    this.names?.fresh();
    this.place.append(this.hover);
    this.say(null);
    this.shapes = reaching.drawnIn(this.place).map((one) => ({ ...one, step: -1 }));
    this.limiting = reaching.limitIn(this.place);
    const say = (shape, x, y) => this.say(shape, x, y);
    reaching.reach(picture, { warmth: (on) => Math.max(...on.map((link) => this.busy[link] ?? 0)), point: say, open: () => {}, close: () => this.say(null) });
    return true;
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
    for (const one of this.shapes) {
      if (one.width !== undefined) continue;
      let sum = 0, most = 0;
      for (const link of one.links) { const value = busy[link] ?? 0; sum += value; if (value > most) most = value; }
      const value = one.dot ? most : sum / one.links.length;
      const warmest = this.colours.length - 1, step = Math.min(warmest, Math.round(value / 1000 * warmest));
      if (step === one.step) continue;
      one.step = step;
      one.shape.setAttribute(one.paint, this.colours[step]);
    }
  }

  // The link that limits the network, which is marked; -1: none.
  limits(link) { this.limiting?.(link); }

  // The links of a cycle of waiting packets.
  mark(cycle) {
    const wanted = new Set(cycle);
    for (const one of this.shapes) {
      if (one.shape.tagName !== "path" || !one.links.some((link) => wanted.has(link))) continue;
      one.width ??= one.shape.getAttribute("stroke-width");
      one.shape.setAttribute("stroke", MARK);
      one.shape.setAttribute("stroke-width", "9");
    }
  }

  unmark() {
    for (const one of this.shapes) {
      if (one.width === undefined) continue;
      one.shape.setAttribute("stroke-width", one.width);
      one.shape.setAttribute(one.paint, this.colours[0]);
      one.step = 0;
      delete one.width;
    }
  }

  // The positions of terminals: dots that have one link out and one link in.
  terminals() {
    const dots = this.shapes.filter((one) => one.dot && one.links.length === 2), at = inPicture(this.place);
    const where = (dot) => { const [x, y] = at(dot, Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))); return { x, y }; };
    return dots.map(({ shape, links }) => ({ name: String(this.links[links[0]]).split(">")[0], links, ...where(shape) }));
  }

  // The values of a shape, shown beside it; hides them if there is no shape.
  say(shape, x, y) {
    this.hover.hidden = !shape;
    this.hover.textContent = "";
    if (!shape) return;
    const links = reaching.linksOf(shape);
    const rate = (link) => (this.carried.length ? ` with ${figures(this.carried[link] / 1000)} MB/s` : "");
    const value = ({ values, kind }, link) => (kind === "share" ? `${figures(100 * values[link], 3)} %` : figures(values[link]));
    // During a run only the utilisation of a link is known; at the end, all values of the report.
    const share = (link) => (this.columns.length
      ? `${this.columns.filter(({ values }) => values[link] !== null).map((one) => `${one.label} ${value(one, link)}`).join(", ")}${rate(link)}`
      : `${((this.busy[link] ?? 0) / 10).toFixed(1)} % in use${rate(link)}`);
    const named = links.slice(0, 2).map((link) => `${this.links[link] ?? "link " + link}: ${share(link)}`);
    this.hover.textContent = named.join("\n") + (links.length > 2 ? `\nand ${links.length - 2} more` : "");
    reaching.put(this.hover, this.place, x, y);
  }
}
