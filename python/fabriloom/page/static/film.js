/* global reaching */
// Saves the visible fabrics as a picture, or their replay as a film: drawings with packets, side by side.

const FRAMES_PER_S = 25, MOST_S = 60, GAP = 16, HEAD = 30, FOOT = 26, HEADER_BYTES = 500, PATIENCE_MS = 8000;

export const canFilm = () => Boolean(globalThis.MediaRecorder?.isTypeSupported("video/webm"));

// A drawing as an image; rendered again only after it was zoomed or redrawn.
class Backdrop {
  async fresh(svg) {
    const { width, height } = svg.getBoundingClientRect(), of = `${svg.getAttribute("viewBox")} ${width} ${height} ${svg.outerHTML.length} ${reaching.ink("--card")}`;
    if (of === this.of) return;
    this.of = of;
    this.image = await reaching.imageOf(reaching.copied(svg));
  }
}

export class Stage {
  // `cards`: the fabrics; `moment`: the shown time, as text.
  constructor(cards, moment) {
    Object.assign(this, { cards, moment, canvas: document.createElement("canvas"), backdrops: cards.map(() => new Backdrop()) });
  }

  async prepare() {
    await Promise.all(this.cards.map((card, at) => card.fabric.large || this.backdrops[at].fresh(card.fabric.place.querySelector("svg"))));
    const boxes = this.cards.map((card) => card.fabric.place.getBoundingClientRect());
    const wide = boxes.reduce((sum, box) => sum + box.width, GAP * (boxes.length - 1)), high = HEAD + Math.max(...boxes.map((box) => box.height)) + FOOT;
    // Video encoders need even dimensions.
    const [width, height] = [wide, high].map((size) => 2 * Math.ceil(size / 2));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
  }

  draw() {
    const context = this.canvas.getContext("2d"), style = getComputedStyle(document.body), ink = style.color;
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.font = `600 15px ${style.fontFamily}`;
    let left = 0;
    this.cards.forEach((card, at) => {
      const place = card.fabric.place, box = place.getBoundingClientRect(), lines = card.fabric.large?.canvas, drawn = (lines ?? place.querySelector("svg")).getBoundingClientRect();
      const backdrop = lines ?? this.backdrops[at].image;
      context.fillStyle = ink;
      context.fillText(card.title.textContent, left + 4, 20, box.width - 8);
      context.fillStyle = getComputedStyle(place).backgroundColor;
      context.fillRect(left, HEAD, box.width, box.height);
      if (backdrop) context.drawImage(backdrop, left + drawn.x - box.x, HEAD + drawn.y - box.y, drawn.width, drawn.height);
      if (card.packets.canvas.isConnected && card.packets.canvas.width) context.drawImage(card.packets.canvas, left, HEAD, box.width, box.height);
      left += box.width + GAP;
    });
    context.fillStyle = ink;
    context.fillText(this.moment(), 4, this.canvas.height - 8);
  }

  async picture() {
    await this.prepare();
    this.draw();
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }
}

// Records a film until it is stopped, at most for a minute; calls `ended` with the film.
export class Film {
  constructor(stage, ended) {
    Object.assign(this, { stage, ended, parts: [] });
  }

  async begin() {
    await this.stage.prepare();
    this.stage.draw();
    this.recorder = new MediaRecorder(this.stage.canvas.captureStream(FRAMES_PER_S), { mimeType: "video/webm", videoBitsPerSecond: 4e6 });
    this.recorder.ondataavailable = ({ data }) => { if (data.size) this.parts.push(data); };
    this.recorder.onstop = () => { clearInterval(this.clock); this.ended(new Blob(this.parts, { type: "video/webm" })); };
    this.recorder.start(200);
    this.clock = setInterval(() => { this.stage.prepare().then(() => this.stage.draw()); }, 1000 / FRAMES_PER_S);
    this.limit = setTimeout(() => this.stop(), 1000 * MOST_S);
  }

  // On a busy machine an encoder takes seconds to its first frame: do not end a film before it has one.
  stop() {
    clearTimeout(this.limit);
    const asked = performance.now(), done = setInterval(() => {
      const waited = performance.now() - asked, frames = this.parts.reduce((sum, part) => sum + part.size, 0) > HEADER_BYTES;
      if (waited < 300 || (!frames && waited < PATIENCE_MS)) return;
      clearInterval(done);
      if (this.recorder?.state === "recording") this.recorder.stop();
    }, 100);
  }
}
