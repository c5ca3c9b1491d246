// Packets on the drawn fabric: a canvas over the drawing, so that thousands of links cost nothing while they move.
import { straight, waysOf } from "./geometry.js";
import { failures, losses, queues } from "./marks.js";
import { Recording } from "./recording.js";

const BLOCKED = "#d4213d", CYCLE = "#e0007a", ECHO = "#888", BUSY = "#d11";
const hue = (number) => (number * 137.508) % 360;

export class Packets {
  constructor(fabric) {
    this.fabric = fabric;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "packets";
    this.canvas.setAttribute("aria-hidden", "true");
    this.recording = null;
    this.shown = [];
    new ResizeObserver(() => this.again()).observe(fabric.place);
  }

  load(data) {
    this.recording = new Recording(data, this.fabric.links);
    this.fabric.place.append(this.canvas);
    if (this.drawing !== this.fabric.drawn) {
      this.drawing = this.fabric.drawn;
      Object.assign(this, waysOf(this.fabric.place));
      this.across = new Map();
    }
    const ends = [...new Set((data.packets ?? []).flatMap(([from, to]) => [from, to]))];
    this.numbers = new Map(ends.map((name, at) => [name, at]));
    this.place = Object.fromEntries(this.fabric.terminals().map(({ name, ...there }) => [name, there]));
    this.fabric.unmark();
    this.fabric.paint([]);
  }

  clear() {
    this.recording = null;
    this.shown = [];
    this.canvas.remove();
    this.fabric.unmark();
    this.fabric.paint(this.fabric.busy);
  }

  again() { if (this.recording && this.last) this.draw(...this.last); }

