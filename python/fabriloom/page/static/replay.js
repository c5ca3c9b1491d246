// Packets moving through the drawn fabric: each a stretch of colour from its tail to its head.

const SVG = "http://www.w3.org/2000/svg";
// Times that a packet takes over a link, per second.
const SPEEDS = [["slow motion", 0.3], ["slow", 1], ["usual", 3], ["fast", 15], ["very fast", 80]];
const WAITS = 0.82;
const KINDS = ["packet", "response", "echo", "busy echo"];

const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const clamp = (value) => Math.min(1, Math.max(0, value));
const paint = (packet) => `hsl(${(packet * 137.5) % 360} 75% 42%)`;

export class Replay {
  constructor(root, fabric) {
    this.fabric = fabric;
    this.pool = [];
    this.place = made("div", { className: "replay", hidden: true });
    root.querySelector(".fabric").after(this.place);
    this.controls();
  }

  controls() {
    const button = (text, act, label) => made("button", { type: "button", textContent: text, onclick: act, ariaLabel: label });
    this.play = button("Play", () => this.toggle(), "Play or pause");
    this.speed = made("select", { ariaLabel: "Speed" }, ...SPEEDS.map(([name, pace]) => new Option(name, pace, pace === 3, pace === 3)));
    this.slider = made("input", { type: "range", min: 0, max: 10000, step: 1, ariaLabel: "Time" });
    this.time = made("output");
    this.follow = made("select", { ariaLabel: "Packet that is followed" });
    this.said = made("p", { className: "note" });
    this.slider.addEventListener("input", () => { this.pause(); this.show(this.until * this.slider.value / 10000); });
    this.follow.addEventListener("change", () => { this.followed = Number(this.follow.value); this.show(this.now); });
    for (const event of ["pointerdown", "focus"]) this.follow.addEventListener(event, () => this.offer());
    const close = button("Close the replay", () => this.clear());
    const step = (way) => () => { this.pause(); this.step(way); };
    this.place.append(
      made("div", { className: "row" }, this.play, button("◂ step", step(-1), "One step back"), button("step ▸", step(1), "One step on"), this.speed, this.slider, this.time),
      made("div", { className: "row" }, made("label", {}, "Follow ", this.follow), close), this.said,
    );
  }

  clear() {
    if (this.place.hidden) return;
    this.pause();
    this.place.hidden = true;
    this.layer?.remove();
    this.pool = [];
    this.rows = [];
    this.fabric.unmark();
    this.fabric.paint(this.fabric.busy);
  }

  load(data) {
    this.clear();
    this.place.hidden = false;
    this.data = data;
    for (const row of this.place.querySelectorAll(".row")) row.hidden = !data.rows;
    this.told = data.said;
    this.said.textContent = this.told;
    if (!data.rows) return;
    this.strokes = this.fabric.strokes();
    this.layer = document.createElementNS(SVG, "g");
    this.layer.setAttribute("fill", "none");
    this.layer.setAttribute("class", "worms");
    // Over the boxes of rings, because packets cross their buses; under those of other switches.
    if (data.rings) this.fabric.place.querySelector("svg").append(this.layer);
    else this.fabric.place.querySelector("svg > g").after(this.layer);
    this.fabric.paint([]);
    this.fabric.unmark();
    this.fabric.mark(data.cycle);
    this.rows = this.ways(data);
    this.until = data.until_ns;
    const stays = this.rows.filter((row) => (row.kind & 3) < 2 && row.end < Infinity).map((row) => row.end - row.begin).sort((a, b) => a - b);
    this.pace = stays[Math.floor(stays.length / 2)] ?? data.until_ns / 100;
    this.times = [...new Set(data.begin)].filter((time) => time >= 0).sort((a, b) => a - b);
    this.followed = -1;
    this.offer();
    this.told += data.rings ? " Grey: echoes, red: busy echoes, thick: sent again, straight across a switch: over its bus." : " A packet reaches from its tail to its head; click on one to follow it.";
    this.said.textContent = this.told;
    this.show(data.cycle.length ? this.until : 0);
    if (!data.cycle.length) this.toggle();
  }

  // Rows with how long a head takes over a link and what comes after it. A link is crossed in the shortest time
  // in which any packet went on to the next; a head that takes longer stands at the end of the link.
  ways(data) {
    const next = new Array(data.rows).fill(-1), newest = new Map();
    for (let row = 0; row < data.rows; row++) {
      const packet = data.packet[row];
      if (packet < 0) continue;
      if (newest.has(packet)) next[newest.get(packet)] = row;
      newest.set(packet, row);
    }
    const steps = next.map((to, row) => (to < 0 ? Infinity : data.begin[to] - data.begin[row])).filter((step) => step > 0 && step < Infinity).sort((a, b) => a - b);
    const least = steps[Math.floor(steps.length / 20)] ?? (data.end[0] - data.begin[0]) / 4;
    return next.map((to, row) => {
      const end = data.end[row] ?? Infinity, waits = to < 0 ? (data.last[row] || data.rings ? end : Infinity) : data.begin[to];
      const bus = data.bus[row], cross = bus < 0 ? least : end - data.begin[row];
      // What has left the link and not begun the next one stands in the switch, drawn as the end of the link.
      return { row, begin: data.begin[row], end, cross, gone: Math.max(end, Math.min(waits, 1e18)) + cross, packet: data.packet[row], kind: data.kind[row], link: data.link[row], bus, next: waits };
    });
  }

  // ---- time ----

