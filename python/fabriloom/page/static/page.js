// The laboratory: choose, look, run, compare.
import { Chart, colour } from "./charts.js";
import { Fabric } from "./fabric.js";
import { Replay } from "./replay.js";
import { download, figures, get, keep, kept, listen, openSession, post } from "./state.js";

const $ = (id) => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const state = {
  session: "", shelf: [], first: null, beside: null, looked: [], colours: [], running: false, job: "",
  live: [], points: [[], []], loaded: kept().loaded ?? null, turn: 0,
};
const charts = {
  accepted: new Chart("chart-accepted", "simulated time (ms)", "accepted (MB/s)"),
  latency: new Chart("chart-latency", "simulated time (ms)", "mean latency (µs)"),
  tail: new Chart("chart-tail", "latency (µs)", "share that takes longer", { logX: true, logY: true }),
  load: new Chart("chart-load", "offered load (%)", "accepted (MB/s)", { most: 100 }),
  curve: new Chart("chart-curve", "accepted (MB/s)", "mean latency (µs)"),
};
const cards = [];

// ---- what is said ------------------------------------------------------------------------------------------

const complain = (text) => {
  $("said").hidden = !text;
  $("said").firstElementChild.textContent = text ?? "";
};
const status = (text) => { $("status").textContent = text; };

// ---- choosing ----------------------------------------------------------------------------------------------

const fillShelf = (select, more) => {
  select.replaceChildren(...more.map(([value, text]) => new Option(text, value)));
  for (const group of new Set(state.shelf.map((entry) => entry.group))) {
    const options = state.shelf.filter((entry) => entry.group === group).map((entry) => new Option(entry.title, entry.name));
    select.append(Object.assign(element("optgroup", { label: group }), {}));
    select.lastElementChild.append(...options);
  }
  if (state.loaded) select.append(new Option(`From a file: ${state.loaded.file}`, "loaded"));
};

const entryOf = (spec) => state.shelf.find((entry) => entry.name === spec?.shelf);
const specOf = (name) => (name === "loaded" ? { ...state.loaded, settings: {} } : { shelf: name, settings: {} });
const nameOf = (spec) => (spec.shelf ?? "loaded");

const choose = (name) => {
  state.first = specOf(name);
  state.beside = null;
  look(true);
};

// Fabric settings of the first go over to the second; what the shelf suggests is changed in it.
const putBeside = async (name) => {
  const before = state.beside, same = name === "" || name === nameOf(state.first);
  state.beside = same ? { ...state.first, settings: { ...state.first.settings, ...(entryOf(state.first)?.beside ?? {}) } } : specOf(name);
  if (await look(true)) return;
  state.beside = before;
  remember();
  showChoice();
};

const load = async (file) => {
  if (!file) return;
  if (file.size > 500_000) { complain(`${file.name} is longer than 500 kB, the most the page takes.`); return; }
  const text = await file.text();
  const before = { first: state.first, beside: state.beside, loaded: state.loaded };
  state.loaded = { file: file.name, text };
  state.first = specOf("loaded");
  state.beside = null;
  if (await look(true)) return;
  Object.assign(state, before);
  remember();
  showChoice();
};

// Whether something is shown that was measured, and whether that was with the settings as they are now.
const measured = () => state.live.length + state.points[0].length > 0;
const chosen = () => JSON.stringify([state.first, state.beside]);
const ofNow = () => kept().measured === chosen();

const remember = () => keep({ first: state.first, beside: state.beside, loaded: state.loaded });

const showChoice = () => {
  fillShelf($("shelf"), []);
  fillShelf($("shelf-1"), [["", "the same, with other settings"]]);
  $("shelf").value = nameOf(state.first);
  $("shelf-1").value = state.beside && nameOf(state.beside) !== nameOf(state.first) ? nameOf(state.beside) : "";
  $("second").hidden = !state.beside;
  $("beside").setAttribute("aria-pressed", String(Boolean(state.beside)));
};

// ---- looking -----------------------------------------------------------------------------------------------

