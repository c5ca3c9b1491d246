/* global plots */
// One fabric: its drawing with packets, and its measured values.
import { Fabric } from "./fabric.js";
import { Packets } from "./packets.js";
import { download, element } from "./state.js";

export class Card {
  // `row` holds the drawings and `below` the measured values; the replay is between them.
  constructor(number, row, below, named) {
    this.number = number;
    this.named = named;
    this.title = element("span");
    this.sizes = element("small");
    const save = element("button", { type: "button", textContent: "Save scenario", onclick: () => this.save() });
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = `var(--c${number})`;
    const place = element("div", { className: "fabric" }), hover = element("output", { className: "tip hover", hidden: true });
    this.verdict = element("p", { className: "said" });
    this.numbers = element("dl", { className: "facts" });
    this.ended = element("div", { className: "ended" });
    this.root = element("section", { className: "side" }, element("h2", {}, element("span", { className: "name" }, swatch, this.title), this.sizes, save), place);
    this.again = element("span");
    this.measured = element("section", { className: "measured" }, element("h2", {}, element("span", { className: "name" }, swatch.cloneNode(), this.again)), this.verdict, this.numbers, this.ended);
    this.root.dataset.side = number;
    this.fabric = new Fabric(place, hover);
    this.packets = new Packets(this.fabric);
    this.fabric.moved = () => this.packets.again();
    this.fabric.opened = ([link], { shiftKey }) => { if (shiftKey) this.failed?.(String(this.fabric.links[link])); };
    this.fabric.joins((one, other) => this.joined?.(one, other));
    place.addEventListener("click", ({ clientX, clientY, shiftKey }) => {
      const packet = this.packets.recording && !shiftKey ? this.packets.near(clientX, clientY) : -1;
      if (packet >= 0) this.chosen?.(packet);
    });
    row.append(this.root);
    below.append(this.measured);
  }

  look(side, measured) {
    this.side = side;
    this.title.textContent = this.again.textContent = this.named(this.number);
    this.sizes.textContent = side.facts;
    if (this.fabric.draw(side.svg, side.links, side.parts)) this.packets.clear();
    if (!measured) this.clear();
  }

  clear() {
    this.verdict.textContent = "";
    this.fabric.busy = this.fabric.carried = this.fabric.columns = [];
    this.fabric.limits(-1);
    this.fabric.unmark();
    this.fabric.say(null);
    this.numbers.replaceChildren();
    this.warn(this.side?.warnings ?? []);
  }

  warn(warnings) { this.ended.replaceChildren(...warnings.map((text) => element("p", {}, element("b", { className: "chip bad", textContent: "warning" }), text))); }

  show(live) {
    this.verdict.textContent = live.verdict ? `${live.verdict}.` : "";
    this.numbers.replaceChildren(...live.facts.map(([what, value, note]) => element("div", {}, element("dt", { textContent: what }), element("dd", { textContent: value }),
      ...(note ? [element("dd", { className: "note", textContent: note })] : []))));
    this.fabric.busy = live.busy;
    this.fabric.carried = live.carried;
    this.fabric.columns = live.columns ?? [];
    if (!live.end) return;
    this.warn(live.warnings);
    const reason = element("span", { className: live.bad ? "chip bad" : "chip", textContent: live.end.reason.replace("_", " ") });
    this.ended.append(element("p", {}, reason, live.end.message));
    this.fabric.limits(live.cycle.length ? -1 : live.limit);
    if (live.sources.length) this.ended.append(this.shares(live.sources));
  }

  remove() {
    this.root.remove();
    this.measured.remove();
  }

  // The throughput of each source, as bars.
  shares(sources) {
    const most = Math.max(...sources.map(([, rate]) => rate), 1e-9);
    const rows = sources.map(([name, rate]) => {
      const cell = element("td", { className: "n", textContent: `${plots.figures(rate)} MB/s` });
      cell.style.setProperty("--share", rate / most);
      return element("tr", {}, element("td", { textContent: name }), cell);
    });
    return element("details", { open: true }, element("summary", { textContent: "Throughput by source" }), element("table", {}, element("tbody", {}, ...rows)));
  }

  // The name, without extension, of a file about this fabric.
  get file() { return this.side.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "scenario"; }

  save() { download(`${this.file}.toml`, this.side.text); }
}
