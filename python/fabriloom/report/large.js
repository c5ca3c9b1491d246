"use strict";
/* global reaching, twgl */
// Draws a fabric of very many links by WebGL, with the same means as the smaller drawings: colours, marks, tips, keys.
const large = (() => {
  const NEAR_PX = 8, MOST_ZOOM = 400, STEP = 1.35, NAMED = 150, NAME_PX = 46, MARKED = 2;

  // Two points per link, beside its middle line: the two directions of a cable lie side by side.
  const LINE = `
    attribute vec2 here; attribute vec2 there; attribute float side; attribute float share;
    uniform vec2 scale; uniform vec2 shift; uniform vec2 pixel; uniform vec3 stops[6]; uniform vec3 mark; uniform float pass;
    varying vec4 colour;
    void main() {
      vec2 way = (there - here) * scale / pixel * side;
      vec2 right = length(way) > 0.0 ? vec2(way.y, -way.x) / length(way) : vec2(0.0);
      gl_Position = vec4(here * scale + shift + right * pixel * (pass > 0.5 ? 2.0 + pass : 2.0), 0.0, 1.0);
      float place = clamp(share, 0.0, 1.0) * 5.0;
      vec3 warm = stops[5];
      for (int at = 0; at < 5; at++) if (place >= float(at) && place < float(at + 1)) warm = mix(stops[at], stops[at + 1], place - float(at));
      bool marked = share > 1.5;
      // Marked links are drawn again, beside themselves, so that they are thick.
      colour = vec4(marked ? mark : warm, pass > 0.5 && !marked ? 0.0 : 1.0);
    }`;
  const POINT = `
    attribute vec2 here; uniform vec2 scale; uniform vec2 shift; uniform float size; uniform vec4 ink; varying vec4 colour;
    void main() { gl_Position = vec4(here * scale + shift, 0.0, 1.0); gl_PointSize = size; colour = ink; }`;
  const PAINT = "precision mediump float; varying vec4 colour; void main() { if (colour.a < 0.5) discard; gl_FragColor = vec4(colour.rgb, 1.0); }";

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

  class Large {
    // `parts`: as `report/drawing/plan.py` makes them; `act`: {point(link, x, y), open(link, event), close(), moved()}.
    constructor(place, parts, act) {
      Object.assign(this, { place, act, names: parts.names, switches: parts.switches, places: new Float32Array(bytes(parts.places)), ends: new Uint32Array(bytes(parts.ends)), marks: [], chosen: -1 });
      this.links = this.ends.length / 2;
      this.shares = new Float32Array(this.links);
      this.canvas = Object.assign(document.createElement("canvas"), { className: "large", tabIndex: 0, ariaLabel: "The drawn fabric. Left and right: the next link; up and down: the next warmer or cooler one; Enter: its numbers; plus, minus and 0: enlarge, reduce, all." });
      this.canvas.setAttribute("role", "application");
      this.over = Object.assign(document.createElement("canvas"), { className: "over" });
      this.over.setAttribute("aria-hidden", "true");
      this.bar = this.buttons();
      place.append(this.canvas, this.over, this.bar);
      this.gl = this.canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
      if (!this.gl) { place.append(Object.assign(document.createElement("p"), { className: "note", textContent: "This browser has no WebGL, which the drawing of a large fabric needs." })); return; }
      this.fill();
      this.whole = this.bounds();
      this.view = { ...this.whole };
      this.listen();
      reaching.turned.push(() => this.draw());
      new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    buttons() {
      const bar = Object.assign(document.createElement("div"), { className: "zoom over-it" });
      const button = (text, label, click) => Object.assign(document.createElement("button"), { type: "button", textContent: text, ariaLabel: label, title: label, onclick: click });
      bar.append(button("+", "Enlarge the drawing", () => this.by(STEP)), button("−", "Make the drawing smaller", () => this.by(1 / STEP)), button("⤢", "The whole drawing", () => this.to({ ...this.whole })));
      return bar;
    }

    fill() {
      const { links, places, ends } = this, here = new Float32Array(4 * links), there = new Float32Array(4 * links), side = new Float32Array(2 * links);
      for (let link = 0; link < links; link++) for (const end of [0, 1]) {
        const at = 2 * link + end, [one, other] = [ends[at], ends[2 * link + 1 - end]];
        here.set([places[2 * one], places[2 * one + 1]], 2 * at);
        there.set([places[2 * other], places[2 * other + 1]], 2 * at);
        side[at] = end ? -1 : 1;
      }
      const { gl } = this, two = (data) => ({ numComponents: 2, data });
      this.line = twgl.createProgramInfo(gl, [LINE, PAINT]);
      this.point = twgl.createProgramInfo(gl, [POINT, PAINT]);
      this.lines = twgl.createBufferInfoFromArrays(gl, { here: two(here), there: two(there), side: { numComponents: 1, data: side }, share: { numComponents: 1, data: new Float32Array(2 * links), drawType: gl.DYNAMIC_DRAW } });
      const count = 2 * this.switches;
      this.boxes = twgl.createBufferInfoFromArrays(gl, { here: two(places.slice(0, Math.max(count, 2))) });
      this.dots = twgl.createBufferInfoFromArrays(gl, { here: two(places.slice(count)) });
    }

    bounds() {
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      for (let at = 0; at < this.places.length; at += 2) {
        left = Math.min(left, this.places[at]); right = Math.max(right, this.places[at]);
        top = Math.min(top, this.places[at + 1]); bottom = Math.max(bottom, this.places[at + 1]);
      }
      const edge = 0.02 * Math.max(right - left, bottom - top) + 10;
      return { x: left - edge, y: top - edge, width: right - left + 2 * edge, height: bottom - top + 2 * edge };
    }

    // Pixels per unit, and where the origin of the drawing is in the place.
    matrix() {
      const { clientWidth: wide, clientHeight: high } = this.canvas, { x, y, width, height } = this.view;
      const a = Math.min(wide / width, high / height) || 1;
      return { a, e: (wide - a * width) / 2 - a * x + this.canvas.offsetLeft, f: (high - a * height) / 2 - a * y + this.canvas.offsetTop };
    }

    // Colours links by their share, 0 to 1 of the warmest.
    paint(shares) {
      this.shares = Float32Array.from({ length: this.links }, (_, link) => shares[link] ?? 0);
      this.draw();
    }

    mark(links) {
      this.marks = links.filter((link) => link >= 0);
      this.draw();
    }

    // At most once a frame.
    draw() {
      if (this.asked || !this.gl) return;
      this.asked = true;
      requestAnimationFrame(() => { this.asked = false; this.now(); });
    }

    now() {
      const { gl, line, point, canvas } = this;
      if (!canvas.clientWidth) return;
      twgl.resizeCanvasToDisplaySize(canvas, devicePixelRatio || 1);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(...rgb(reaching.ink("--card")), 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const shares = new Float32Array(2 * this.links);
      for (let at = 0; at < shares.length; at++) shares[at] = this.shares[at >> 1];
      for (const link of [...this.marks, ...(this.chosen < 0 ? [] : [this.chosen])]) shares[2 * link] = shares[2 * link + 1] = MARKED;
      twgl.setAttribInfoBufferFromArray(gl, this.lines.attribs.share, shares);
      const { a, e, f } = this.matrix(), [wide, high] = [canvas.clientWidth, canvas.clientHeight];
      const scale = [2 * a / wide, -2 * a / high], shift = [2 * (e - canvas.offsetLeft) / wide - 1, 1 - 2 * (f - canvas.offsetTop) / high], pixel = [1 / wide, 1 / high];
      const stops = reaching.ink("--ramp").split(",").flatMap((stop) => rgb(stop.trim()));
      gl.useProgram(line.program);
      twgl.setBuffersAndAttributes(gl, line, this.lines);
      for (const pass of this.marks.length || this.chosen >= 0 ? [0, 1, 2, 3, 4] : [0]) {
        twgl.setUniforms(line, { scale, shift, pixel, stops, mark: rgb(reaching.ink("--cycle")), pass });
        twgl.drawBufferInfo(gl, this.lines, gl.LINES);
      }
      const size = (units) => Math.max(1, Math.min(26, units * a)) * (devicePixelRatio || 1);
      gl.useProgram(point.program);
      for (const [buffer, units, ink, count] of [[this.dots, 5, "--line", this.places.length / 2 - this.switches], [this.boxes, 10, "--line", this.switches]]) {
        if (!count) continue;
        twgl.setBuffersAndAttributes(gl, point, buffer);
        twgl.setUniforms(point, { scale, shift, size: size(units), ink: [...rgb(reaching.ink(ink)), 1] });
        twgl.drawBufferInfo(gl, buffer, gl.POINTS, count);
      }
      this.write(a, e, f);
      this.act.moved?.();
    }

    // The names of switches, once they have room.
    write(a, e, f) {
      const { over, canvas } = this, dense = devicePixelRatio || 1, context = over.getContext("2d");
      Object.assign(over, { width: canvas.width, height: canvas.height });
      Object.assign(over.style, { left: `${canvas.offsetLeft}px`, top: `${canvas.offsetTop}px`, width: `${canvas.clientWidth}px`, height: `${canvas.clientHeight}px` });
      if (40 * a < NAME_PX) return;
      context.scale(dense, dense);
      Object.assign(context, { font: "11px system-ui, sans-serif", textAlign: "center", fillStyle: reaching.ink("--ink"), strokeStyle: reaching.ink("--card"), lineWidth: 3 });
      let left = NAMED;
      for (let at = 0; at < this.switches && left; at++) {
        const x = a * this.places[2 * at] + e - canvas.offsetLeft, y = a * this.places[2 * at + 1] + f - canvas.offsetTop;
        if (x < 0 || y < 0 || x > canvas.clientWidth || y > canvas.clientHeight) continue;
        left -= 1;
        context.strokeText(this.names[at], x, y - 12);
        context.fillText(this.names[at], x, y - 12);
      }
    }

    // The link nearest to a position in the window; -1 for none.
    near(clientX, clientY) {
      const box = this.place.getBoundingClientRect(), { a, e, f } = this.matrix(), x = (clientX - box.x - e) / a, y = (clientY - box.y - f) / a;
      let best = -1, least = (NEAR_PX / a) ** 2;
      for (let link = 0; link < this.links; link++) {
        const one = 2 * this.ends[2 * link], two = 2 * this.ends[2 * link + 1], px = this.places[one], py = this.places[one + 1];
        const dx = this.places[two] - px, dy = this.places[two + 1] - py, long = dx * dx + dy * dy;
        const part = long ? Math.min(1, Math.max(0, ((x - px) * dx + (y - py) * dy) / long)) : 0, ox = px + part * dx - x, oy = py + part * dy - y;
        // Of the two directions of a cable, that on whose right-hand side the position is.
        const far = ox * ox + oy * oy + ((x - px) * dy - (y - py) * dx > 0 ? 1e-9 : 0);
        if (far < least) [best, least] = [link, far];
      }
      return best;
    }

    by(factor, clientX, clientY) {
      const box = this.place.getBoundingClientRect(), { a, e, f } = this.matrix(), { view, whole } = this;
      const width = Math.min(whole.width, Math.max(whole.width / MOST_ZOOM, view.width / factor)), share = width / view.width;
      const x = clientX === undefined ? view.x + view.width / 2 : (clientX - box.x - e) / a, y = clientX === undefined ? view.y + view.height / 2 : (clientY - box.y - f) / a;
      this.to({ x: x - (x - view.x) * share, y: y - (y - view.y) * share, width, height: view.height * share });
    }

    to(view) {
      this.view = view;
      this.place.classList.toggle("zoomed", view.width < this.whole.width);
      this.draw();
    }

    choose(link) {
      this.chosen = link;
      this.draw();
      if (link < 0) { this.act.point(-1); return; }
      const box = this.place.getBoundingClientRect(), { a, e, f } = this.matrix(), [one, two] = [2 * this.ends[2 * link], 2 * this.ends[2 * link + 1]];
      this.act.point(link, box.x + e + a * (this.places[one] + this.places[two]) / 2, box.y + f + a * (this.places[one + 1] + this.places[two + 1]) / 2);
    }

    // The link to which a key leads; up and down follow the colours.
    after(key) {
      if (key === "ArrowRight" || key === "ArrowLeft") return Math.min(this.links - 1, Math.max(0, this.chosen + (key === "ArrowRight" ? 1 : -1)));
      const order = Array.from({ length: this.links }, (_, link) => link).sort((a, b) => this.shares[b] - this.shares[a] || a - b);
      const at = order.indexOf(this.chosen) + (key === "ArrowDown" || this.chosen < 0 ? 1 : -1);
      return order[Math.min(this.links - 1, Math.max(0, at))];
    }

    listen() {
      const { canvas, place } = this;
      canvas.addEventListener("pointermove", (event) => { if (!this.dragged) { const link = this.near(event.clientX, event.clientY); this.act.point(link, event.clientX, event.clientY); } });
      canvas.addEventListener("pointerleave", () => this.act.point(-1));
      canvas.addEventListener("click", (event) => { const link = this.near(event.clientX, event.clientY); if (link >= 0) this.act.open(link, event); });
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.by(event.deltaY < 0 ? STEP : 1 / STEP, event.clientX, event.clientY);
      }, { passive: false });
      canvas.addEventListener("pointerdown", (event) => {
        if (this.view.width >= this.whole.width || event.button) return;
        let [x, y] = [event.clientX, event.clientY];
        const move = (moved) => {
          const { a } = this.matrix();
          this.dragged = true;
          this.to({ ...this.view, x: this.view.x - (moved.clientX - x) / a, y: this.view.y - (moved.clientY - y) / a });
          [x, y] = [moved.clientX, moved.clientY];
        };
        const end = () => { this.dragged = false; removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
        addEventListener("pointermove", move);
        addEventListener("pointerup", end);
      });
      place.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey || event.target !== canvas) return;
        const acts = { "+": () => this.by(STEP), "=": () => this.by(STEP), "-": () => this.by(1 / STEP), 0: () => this.to({ ...this.whole }), Escape: () => { this.choose(-1); this.act.close(); }, Enter: () => this.chosen >= 0 && this.act.open(this.chosen, event) };
        const act = acts[event.key] ?? (event.key.startsWith("Arrow") ? () => this.choose(this.after(event.key)) : null);
        if (!act) return;
        event.preventDefault();
        act();
      });
    }
  }

  return { Large };
})();
