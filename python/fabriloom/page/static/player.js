// The clock of the replay, common to both fabrics, with the buttons that lead to interesting times.
import { Film, Stage, canFilm } from "./film.js";

// Number of packets that enter a link per second at the usual speed: few enough to follow, and enough to avoid pauses.
const BEGIN_PER_S = 16;
const SPEEDS = [["very slow", 0.1], ["slow", 0.35], ["usual", 1], ["fast", 4], ["very fast", 20]];
const MANY_ENDS = 48;
const COLOURS = [["destination", "destination"], ["state", "state"], ["source", "source"]];

const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const micro = (ns, digits = 2) => (ns < 1e7 ? `${(ns / 1e3).toFixed(digits)} µs` : `${(ns / 1e6).toFixed(4)} ms`);

export class Player {
  // `legend`: the place of the legend; `views`: the packets of each fabric; `further`: records the end of the run;
  // `saved`: gets a picture or film of the drawing, with its file extension.
  constructor(place, legend, views, further, cards, saved) {
    Object.assign(this, { place, legend, views, further, cards, saved, now: 0, from: 0, until: 1, followed: -1, side: 0, playing: false, filter: "" });
    this.controls();
  }

  controls() {
    const button = (text, act, label, name) => made("button", { type: "button", textContent: text, onclick: act, ariaLabel: label, id: name ?? "" });
    const choice = (label, options, chosen, act) => {
      const select = made("select", { onchange: () => act(select.value) }, ...options.map(([value, text]) => new Option(text, value, value === chosen, value === chosen)));
      return made("label", {}, label, select);
    };
    this.play = button("Play", () => this.toggle(), "Play or pause", "play");
    this.jumps = {
      blocking: button("Next blocking", () => this.blocking(), "Jump to the next packet that is blocked", "next-blocking"),
      deadlock: button("Deadlock", () => this.deadlock(), "Jump to the deadlock", "to-deadlock"),
      loss: button("Next loss", () => this.loss(), "Jump to the next packet that is cut, discarded or timed out", "next-loss"),
      slowest: button("Slowest packet", () => this.slowest(), "Follow the packet that took longest", "to-slowest"),
    };
    this.picture = button("Save picture", () => this.shoot(), "Save what is seen as a PNG file", "save-picture");
    this.film = button("Save film", () => this.roll(), "Save the replay as a WebM film, from here to its end or until you press again", "save-film");
    this.film.hidden = !canFilm();
    this.file = button("Save replay", () => {}, "Save the replay as one HTML file that plays without Fabriloom", "save-replay");
    this.file.hidden = true;
    this.slider = made("input", { type: "range", min: 0, max: 10000, step: 1, ariaLabel: "Time" });
    this.slider.addEventListener("input", () => { this.pause(); this.show(this.from + (this.until - this.from) * this.slider.value / 10000); });
    this.time = made("output");
    this.speed = 1;
    this.by = "destination";
    this.colours = choice("Colour by ", COLOURS, "destination", (value) => { Object.assign(this, { by: value, byHand: true }); this.explain(); this.show(this.now); });
    this.follow = made("select", { ariaLabel: "Packet that is followed" });
    this.follow.addEventListener("change", () => { const [side, packet] = this.follow.value.split(":").map(Number); this.choose(packet, side); });
    for (const event of ["pointerdown", "focus"]) this.follow.addEventListener(event, () => this.offer());
    this.only = made("input", { id: "only", placeholder: "all", size: 9, ariaLabel: "Only packets from, to or over this terminal or switch" });
    this.only.setAttribute("list", "names");
    this.only.addEventListener("input", () => { this.filter = this.only.value.trim().toLowerCase(); this.show(this.now); });
    this.said = made("p", { className: "note moving", id: "replay-said" });
    this.count = made("output", { id: "replay-count" });
    this.place.replaceChildren(
      made("div", { className: "row" }, this.play, button("◂", () => this.step(-1), "One step back"), button("▸", () => this.step(1), "One step on"),
        this.slider, this.time),
      made("div", { className: "row" }, ...Object.values(this.jumps), this.picture, this.film, this.file),
      made("div", { className: "row moving" }, this.count),
      made("div", { className: "row moving" }, choice("Speed ", SPEEDS.map(([name, pace]) => [String(pace), name]), "1", (value) => { this.speed = Number(value); }),
        this.colours,
        made("label", {}, "Only ", this.only), made("label", {}, "Follow ", this.follow)),
      this.said, made("datalist", { id: "names" }),
    );
    this.place.hidden = true;
  }