// `anew`: what was measured is of another fabric and goes, once this one is there.
const look = async (anew = false) => {
  const turn = ++state.turn;
  remember();
  showChoice();
  status("Looking at the scenario …");
  try {
    const found = await post("api/look", { first: state.first, beside: state.beside });
    if (turn !== state.turn) return true;
    if (found.type === "error") throw new Error(found.text);
    Object.assign(state, { looked: found.sides, colours: found.colours });
    complain("");
    status(measured() && !ofNow() && !anew ? "Settings were changed: what is shown was measured with those before. Run again." : "");
    if (anew) { forget(); showWhen("end"); }
    showLook();
    return true;
  } catch (error) {
    if (turn === state.turn) { complain(error.message); status("This was not taken; what was there before stays."); }
    return false;
  } finally {
    buttons();
  }
};

const showLook = () => {
  const [first] = state.looked;
  $("title").textContent = first.name;
  $("look").textContent = entryOf(state.first)?.look || first.description;
  const traffic = first.controls.filter((one) => one.part === "traffic");
  showControls($("traffic"), traffic, state.first);
  state.looked.forEach((side, number) => {
    const fabric = side.controls.filter((one) => one.part === "fabric");
    showControls($("fabric-" + number), fabric, number ? state.beside : state.first);
    card(number).look(side);
  });
  while (cards.length > state.looked.length) cards.pop().root.remove();
  $("text").querySelector("pre").textContent = first.text;
};

let later = 0;
const changed = (spec, option) => {
  Object.assign(spec.settings, option.settings);
  clearTimeout(later);
  later = setTimeout(look, 200);
};

const showControls = (place, controls, spec) => {
  place.hidden = !controls.length;
  const within = place.querySelector(".controls"), same = within.childElementCount === controls.length
    && controls.every((one, at) => within.children[at].dataset.label === one.label);
  // What is being moved must not be replaced under the hand.
  if (same) controls.forEach((one, at) => within.children[at].set(one, spec));
  else within.replaceChildren(...controls.map((one) => control(one, spec)));
};

const control = (described, spec) => {
  // A slider is for values of one setting, which have an order; ways of routing have none.
  const output = element("b"), slides = described.options.length > 3 && described.options.every((one) => Object.keys(one.settings).length === 1);
  const input = slides ? element("input", { type: "range", min: 0, step: 1 }) : element("select");
  const field = element("label", { className: "field" }, element("span", {}, described.label, slides ? output : ""), input);
  let now = described, of = spec;
  field.dataset.label = described.label;
  field.set = (one, chosen) => {
    now = one;
    of = chosen;
    if (slides) input.max = one.options.length - 1;
    else input.replaceChildren(...one.options.map((option, at) => new Option(option.text, at)));
    if (document.activeElement !== input || !slides) input.value = one.at;
    output.textContent = one.options[Number(input.value)].text;
  };
  field.set(described, spec);
  input.addEventListener("input", () => {
    const option = now.options[Number(input.value)];
    output.textContent = option.text;
    input.setAttribute("aria-valuetext", option.text);
    changed(of, option);
  });
  return field;
};

// ---- the fabrics -------------------------------------------------------------------------------------------

class Card {
  constructor(number) {
    this.number = number;
    this.title = element("span");
    this.sizes = element("small");
    const save = element("button", { type: "button", textContent: "Save scenario", onclick: () => this.save() });
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = `var(--c${number})`;
    const place = element("div", { className: "fabric" }), hover = element("output", { className: "hover", textContent: "" });
    this.numbers = element("dl", { className: "facts" });
    this.ended = element("div", { className: "ended" });
    this.root = element("section", { className: "side" }, element("h2", {}, element("span", { className: "name" }, swatch, this.title), this.sizes, save), place, hover, this.numbers, this.ended);
    this.root.dataset.side = number;
    this.fabric = new Fabric(place, hover);
    this.replay = new Replay(this.root, this.fabric);
    $("sides").append(this.root);
  }

