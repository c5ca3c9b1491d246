// Packets on the drawn fabric: a canvas over the drawing, so that thousands of links cost nothing while packets move.
/* global reaching */
import { Lines, straight, waysOf } from "./geometry.js";
import { codes, failures, losses, queues } from "./marks.js";
import { Recording } from "./recording.js";

const ARROW = 5.2;
// With more packets than this, leave out details that the eye could not distinguish, so that a frame takes half the
// time: dashes (blocked packets are thin), arrowheads, buffer gauges, and two of three colours.
const DENSE = 900, DENSE_HUES = 16;
// Number of ends with their own colour; more could not be distinguished, and packets of one colour are drawn in one
// stroke.
const HUES = 48;
const hue = (number) => `hsl(${(number * 137.508) % 360} 72% ${reaching.ink("--hue")})`;

export class Packets {
  constructor(fabric) {
    this.fabric = fabric;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "packets";
    this.canvas.setAttribute("aria-hidden", "true");
    this.recording = null;
    this.shown = [];
  }

  load(data) {
    this.recording = new Recording(data, this.fabric.links);
    // What was shown is of the recording before.
    this.shown = [];
    this.over = null;
    this.fabric.place.append(this.canvas);
    if (this.drawing !== this.fabric.drawn) {
      this.drawing = this.fabric.drawn;
      Object.assign(this, this.fabric.large ? { ways: new Lines(this.fabric.large), dots: new Map() } : waysOf(this.fabric.place));
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

  again() {
    this.over = null;
    if (this.recording && this.last) this.draw(...this.last);
  }

  // The position of the drawing in the canvas; queried when it changes, not for every frame.
  lie() {
    const box = this.fabric.place.getBoundingClientRect(), to = this.fabric.matrix(), dense = devicePixelRatio || 1;
    const [wide, high] = [box.width, box.height].map((size) => Math.round(size * dense));
    return { wide, high, scale: to.a, dense, matrix: [to.a * dense, to.b * dense, to.c * dense, to.d * dense, (to.e - box.x) * dense, (to.f - box.y) * dense] };
  }

  // Puts the canvas over the drawing, in the units of the drawing at any zoom.
  begin() {
    if (this.over?.dense !== (devicePixelRatio || 1)) this.over = this.lie();
    const { wide, high, scale, matrix } = this.over, context = this.canvas.getContext("2d");
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, { width: wide, height: high });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.setTransform(...matrix);
    this.scale = scale;
    // Far away a packet is still seen.
    if (this.fabric.large) this.ways.wide = Math.max(3, 1.8 / scale);
    return context;
  }

  colour(row, by) {
    const sort = row.kind & 3;
    if (sort === 3) return reaching.ink("--busy");
    if (sort === 2 || row.packet < 0) return reaching.ink("--echo");
    if (by === "state") return reaching.ink(this.blocked.has(row.packet) ? "--blocked" : row.kind & 4 ? "--again" : "--moving");
    const [from, to] = this.recording.ends(row.packet);
    return hue(this.numbers.get(by === "source" ? from : to) % (this.dense ? DENSE_HUES : HUES));
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

  // Whether a packet passes the filter: the name of an end or of a link contains the words.
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
    this.dense = this.shown.length > DENSE;
    const heads = new Map();
    for (const row of this.shown) if (row.packet >= 0 && !(heads.get(row.packet)?.begin > row.begin)) heads.set(row.packet, row);
    this.blocked = new Map([...heads].filter(([, row]) => this.recording.waits(row, now)));
    context.lineCap = "butt";
    this.failed = failures(context, this, now);
    this.worms(context, now, by, followed);
    this.heads(context, followed);
    if (this.recording.codes.length) codes(context, this, now);
    if (this.recording.losses.length) losses(context, this, now);
    if (!this.dense) this.buffers(context, now);
    queues(context, this, now);
    const { cycle } = this.recording.data;
    if (cycle.length && now >= this.recording.until - 1e-3 * this.recording.stay) this.circle(context, cycle);
  }

  // Draw worms that look the same as one path: a stroke costs more than its contents.
  worms(context, now, by, followed) {
    const layers = new Map(), arrows = !this.dense && (this.shown.length < 500 || this.scale * ARROW > 3.5);
    for (const row of this.shown) {
      const [tail, head] = this.recording.stretch(row, now), way = this.wayOf(row);
      if (way ? head - tail < 0.01 : head <= tail) continue;
      const echo = (row.kind & 3) > 1, mine = followed >= 0 && row.packet === followed, stands = this.blocked.has(row.packet);
      const wide = (way?.wide ?? 3) * (echo || (stands && this.dense) ? 0.5 : mine ? 1.7 : row.kind & 4 ? 1.4 : 1), colour = this.colour(row, by), faint = followed >= 0 && !mine;
      const look = `${colour}${wide}${stands}${faint}`;
      if (!layers.has(look)) layers.set(look, { colour, wide, stands, faint, strokes: new Path2D(), fills: new Path2D(), dots: [] });
      const { strokes, fills, dots } = layers.get(look);
      if (!way) { if (this.dots.has(row.link)) dots.push(this.dots.get(row.link)); continue; }
      way.trace(strokes, tail * way.length, head * way.length);
      if (arrows && !echo && !stands && head < 1) this.arrow(fills, way.place(head * way.length));
    }
    for (const { colour, wide, stands, faint, strokes, fills, dots } of layers.values()) {
      context.globalAlpha = faint ? 0.16 : 1;
      context.strokeStyle = context.fillStyle = colour;
      context.lineWidth = wide;
      context.setLineDash(stands && !this.dense ? [0.8 * wide, 0.5 * wide] : []);
      context.stroke(strokes);
      context.fill(fills);
      this.discs(context, dots);
    }
    context.setLineDash([]);
  }

  // A packet on a terminal's link without room in the drawing is a disc over the dot. Small ones are crosses of two
  // rectangles: the difference is invisible, and a thousand arcs take longer than the rest of a frame.
  discs(context, dots) {
    for (const { x, y, r } of dots) {
      const wide = r + 1.2, slim = 0.62 * wide;
      if (wide * this.scale < 5) {
        context.fillRect(x - wide, y - slim, 2 * wide, 2 * slim);
        context.fillRect(x - slim, y - wide, 2 * slim, 2 * wide);
        continue;
      }
      context.beginPath();
      context.arc(x, y, wide, 0, 7);
      context.fill();
    }
  }

  arrow(path, { x, y, angle }) {
    path.moveTo(x + ARROW * Math.cos(angle), y + ARROW * Math.sin(angle));
    for (const turn of [2.3, -2.3]) path.lineTo(x + ARROW * Math.cos(angle + turn), y + ARROW * Math.sin(angle + turn));
    path.closePath();
  }

  // Draws the heads of waiting packets: a bar across the link, and a thread to the requested output.
  heads(context, followed) {
    const bars = new Path2D(), threads = new Path2D(), rings = new Path2D();
    for (const [packet, row] of this.blocked) {
      const way = this.ways.get(row.link), dot = this.dots.get(row.link), at = way ? way.place(way.length) : dot && { ...dot, angle: 0 };
      if (!at) continue;
      const [x, y] = [Math.cos(at.angle + Math.PI / 2) * 5.5, Math.sin(at.angle + Math.PI / 2) * 5.5];
      bars.moveTo(at.x - x, at.y - y);
      bars.lineTo(at.x + x, at.y + y);
      const wanted = (followed < 0 ? this.blocked.size < 120 : packet === followed) && (this.ways.get(row.wants)?.place(0) ?? this.dots.get(row.wants));
      if (!wanted) continue;
      threads.moveTo(at.x, at.y);
      threads.lineTo(wanted.x, wanted.y);
      rings.moveTo(wanted.x + 3.6, wanted.y);
      rings.arc(wanted.x, wanted.y, 3.6, 0, 7);
    }
    Object.assign(context, { globalAlpha: 1, strokeStyle: reaching.ink("--blocked"), lineWidth: 2.6 });
    context.stroke(bars);
    context.lineWidth = 1.1;
    context.stroke(rings);
    context.setLineDash([2, 2.4]);
    context.stroke(threads);
    context.setLineDash([]);
  }

  // Draws input buffers as gauges beside the end of their link.
  buffers(context, now) {
    const fills = new Map();
    for (const row of this.shown) { const fill = this.recording.fill(row, now); if (fill > (fills.get(row.link) ?? 0)) fills.set(row.link, fill); }
    this.fills = fills;
    const [whole, full, part] = [new Path2D(), new Path2D(), new Path2D()];
    for (const [link, fill] of fills) {
      const way = this.ways.get(link);
      if (!way || way.length < 14 || fill < 0.03) continue;
      const { x, y, angle } = way.place(way.length - 7), [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const bar = (path, long) => {
        const corner = (along, off) => [x + along * cos - (6.4 + off) * sin, y + along * sin + (6.4 + off) * cos];
        path.moveTo(...corner(-6, -1.9));
        for (const [along, off] of [[long - 6, -1.9], [long - 6, 1.9], [-6, 1.9]]) path.lineTo(...corner(along, off));
        path.closePath();
      };
      bar(whole, 12);
      bar(fill > 0.98 ? full : part, 12 * fill);
    }
    context.globalAlpha = 1;
    for (const [path, colour] of [[whole, "--card"], [part, "--gauge"], [full, "--blocked"]]) {
      context.fillStyle = reaching.ink(colour);
      context.fill(path);
    }
    Object.assign(context, { strokeStyle: reaching.ink("--soft"), lineWidth: 0.7 });
    context.stroke(whole);
  }

  circle(context, cycle) {
    context.globalAlpha = 1;
    context.strokeStyle = context.fillStyle = reaching.ink("--cycle");
    context.lineWidth = 6;
    for (const link of cycle) {
      const way = this.ways.get(link), dot = this.dots.get(link);
      context.beginPath();
      if (way) { way.trace(context, 0, way.length); context.stroke(); context.beginPath(); this.arrow(context, way.place(way.length * 0.6)); context.fill(); }
      else if (dot) { context.arc(dot.x, dot.y, dot.r + 2.5, 0, 7); context.fill(); }
    }
  }

  // The packet nearest to a position in the window.
  near(x, y) {
    const to = this.fabric.matrix(), px = (x - to.e) / to.a, py = (y - to.f) / to.d;
    let best = -1, least = this.fabric.large ? 9 / to.a : 9;
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