  // Called when the recording of one fabric has arrived; the clock spans all recordings.
  loaded(said) {
    const all = this.views().map((view) => view.recording).filter(Boolean);
    this.pause();
    this.place.hidden = !all.length;
    if (!all.length) return;
    this.from = Math.min(...all.map((one) => one.from));
    this.until = Math.max(...all.map((one) => one.until));
    const rows = Math.max(...all.map((one) => one.rows.length / Math.max(1, one.until - one.from)));
    const stay = all[0].stay;
    this.pace = Math.min(20 * stay, Math.max(0.3 * stay, BEGIN_PER_S / Math.max(rows, 1e-12)));
    this.followed = -1;
    this.told = said;
    this.jumps.blocking.disabled = !all.some((one) => one.blockings.length);
    this.jumps.blocking.hidden = all.every((one) => one.data.rings);
    this.jumps.loss.hidden = !all.some((one) => one.losses.length);
    this.jumps.slowest.disabled = !all.some((one) => one.slowest.packet >= 0);
    for (const row of this.place.querySelectorAll(".row")) row.hidden = !all.some((one) => one.rows.length);
    this.place.querySelector("datalist").replaceChildren(...this.namesOf(all).map((name) => new Option(name)));
    // Too many destinations cannot be distinguished by colour.
    if (!this.byHand) this.colours.lastChild.value = this.by = Math.max(...this.views().map((view) => view.numbers?.size ?? 0)) > MANY_ENDS ? "state" : "destination";
    this.offer();
    this.explain();
    this.show(this.from);
    if (!this.wanted && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.toggle();
  }

  // Called when the recordings of all fabrics have arrived, or none will.
  complete() {
    if (!this.wanted) return;
    this.wanted = false;
    if (this.recordings().length) this.show(this.until);
  }

  namesOf(all) {
    const names = new Set(all.flatMap((one) => one.names.flatMap((link) => String(link).split(/[>#]/).slice(0, 2))));
    return [...names].slice(0, 3000);
  }

  clear() {
    this.pause();
    this.legend.replaceChildren();
    this.place.hidden = true;
    this.views().forEach((view) => view.clear());
  }

  explain() {
    const all = this.recordings().map((view) => view.recording), legend = this.legend;
    const rings = all.some((one) => one.data.rings), mark = (className, text) => [made("span", { className: `mark ${className}` }), text];
    const colours = this.by === "state" ? [mark("moves", "moves"), mark("stands", "blocked")] : [[`Colour: ${this.by}`]];
    const parts = rings
      ? [mark("echo", "echo"), mark("busy", "busy echo: comes again"), ["thick: sent again"], ["across a switch: over its bus"]]
      : [mark("blocked", "bar: a head that waits; thread: for which output"), mark("buffer", "buffer behind a link, how full")];
    if (all.some((one) => one.sources.length)) parts.push(mark("queue", "packets that wait at their source"));
    if (all.some((one) => one.data.outages?.some(([, , , stuck]) => !stuck))) parts.push(mark("down", "link that is down"));
    if (all.some((one) => one.data.outages?.some(([, , , stuck]) => stuck))) parts.push(mark("stuck", `${rings ? "station" : "terminal"} that is stuck`));
    if (all.some((one) => one.losses.length)) parts.push(mark("lost", "cross: packet lost; drops: its rest, discarded at the switch"));
    if (all.some((one) => one.data.cycle?.length)) parts.push(mark("cycle", "deadlock: packets that wait for each other in a cycle"));
    if (all.some((one) => one.codes.length)) parts.push(mark("code", "time-code, interrupt or broadcast"));
    legend.replaceChildren(...[...colours, ...parts].map((part) => made("span", {}, ...part)));
  }

  // The actions of keys if no element that uses them has the focus.
  get keys() {
    const step = (way) => () => this.step(way);
    const jump = (name) => () => { if (!this.jumps[name].disabled && !this.jumps[name].hidden) this.jumps[name].click(); };
    return { " ": () => this.toggle(), ",": step(-1), ".": step(1), b: jump("blocking"), l: jump("loss"), d: jump("deadlock"), s: jump("slowest") };
  }

  // ---- time ----

  toggle() {
    if (this.playing) { this.pause(); return; }
    if (this.now >= this.until) this.now = this.from;
    this.playing = true;
    this.play.textContent = "Pause";
    let before = performance.now();
    const frame = (at) => {
      if (!this.playing) return;
      const next = this.now + Math.min(0.1, (at - before) / 1000) * this.pace * this.speed;
      before = at;
      this.show(this.busyFrom(next));
      if (this.now < this.until) { requestAnimationFrame(frame); return; }
      this.pause();
      // Show the end for a moment.
      if (this.rolling) setTimeout(() => this.rolling?.stop(), 600);
    };
    requestAnimationFrame(frame);
  }

  // If nothing moves, jump to the next packet.
  busyFrom(next) {
    const all = this.views().map((view) => view.recording).filter(Boolean);
    if (all.some((one) => one.at(next).length)) return next;
    return Math.max(next, Math.min(...all.map((one) => one.nextBegin(next) ?? this.until)));
  }

  pause() {
    this.playing = false;
    this.play.textContent = "Play";
  }

  // ---- saving ----

  stage() { return new Stage(this.cards(), () => this.time.textContent); }

  async shoot() { this.saved(await this.stage().picture(), "png"); }

  // The film begins at the shown time; it ends with the replay, or when the button is pressed again.
  async roll() {
    if (this.rolling) { this.rolling.stop(); return; }
    this.rolling = new Film(this.stage(), (film) => {
      this.rolling = null;
      this.film.textContent = "Save film";
      this.pause();
      this.saved(film, "webm");
    });
    this.film.textContent = "Stop and save";
    await this.rolling.begin();
    if (!this.playing) this.toggle();
  }

  // Shows the button that saves the whole replay: in a saved one there is nothing more to save.
  offerFile(act) { Object.assign(this.file, { onclick: act, hidden: false }); }

  recordings() { return this.views().filter((view) => view.recording); }

  // Steps to the next or previous time at which a packet (the followed one) enters a link.
  step(way) {
    this.pause();
    const times = this.recordings().map(({ recording }, side) => recording.next(this.followed < 0 || side !== this.side ? (this.followed < 0 ? recording.begins : []) : recording.byPacket.get(this.followed).map((row) => row.begin), this.now, way)).filter((time) => time !== undefined);
    this.show(times.length ? (way > 0 ? Math.min(...times) : Math.max(...times)) : way > 0 ? this.until : this.from);
  }

  // Jumps to the next head that stops, and follows its packet.
  blocking() {
    this.pause();
    const found = this.recordings().map(({ recording }, side) => [recording.next(recording.blockings, this.now, 1), side]).filter(([time]) => time !== undefined);
    const [time, side] = found.sort((a, b) => a[0] - b[0])[0] ?? [this.recordings()[0].recording.blockings[0], 0];
    const { recording } = this.recordings()[side], soon = Math.min(recording.until, time + 0.2 * recording.stay);
    const row = recording.at(soon).find((one) => Math.abs(one.begin + one.cross - time) < 1e-6 && recording.waits(one, soon));
    this.now = soon;
    this.choose(row ? row.packet : -1, side);
  }

  // Jumps to the next packet that is lost; after the last one, to the first.
  loss() {
    this.pause();
    const all = this.recordings().flatMap(({ recording }, side) => recording.losses.map((loss) => ({ ...loss, side }))).sort((a, b) => a.time - b.time);
    const { time, packet, side } = all.find((loss) => loss.time > this.now) ?? all[0];
    this.now = time + 1e-3 * this.recordings()[side].recording.stay;
    this.choose(packet, side);
  }

  deadlock() {
    const side = this.recordings().findIndex(({ recording }) => recording.data.cycle.length);
    // The recording of the end shows the deadlock as soon as it has arrived.
    if (side < 0) { this.wanted = true; this.further(); return; }
    this.pause();
    this.followed = -1;
    this.show(this.recordings()[side].recording.until);
  }

  slowest() {
    const sides = this.recordings().map(({ recording }, side) => [recording.slowest.took, recording.slowest.packet, side]).sort((a, b) => b[0] - a[0]);
    const [, packet, side] = sides[0], { recording } = this.recordings()[side];
    this.now = recording.byPacket.get(packet)[0].begin;
    this.choose(packet, side);
    if (!this.playing) this.toggle();
  }

  show(time) {
    this.now = Math.min(this.until, Math.max(this.from, time));
    this.slider.value = Math.round(10000 * (this.now - this.from) / Math.max(1, this.until - this.from));
    this.time.textContent = micro(this.now, this.until - this.from < 1e5 ? 2 : 1);
    this.slider.setAttribute("aria-valuetext", this.time.textContent);
    const views = this.recordings();
    views.forEach((view, side) => view.draw(Math.min(this.now, view.recording.until), { by: this.by, filter: this.filter, followed: side === this.side ? this.followed : -1 }));
    this.tell(views);
  }

  // ---- messages ----

  tell(views) {
    const counts = views.map((view) => {
      const there = new Set(view.shown.map((row) => row.packet)).size, over = this.now > view.recording.until ? " (recorded up to here)" : "";
      const { down, stuck, lost } = view.failed, { rings } = view.recording.data, some = (count, one, more) => (count ? `, ${count} ${count === 1 ? one : more}` : "");
      const failed = `${some(down, "link is down", "links are down")}${rings ? some(stuck, "station is stuck", "stations are stuck") : some(stuck, "terminal is stuck", "terminals are stuck")}${some(lost, "packet lost so far", "packets lost so far")}`;
      const packets = `${there} ${there === 1 ? "packet" : "packets"} under way`;
      return rings ? `${packets}${failed}${over}` : `${packets}, ${view.blocked.size} blocked${failed}${over}`;
    });
    const text = counts.length > 1 ? counts.map((count, side) => `${this.cards()[side].title.textContent}: ${count}`).join("; ") : counts[0] ?? "";
    if (this.count.textContent !== text) this.count.textContent = text;
    const said = this.followed >= 0 && views[this.side] ? views[this.side].recording.tell(this.followed, this.now) : this.told;
    if (this.said.textContent !== said) this.said.textContent = said;
  }

  choose(packet, side) {
    this.followed = packet;
    this.side = side || 0;
    this.offer();
    this.show(this.now);
  }

  offer() {
    const options = this.recordings().flatMap((view, side) => {
      const here = [...new Set(view.shown.map((row) => row.packet))].filter((packet) => packet >= 0).slice(0, 200);
      if (this.followed >= 0 && side === this.side && !here.includes(this.followed)) here.unshift(this.followed);
      return here.map((packet) => { const [from, to, started] = view.recording.ends(packet); return new Option(`${from} → ${to}, started ${micro(started, 1)}`, `${side}:${packet}`); });
    });
    this.follow.replaceChildren(new Option("no packet", "0:-1"), ...options);
    this.follow.value = this.followed < 0 ? "0:-1" : `${this.side}:${this.followed}`;
  }
}