  look(side) {
    this.side = side;
    this.title.textContent = named(this.number);
    this.sizes.textContent = side.facts;
    if (this.fabric.draw(side.svg, side.links, state.colours)) this.replay.clear();
    this.warn(side.warnings);
    if (!state.live[this.number]) this.clear();
  }

  clear() {
    this.fabric.colour([]);
    this.numbers.replaceChildren();
    this.warn(this.side?.warnings ?? []);
  }

  warn(warnings) { this.ended.replaceChildren(...warnings.map((text) => element("p", {}, element("b", { className: "chip bad", textContent: "warning" }), text))); }

  show(live) {
    const micro = (value) => (value >= 1000 ? `${figures(value / 1000)} ms` : `${figures(value)} µs`), rate = (value) => `${figures(value)} MB/s`;
    const built = live.events?.complete ? live.events : null;
    const rows = [
      ["Accepted", rate(live.accepted)], ["Offered", rate(live.offered)], ["Mean latency", micro(live.latency_us)],
      ["99 % within", micro(live.p99_us)], ["Packets measured", live.packets.toLocaleString("en")], ["Simulated", `${figures(live.simulated_ms)} ms`],
    ];
    if (live.bus) rows.push(["Busiest bus", `${figures(100 * live.bus, 3)} %`]);
    if (built) rows.push(["Events built", `${figures(built.achieved_per_s / 1000)} kHz`], ["An event takes", micro(built.latency_ns.mean / 1000)], ["99 % of them within", micro(built.latency_ns.p99 / 1000)]);
    this.numbers.replaceChildren(...rows.map(([what, value]) => element("div", {}, element("dt", { textContent: what }), element("dd", { textContent: value }))));
    this.fabric.colour(live.busy);
    if (!live.end) return;
    this.warn(live.warnings);
    const mark = ["deadlocked", "livelocked", "stalled", "interrupted"].includes(live.end.reason) ? "chip bad" : "chip";
    const reason = element("span", { className: mark, textContent: live.end.reason.replace("_", " ") });
    this.ended.append(element("p", {}, reason, live.end.message));
    if (live.cycle.length) this.fabric.mark(live.cycle);
    if (built) {
      const wanted = built.attempted_per_s ? ` of ${figures(built.attempted_per_s / 1000)} kHz attempted` : "";
      this.ended.append(element("p", { textContent: `${built.complete} events complete; ${figures(built.achieved_per_s / 1000)} kHz built${wanted}.` }));
    }
    if (live.sources.length) this.ended.append(this.shares(live.sources));
  }

  // Who got how much, as bars.
  shares(sources) {
    const most = Math.max(...sources.map(([, rate]) => rate), 1e-9);
    const rows = sources.map(([name, rate]) => {
      const cell = element("td", { className: "n", textContent: `${figures(rate)} MB/s` });
      cell.style.setProperty("--share", rate / most);
      return element("tr", {}, element("td", { textContent: name }), cell);
    });
    return element("details", { open: true }, element("summary", { textContent: "What came from whom" }), element("table", {}, element("tbody", {}, ...rows)));
  }

  save() {
    const name = this.side.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "scenario";
    download(`${name}.toml`, this.side.text);
  }
}

// Of two fabrics of one name the second is called by what is different.
const named = (side) => {
  const [first, second] = state.looked.map((one) => one.name);
  return side && second?.startsWith(`${first}, `) ? second.slice(first.length + 2) : [first, second][side] ?? "";
};

const card = (number) => (cards[number] ??= new Card(number));

// ---- running -----------------------------------------------------------------------------------------------

const forget = () => {
  news.clear();
  state.live = [];
  state.points = [[], []];
  for (const section of ["live", "study", "report"]) $(section).hidden = true;
  cards.forEach((one) => { one.replay.clear(); one.clear(); one.fabric.unmark(); });
};