  toggle() {
    if (this.playing) { this.pause(); return; }
    if (this.now >= this.until) this.now = 0;
    this.playing = true;
    this.play.textContent = "Pause";
    let before = performance.now();
    const frame = (at) => {
      if (!this.playing) return;
      this.show(this.now + (at - before) / 1000 * this.pace * Number(this.speed.value));
      before = at;
      if (this.now >= this.until) this.pause(); else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    this.playing = false;
    this.play.textContent = "Play";
  }

  // To the next or the last moment at which a packet (the followed one) comes to a link.
  step(way) {
    const times = this.followed < 0 ? this.times : this.rows.filter((row) => row.packet === this.followed).map((row) => row.begin);
    const found = way > 0 ? times.find((time) => time > this.now + 1e-6) : times.findLast((time) => time < this.now - 1e-6);
    this.show(found ?? (way > 0 ? this.until : 0));
  }

  // ---- the picture ----

  there() { return this.rows.filter((row) => row.begin <= this.now && row.gone > this.now); }

  show(time) {
    this.now = Math.min(this.until, Math.max(0, time));
    this.slider.value = Math.round(10000 * this.now / this.until);
    const micro = (this.data.from_ns + this.now) / 1000;
    this.time.textContent = micro < 1e4 ? `${micro.toFixed(this.until < 1e5 ? 2 : 1)} µs` : `${(micro / 1000).toFixed(4)} ms`;
    this.slider.setAttribute("aria-valuetext", this.time.textContent);
    let used = 0;
    for (const row of this.there()) used = this.stroke(row, used);
    for (const shape of this.pool.slice(used)) shape.setAttribute("visibility", "hidden");
    if (this.followed >= 0) this.tell();
  }

  // One packet on one link, over all strokes of the link.
  stroke(row, used) {
    const parts = row.bus < 0 ? this.strokes.get(row.link) : this.across(row);
    if (!parts) return used;
    const waiting = this.now < row.next;
    let head = clamp((this.now - row.begin) / row.cross), tail = clamp((this.now - row.end) / row.cross);
    if (waiting && row.next !== row.end) tail = Math.min(tail, WAITS);
    const all = parts.reduce((sum, part) => sum + part.length, 0);
    [tail, head] = [tail * all, head * all];
    let before = 0;
    for (const part of parts) {
      const low = Math.max(tail, before) - before, high = Math.min(head, before + part.length) - before;
      before += part.length;
      if (high - low > 0.05) this.draw(used++, part, part.back ? part.length - high : low, high - low, row);
    }
    return used;
  }

  // Over a bus: straight from one port to the other. A port is where its link begins.
  across({ link, bus }) {
    const key = `${link}>${bus}`, [one, two] = [link, bus].map((port) => this.strokes.get(port)?.[0].begin);
    if (!one || !two) return undefined;
    if (!this.strokes.has(key)) this.strokes.set(key, [{ d: `M${one.x} ${one.y}L${two.x} ${two.y}`, back: false, length: Math.hypot(two.x - one.x, two.y - one.y) }]);
    return this.strokes.get(key);
  }

  draw(number, part, from, length, row) {
    let shape = this.pool[number];
    if (!shape) {
      shape = this.pool[number] = document.createElementNS(SVG, "path");
      shape.addEventListener("click", () => { if (shape.packet >= 0) { this.followed = shape.packet; this.offer(); this.show(this.now); } });
      this.layer.append(shape);
    }
    const sort = row.kind & 3, again = row.kind & 4, echo = sort > 1;
    const mine = this.followed >= 0 && row.packet === this.followed;
    shape.packet = row.packet;
    shape.setAttribute("d", part.d);
    shape.setAttribute("stroke", sort === 3 ? "#d11" : echo ? "#888" : paint(row.packet));
    shape.setAttribute("stroke-width", echo ? 2 : mine ? 6 : again ? 5 : 3.6);
    shape.setAttribute("stroke-opacity", this.followed < 0 || mine ? 1 : 0.22);
    shape.setAttribute("stroke-dasharray", `0 ${from} ${length} ${part.length * 2}`);
    shape.setAttribute("visibility", "visible");
  }

  // ---- one packet ----

  offer() {
    const named = (packet) => { const [from, to, started] = this.data.packets[packet]; return `${from} → ${to}, started ${(started / 1000).toFixed(1)} µs`; };
    const here = [...new Set(this.there().map((row) => row.packet))].filter((packet) => packet >= 0).slice(0, 200);
    if (this.followed >= 0 && !here.includes(this.followed)) here.unshift(this.followed);
    this.follow.replaceChildren(new Option("nobody", -1), ...here.map((packet) => new Option(named(packet), packet)));
    this.follow.value = this.followed;
  }

  tell() {
    const [from, to, started] = this.data.packets[this.followed];
    const rows = this.rows.filter((row) => row.packet === this.followed), on = rows.filter((row) => row.begin <= this.now && row.end > this.now);
    const called = (link) => this.fabric.links[link] ?? `link ${link}`;
    const last = rows.at(-1), name = (row) => (row.bus < 0 ? called(row.link) : `the bus from the port of ${called(row.link)} to that of ${called(row.bus)}`);
    const sort = KINDS[rows[0].kind & 3];
    const where = on.length ? `on ${on.map(name).join(", ")}` : this.now < rows[0].begin ? "not yet on its way" : this.now >= last.end ? (this.data.last[last.row] ? "arrived" : `behind ${name(last)}`) : "in a switch";
    this.said.textContent = `The ${sort} from ${from} to ${to}, started at ${(started / 1000).toFixed(2)} µs: ${where}.`;
  }
}