  // The canvas lies over the place of the drawing and has its units, whatever it was zoomed to.
  begin() {
    const svg = this.fabric.place.querySelector("svg"), box = this.fabric.place.getBoundingClientRect(), dense = devicePixelRatio || 1;
    const wide = Math.round(box.width * dense), high = Math.round(box.height * dense);
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, { width: wide, height: high });
    const context = this.canvas.getContext("2d"), to = svg.getScreenCTM();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.setTransform(to.a * dense, to.b * dense, to.c * dense, to.d * dense, (to.e - box.x) * dense, (to.f - box.y) * dense);
    this.scale = to.a;
    return context;
  }

  colour(row, by) {
    const sort = row.kind & 3;
    if (sort === 3) return BUSY;
    if (sort === 2 || row.packet < 0) return ECHO;
    if (by === "state") return this.blocked.has(row.packet) ? BLOCKED : row.kind & 4 ? "#c8642b" : "#0b8a9c";
    const [from, to] = this.recording.ends(row.packet);
    return `hsl(${hue(this.numbers.get(by === "source" ? from : to))} 72% 45%)`;
  }

  wayOf(row) {
    if (row.bus < 0) return this.ways.get(row.link);
    const key = `${row.link}>${row.bus}`;
    if (!this.across.has(key)) {
      const [one, two] = [row.link, row.bus].map((port) => this.ways.get(port)?.points[0]);
      this.across.set(key, one && two ? straight(one, two) : null);
    }
    return this.across.get(key);
  }

  // Whether a packet is among those that are looked at: one end or a link of it has the words in its name.
  passes(packet, filter) {
    if (!filter || packet < 0) return !filter;
    const [from, to] = this.recording.ends(packet);
    if (`${from} ${to}`.toLowerCase().split(" ").includes(filter)) return true;
    return this.recording.byPacket.get(packet).some((row) => (this.fabric.links[row.link] ?? "").toLowerCase().split(/[>#]/).includes(filter));
  }

  draw(now, { by, filter, followed }) {
    if (!this.recording) return;
    this.last = [now, { by, filter, followed }];
    const context = this.begin(), rows = this.recording.at(now);
    this.shown = rows.filter((row) => this.passes(row.packet, filter));
    const heads = new Map();
    for (const row of this.shown) if (row.packet >= 0 && !(heads.get(row.packet)?.begin > row.begin)) heads.set(row.packet, row);
    this.blocked = new Map([...heads].filter(([, row]) => this.recording.waits(row, now)));
    context.lineCap = "butt";
    this.failed = failures(context, this, now);
    for (const row of this.shown) this.worm(context, row, now, by, followed);
    for (const [packet, row] of this.blocked) this.head(context, row, followed < 0 ? this.blocked.size < 120 : packet === followed);
    if (this.recording.losses.length) losses(context, this, now);
    if (this.scale * this.shown.length < 4000) this.buffers(context, now);
    queues(context, this, now);
    const { cycle } = this.recording.data;
    if (cycle.length && now >= this.recording.until - 1e-3 * this.recording.stay) this.circle(context, cycle);
  }

  worm(context, row, now, by, followed) {
    const way = this.wayOf(row), mine = followed >= 0 && row.packet === followed, stands = this.blocked.has(row.packet);
    const [tail, head] = this.recording.stretch(row, now), echo = (row.kind & 3) > 1;
    context.globalAlpha = followed < 0 || mine ? 1 : 0.16;
    context.strokeStyle = context.fillStyle = this.colour(row, by);
    if (!way) { this.dot(context, row, head > tail); return; }
    if (head - tail < 0.01) return;
    const wide = way.wide ?? 3;
    context.lineWidth = echo ? 0.5 * wide : wide * (mine ? 1.7 : row.kind & 4 ? 1.4 : 1);
    context.setLineDash(stands ? [0.8 * wide, 0.5 * wide] : []);
    context.beginPath();
    way.trace(context, tail * way.length, head * way.length);
    context.stroke();
    context.setLineDash([]);
    if (!echo && !stands && head < 1) this.arrow(context, way.place(head * way.length));
  }

  // What is on a terminal's link that the drawing has no room for stands as a ring around its dot.
  dot(context, row, there) {
    const dot = this.dots.get(row.link);
    if (!dot || !there) return;
    context.beginPath();
    context.arc(dot.x, dot.y, dot.r + 1.2, 0, 7);
    context.fill();
  }

  arrow(context, { x, y, angle }) {
    const long = 5.2;
    context.beginPath();
    context.moveTo(x + long * Math.cos(angle), y + long * Math.sin(angle));
    for (const turn of [2.3, -2.3]) context.lineTo(x + long * Math.cos(angle + turn), y + long * Math.sin(angle + turn));
    context.fill();
  }

  // The head of a packet that waits: a bar across its link, and a thread to the output that it waits for.
  head(context, row, threads) {
    const way = this.ways.get(row.link), dot = this.dots.get(row.link), at = way ? way.place(way.length) : dot && { ...dot, angle: 0 };
    if (!at) return;
    context.globalAlpha = 1;
    context.strokeStyle = BLOCKED;
    context.lineWidth = 2.6;
    const [x, y] = [Math.cos(at.angle + Math.PI / 2) * 5.5, Math.sin(at.angle + Math.PI / 2) * 5.5];
    context.beginPath();
    context.moveTo(at.x - x, at.y - y);
    context.lineTo(at.x + x, at.y + y);
    context.stroke();
    const wanted = this.ways.get(row.wants)?.place(0) ?? this.dots.get(row.wants);
    if (!wanted || !threads) return;
    context.lineWidth = 1.1;
    context.setLineDash([2, 2.4]);
    context.beginPath();
    context.moveTo(at.x, at.y);
    context.lineTo(wanted.x, wanted.y);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(wanted.x, wanted.y, 3.6, 0, 7);
    context.stroke();
  }

  // Input buffers as gauges beside the end of their link.
  buffers(context, now) {
    const fills = new Map();
    for (const row of this.shown) { const fill = this.recording.fill(row, now); if (fill > (fills.get(row.link) ?? 0)) fills.set(row.link, fill); }
    this.fills = fills;
    context.globalAlpha = 1;
    context.setLineDash([]);
    for (const [link, fill] of fills) {
      const way = this.ways.get(link);
      if (!way || way.length < 14 || fill < 0.03) continue;
      const at = way.place(way.length - 7), side = at.angle + Math.PI / 2;
      context.save();
      context.translate(at.x + 6.4 * Math.cos(side), at.y + 6.4 * Math.sin(side));
      context.rotate(at.angle);
      context.fillStyle = "#fff";
      context.strokeStyle = "#5c676d";
      context.lineWidth = 0.7;
      context.fillRect(-6, -1.9, 12, 3.8);
      context.fillStyle = fill > 0.98 ? BLOCKED : "#e09a2b";
      context.fillRect(-6, -1.9, 12 * fill, 3.8);
      context.strokeRect(-6, -1.9, 12, 3.8);
      context.restore();
    }
  }

  circle(context, cycle) {
    context.globalAlpha = 1;
    context.strokeStyle = context.fillStyle = CYCLE;
    context.lineWidth = 6;
    for (const link of cycle) {
      const way = this.ways.get(link), dot = this.dots.get(link);
      context.beginPath();
      if (way) { way.trace(context, 0, way.length); context.stroke(); this.arrow(context, way.place(way.length * 0.6)); }
      else if (dot) { context.arc(dot.x, dot.y, dot.r + 2.5, 0, 7); context.fill(); }
    }
  }

  // The packet nearest to a place of the window.
  near(x, y) {
    const to = this.fabric.place.querySelector("svg").getScreenCTM().inverse(), px = to.a * x + to.e, py = to.d * y + to.f;
    let best = -1, least = 9;
    for (const row of this.shown) {
      const way = this.wayOf(row);
      if (row.packet < 0 || !way) continue;
      const [tail, head] = this.recording.stretch(row, this.last[0]);
      for (let part = 0; part <= 8; part++) {
        const at = way.place((tail + (head - tail) * part / 8) * way.length), far = Math.hypot(at.x - px, at.y - py);
        if (far < least) [best, least] = [row.packet, far];
      }
    }
    return best;
  }
}