// The button that began what is running goes, or cannot be pressed; with the keyboard one would begin at the top again.
let pressed = null;
const buttons = () => {
  const ready = state.looked.length > 0 && !state.running, focused = document.activeElement;
  for (const name of ["run", "curve", "replay", "beside"]) $(name).disabled = !ready;
  $("run").hidden = state.running;
  $("cancel").hidden = !state.running;
  $("share").hidden = !state.running;
  if (state.running && ["run", "curve", "replay"].includes(focused.id)) { pressed = focused; $("cancel").focus(); }
  if (!state.running && pressed) { if (focused === $("cancel")) pressed.focus(); pressed = null; }
};

// From when on packets are replayed; null: the last ones.
const moment = () => ({ beginning: 0, end: null, moment: Math.max(0, Number($("from").value) || 0) })[$("when").value];

const begin = async (what) => {
  complain("");
  try {
    await post("api/begin", { session: state.session, do: what, first: state.first, beside: state.beside, from_ms: moment() });
  } catch (error) {
    complain(error.message);
    if (/not known any more/.test(error.message)) connect();
  }
};

const lineOf = (name) => (live, side) => ({
  name: named(side), side, until: live.warming ? 0 : live.measured_from_ms,
  points: live.series.t_ms.map((time, at) => [time, live.series[name][at]]),
});

// It begins with all packets, and ends where less than one is left.
const tailOf = (live) => (live.tail.length
  ? [[live.tail[0][0] * 0.998, 1], ...live.tail.map(([latency, share]) => [latency, share || 0.5 / live.packets])]
  : []);

// Drawn once a frame, however fast messages come; a tab behind another one draws nothing until the end.
const news = new Set();
const drawNews = () => {
  if (!news.size) return;
  for (const side of news) card(side).show(state.live[side]);
  news.clear();
  showLive();
};

const showWhen = (value) => {
  $("when").value = value;
  $("from").hidden = value !== "moment";
};

const showLive = () => {
  $("live").hidden = false;
  const live = state.live.filter(Boolean);
  charts.accepted.show(live.map(lineOf("accepted")));
  charts.latency.show(live.map(lineOf("latency")));
  charts.tail.show(live.map((one, side) => ({ name: named(side), side, step: true, points: tailOf(one) })));
  $("share").value = Math.min(...live.map((one) => one.share));
};

const showPoints = () => {
  $("study").hidden = false;
  const lines = (of) => state.points.map((points, side) => ({ name: named(side), side, marks: true, points: points.map(of) })).filter((line) => line.points.length);
  charts.load.show(lines((one) => [100 * one.load, one.accepted]));
  charts.curve.show(lines((one) => [one.accepted, one.latency_us]));
  const cell = (text, number) => element("td", { textContent: text, className: number ? "n" : "" });
  const rows = state.points.flatMap((points, side) => points.map((one) => element("tr", {}, cell(named(side)), cell(`${figures(100 * one.load)} %`, true),
    cell(figures(one.accepted), true), cell(figures(one.latency_us), true), cell(figures(one.p99_us), true), cell(one.end.replace("_", " ")))));
  $("points").tBodies[0].replaceChildren(...rows);
  $("points").classList.toggle("alone", lines((one) => [one.load, one.load]).length < 2);
  $("study-text").textContent = state.points.map((points, side) => (points.length ? saturation(named(side), points) : "")).filter(Boolean).join(" ");
};

const saturation = (name, points) => {
  const most = points.reduce((a, b) => (b.accepted > a.accepted ? b : a));
  const carried = points.filter((one) => one.sustained).map((one) => one.load);
  const upTo = points[0].waits ? "has sources that wait for the network, so all that they offer is accepted" : carried.length ? `carries all that is offered up to a load of ${figures(100 * Math.max(...carried))} %` : "does not carry all even at the smallest load";
  return `${name} ${upTo}; it accepts ${figures(most.accepted)} MB/s at most, at ${figures(100 * most.load)} %.`;
};

const hearers = {
  state(message) {
    state.running = message.running;
    state.job = message.job;
    news.clear();
    state.live = [];
    state.points = [[], []];
  },
  begun(message) {
    // A replay is of the run that is shown, which stays.
    if (message.job === "replay") cards.forEach((one) => one.replay.clear());
    else { forget(); keep({ measured: chosen() }); }
    state.running = true;
    state.job = message.job;
    $("share").value = 0;
    status({ run: "Running …", curve: "Running eleven loads …", replay: "Running it again, with its packets recorded …" }[message.job] ?? "");
  },
  live(message) {
    if (!state.looked[message.side]) return;
    state.live[message.side] = message;
    news.add(message.side);
    if (message.end) drawNews();
    else if (news.size === 1) requestAnimationFrame(drawNews);
    if (!message.end) status(message.warming ? "Warming up: nothing is measured yet." : `Running: ${figures(message.events_per_s / 1e6, 3)} million events a second.`);
  },
  point(message) {
    state.points[message.side].push(message);
    state.points[message.side].sort((a, b) => a.load - b.load);
    showPoints();
  },
  study(message) {
    $("share").value = message.share;
    status(`${message.finished} of ${message.runs} loads are finished.`);
  },
  recording(message) { $("share").value = message.share; },
  replay(message) {
    const what = measured() && ofNow() ? "The same run again, with its packets recorded" : "A run with the settings as they are now";
    if (state.looked[message.side]) card(message.side).replay.load({ ...message, said: `${what}: ${message.said}` });
  },
  done(message) {
    $("report").hidden = !message.report;
    $("report").href = "api/report?session=" + encodeURIComponent(state.session);
    status(message.why === "cancelled" ? "Cancelled: what is shown was measured until then." : message.why || "Done.");
  },
  error(message) { complain(message.text); status(""); },
  idle() { state.running = false; },
};

const hear = (message) => {
  hearers[message.type]?.(message);
  buttons();
};

const connect = async () => {
  try {
    state.session = await openSession();
    listen(state.session, hear, (closed) => {
      status("The connection to the server is lost; trying again …");
      if (closed) setTimeout(connect, 2000);
    }).onopen = () => { if ($("status").textContent.startsWith("The connection")) status(""); };
  } catch (error) {
    complain(error.message);
    setTimeout(connect, 3000);
  }
};

// ---- the page ----------------------------------------------------------------------------------------------

const listenToHands = () => {
  $("shelf").addEventListener("change", () => choose($("shelf").value));
  $("shelf-1").addEventListener("change", () => putBeside($("shelf-1").value));
  $("file").addEventListener("change", () => { load($("file").files[0]); $("file").value = ""; });
  $("run").addEventListener("click", () => begin("run"));
  $("curve").addEventListener("click", () => begin("curve"));
  $("replay").addEventListener("click", () => begin("replay"));
  $("when").addEventListener("change", () => { showWhen($("when").value); if (!$("from").hidden) $("from").focus(); });
  $("from").addEventListener("keydown", (event) => { if (event.key === "Enter" && !state.running) begin("replay"); });
  $("beside").addEventListener("click", () => { if (state.beside) { state.beside = null; look(true); } else putBeside(""); });
  $("cancel").addEventListener("click", () => { status("Cancelling …"); post("api/cancel", { session: state.session }).catch((error) => complain(error.message)); });
  for (const name of ["accepted", "latency"]) charts[name].clicked = (time) => { $("from").value = Number(time.toPrecision(4)); showWhen("moment"); };
  let over = 0;
  const veil = (step) => { over = Math.max(0, over + step); $("veil").hidden = !over; };
  addEventListener("dragenter", (event) => { event.preventDefault(); veil(1); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => veil(-1));
  addEventListener("drop", (event) => { event.preventDefault(); over = 0; veil(0); load(event.dataTransfer.files[0]); });
};

const start = async () => {
  listenToHands();
  const memory = kept();
  try { state.shelf = await get("api/shelf"); } catch (error) { complain(error.message); return; }
  state.first = memory.first ?? specOf(state.shelf[0].name);
  state.beside = memory.beside ?? null;
  if (!await look() && memory.first) choose(state.shelf[0].name);
  await connect();
  buttons();
  document.documentElement.dataset.ready = "yes";
};

start();
