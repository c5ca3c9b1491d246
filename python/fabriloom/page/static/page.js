// The laboratory: choose, examine, run, compare.
import { Chart } from "./charts.js";
import { Card } from "./card.js";
import { showControls } from "./controls.js";
import { Player } from "./player.js";
import { download, element, figures, fromAddress, get, keep, kept, listen, openSession, post, shareable } from "./state.js";

const $ = (id) => document.getElementById(id);

const state = {
  session: "", shelf: [], first: null, beside: null, looked: [], colours: [], running: false, asked: false, job: "",
  live: [], points: [[], []], loaded: kept().loaded ?? null, turn: 0,
  // The choices (see `chosen`) of the drawing, of the last job, of the shown numbers and of the shown packets; `owed`:
  // packets must still be fetched.
  drawn: "", wanted: "", measured: kept().measured ?? "", replayed: kept().replayed ?? "", owed: false,
  // `unasked`: the user did not ask for the running job. `left`: it belongs to a fabric that is no longer shown.
  unasked: false, left: false, reading: false,
  // The status text of the last run before packets were fetched automatically, which must not replace it.
  lastSaid: "",
};
const charts = {
  accepted: new Chart("chart-accepted", "simulated time (ms)", "accepted (MB/s)"),
  latency: new Chart("chart-latency", "simulated time (ms)", "mean latency (µs)"),
  tail: new Chart("chart-tail", "latency (µs)", "share that takes longer", { logX: true, logY: true }),
  load: new Chart("chart-load", "offered load (%)", "accepted (MB/s)", { most: 100 }),
  curve: new Chart("chart-curve", "accepted (MB/s)", "mean latency (µs)"),
};
[charts.accepted.linked, charts.latency.linked] = [[charts.latency], [charts.accepted]];
const cards = [];
const player = new Player($("player"), () => cards.map((one) => one.packets), () => { showWhen("end"); begin("replay"); },
  () => cards, (content, ending) => download(`${cards[0].file}.${ending}`, content));

// ---- messages ------------------------------------------------------------------------------------------------

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

// The second fabric takes the settings of the first, changed as the shelf suggests.
const putBeside = async (name) => {
  const before = state.beside, same = name === "" || name === nameOf(state.first);
  state.beside = same ? { ...state.first, settings: { ...state.first.settings, ...(entryOf(state.first)?.beside ?? {}) } } : specOf(name);
  if (await look(true)) return;
  state.beside = before;
  remember();
  showChoice();
};

const SCENARIO = /\.(toml|ya?ml|json)$/i;

// Of several files, one is the scenario and the others are the files that it names.
const load = async (given) => {
  const files = [...given], scenario = files.find((file) => SCENARIO.test(file.name)) ?? files[0];
  if (!scenario) return;
  if (files.reduce((sum, file) => sum + file.size, 0) > 3_000_000) { complain("These files are longer than 3 MB together, the most that the page accepts."); return; }
  const before = { first: state.first, beside: state.beside, loaded: state.loaded };
  const others = await Promise.all(files.filter((file) => file !== scenario).map(async (file) => [file.name, await file.text()]));
  state.loaded = { file: scenario.name, text: await scenario.text(), files: Object.fromEntries(others) };
  state.first = specOf("loaded");
  state.beside = null;
  if (await look(true)) return;
  Object.assign(state, before);
  remember();
  showChoice();
};

// Whether measured values are shown, and whether they belong to the current settings.
const measured = () => state.live.length + state.points[0].length > 0;
const chosen = () => JSON.stringify([state.first, state.beside]);
const ofNow = () => state.measured === chosen();
const keepOf = (of) => { Object.assign(state, of); keep(of); };

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

// `anew`: another fabric was chosen, so discard the measured values once it is read. `replayed`: fetch its packets.
const look = async (anew = false, replayed = true) => {
  const turn = ++state.turn, of = chosen();
  // A newly chosen fabric cannot be run before it is read: its run would be cancelled at once.
  state.reading = anew;
  remember();
  showChoice();
  status("Reading the scenario …");
  try {
    const found = await post("api/look", { first: state.first, beside: state.beside });
    if (turn !== state.turn) return true;
    if (found.type === "error") throw new Error(found.text);
    Object.assign(state, { looked: found.sides, colours: found.colours, drawn: of, owed: replayed });
    complain("");
    status("");
    if (anew) { leave(); forget(); showWhen("beginning"); }
    showLook();
    stale();
    player.clear();
    state.reading = false;
    replaySoon();
    return true;
  } catch (error) {
    if (turn === state.turn) { complain(error.message); status("The scenario was refused; the previous one stays."); }
    return false;
  } finally {
    if (turn === state.turn) state.reading = false;
    buttons();
  }
};

// Marks values that were measured with other settings, until they are measured again.
const stale = () => {
  const old = measured() && !ofNow();
  document.body.classList.toggle("stale", old);
  $("old").hidden = !old;
};

// Fetches packets automatically; if a job is running, after it has ended.
const replaySoon = () => { if (state.owed && state.session && !state.reading && !busy()) begin("replay", true); };

// The running job belongs to another fabric: show none of its messages and cancel it, unless it is a short automatic
// job.
const leave = () => {
  state.left = busy();
  if (state.left && !state.unasked) cancel();
};
const cancel = () => post("api/cancel", { session: state.session }).catch((error) => complain(error.message));

const showLook = () => {
  const [first] = state.looked;
  $("title").textContent = first.name;
  $("look").textContent = entryOf(state.first)?.look || first.description;
  const traffic = first.controls.filter((one) => one.part === "traffic");
  showControls($("traffic"), traffic, state.first, changed);
  state.looked.forEach((side, number) => {
    const fabric = side.controls.filter((one) => one.part === "fabric");
    showControls($("fabric-" + number), fabric, number ? state.beside : state.first, changed);
    card(number).look(side, state.colours, Boolean(state.live[number]));
  });
  while (cards.length > state.looked.length) cards.pop().remove();
  for (const row of ["sides", "measured"]) $(row).classList.toggle("two", state.looked.length > 1);
  $("text").querySelector("pre").textContent = first.text;
};

let later = 0;
const changed = (spec, option) => {
  Object.assign(spec.settings, option.settings);
  clearTimeout(later);
  later = setTimeout(() => look(), 200);
};

// ---- the fabrics -------------------------------------------------------------------------------------------

// The names of two fabrics of one scenario are the settings that differ.
const named = (side) => {
  const [first, second] = state.looked, own = state.looked[side]?.name ?? "";
  if (!second?.name.startsWith(`${first.name}, `)) return own;
  const differ = first.controls.flatMap((one) => {
    const other = second.controls.find(({ label }) => label === one.label);
    const texts = [one, other ?? one].map(({ options, at }) => options[at].text);
    return texts[0] === texts[1] ? [] : [[one.label, ...texts]];
  });
  if (differ.length) return differ.slice(0, 2).map((one) => `${one[0]}: ${one[1 + side]}`).join(", ");
  return side ? second.name.slice(first.name.length + 2) : own;
};

const card = (number) => {
  cards[number] ??= Object.assign(new Card(number, $("sides"), $("measured"), named), { chosen: (packet) => player.choose(packet, number) });
  return cards[number];
};

// ---- running -----------------------------------------------------------------------------------------------

// Shows either moving packets or the utilisation of each link.
const view = (what) => {
  $("view").value = what;
  document.body.dataset.view = what;
  if (what !== "packets") player.pause();
  cards.forEach((one, side) => {
    one.fabric.unmark();
    one.fabric.paint(what === "packets" ? [] : one.fabric.busy);
    if (what !== "packets") one.fabric.mark(state.live[side]?.cycle ?? []);
  });
};

// Shows the load of the curve to which the colours of the links belong.
const ofLoad = (load) => { $("ramp-of").textContent = load === null ? "" : `, at a load of ${figures(100 * load)} %`; };

const forget = () => {
  ofLoad(null);
  news.clear();
  state.live = [];
  state.points = [[], []];
  for (const section of ["live", "study", "report"]) $(section).hidden = true;
  cards.forEach((one) => one.clear());
};

// The button that began the running job disappears or is disabled. Return the focus to it afterwards, so that keyboard
// users do not start at the top again.
let pressed = null;
const busy = () => state.running || state.asked;
player.seen = () => { if ($("view").value !== "packets") view("packets"); };
const buttons = () => {
  const running = busy(), ready = state.looked.length > 0 && !running && !state.reading, focused = document.activeElement;
  for (const name of ["run", "curve", "replay", "beside"]) $(name).disabled = !ready;
  $("run").hidden = running;
  $("cancel").hidden = !running;
  $("share").hidden = !running;
  if (running && ["run", "curve", "replay"].includes(focused.id)) { pressed = focused; $("cancel").focus(); }
  if (!running && pressed) { if (focused === $("cancel")) pressed.focus(); pressed = null; }
};

// The time from which packets are replayed; null: the last packets.
const moment = () => ({ beginning: 0, end: null, moment: Math.max(0, Number($("from").value) || 0) })[$("when").value];

const begin = async (what, unasked = false) => {
  const before = state.wanted;
  if (!unasked) complain("");
  // The server decides what runs: a refused job does not end the current one.
  Object.assign(state, { asked: true, unasked, left: false, wanted: chosen() });
  if (what === "replay") state.owed = false;
  buttons();
  try {
    await post("api/begin", { session: state.session, do: what, first: state.first, beside: state.beside, from_ms: moment() });
  } catch (error) {
    Object.assign(state, { asked: false, left: false, wanted: before });
    buttons();
    if (!unasked) complain(error.message);
    if (/not known any more/.test(error.message)) connect();
    else replaySoon();
  }
};

const lineOf = (name) => (live, side) => ({
  name: named(side), side, until: live.warming ? 0 : live.measured_from_ms,
  points: live.series.t_ms.map((time, at) => [time, live.series[name][at]]),
});

// The curve begins with all packets, and ends where less than one is left.
const tailOf = (live) => (live.tail.length
  ? [[live.tail[0][0] * 0.998, 1], ...live.tail.map(([latency, share]) => [latency, share || 0.5 / live.packets])]
  : []);

// Draws at most once a frame, however fast messages arrive; a hidden tab draws nothing until the end.
const news = new Set();
const drawNews = () => {
  if (!news.size) return;
  for (const side of news) {
    card(side).show(state.live[side]);
    if ($("view").value === "use") card(side).fabric.mark(state.live[side].cycle);
  }
  news.clear();
  showLive();
};

const showWhen = (value) => {
  $("when").value = value;
  $("from").hidden = value !== "moment";
};

const showLive = () => {
  stale();
  $("live").hidden = false;
  const live = state.live.filter(Boolean);
  charts.accepted.show(live.map(lineOf("accepted")));
  charts.latency.show(live.map(lineOf("latency")));
  charts.tail.show(live.map((one, side) => ({ name: named(side), side, step: true, points: tailOf(one) })));
  $("share").value = Math.min(...live.map((one) => one.share));
  if ($("view").value === "use") cards.forEach((one) => one.fabric.paint(one.fabric.busy));
};

const showPoints = () => {
  stale();
  $("study").hidden = false;
  const lines = (of) => state.points.map((points, side) => ({ name: named(side), side, marks: true, points: points.map(of) })).filter((line) => line.points.length);
  const ranged = (value, half) => (half === null ? [null, null] : [value - half, value + half]);
  charts.load.show(lines((one) => [100 * one.load, one.accepted, ...ranged(one.accepted, one.accepted_ci95), one]));
  charts.curve.show([
    ...lines((one) => [one.accepted, one.latency_us, ...ranged(one.latency_us, one.latency_ci95_us), one]),
    ...lines((one) => [one.accepted, one.total_us, null, null, one]).filter((line) => line.points.some(([, total, , , one]) => total > 1.01 * one.latency_us))
      .map((line) => ({ ...line, name: state.points[1].length ? `${line.name}, with the wait` : "including the wait at the source", dashed: true })),
  ]);
  const cell = (text, number) => element("td", { textContent: text, className: number ? "n" : "" });
  const load = (one) => element("td", { className: "n" }, element("button", { type: "button", className: "plain", textContent: `${figures(100 * one.load)} %`, title: "Run this point", onclick: () => runAt(one.load) }));
  const rows = state.points.flatMap((points, side) => points.map((one) => element("tr", {}, cell(named(side)), load(one),
    cell(figures(one.accepted), true), cell(figures(one.latency_us), true), cell(figures(one.p99_us), true), cell(one.end.replace("_", " ")))));
  $("points").tBodies[0].replaceChildren(...rows);
  $("points").classList.toggle("alone", lines((one) => [one.load, one.load]).length < 2);
  $("study-text").textContent = state.points.map((points, side) => (points.length ? saturation(named(side), points) : "")).filter(Boolean).join(" ");
};

const saturation = (name, points) => {
  const most = points.reduce((a, b) => (b.accepted > a.accepted ? b : a));
  const carried = points.filter((one) => one.sustained).map((one) => one.load);
  const upTo = points[0].waits ? "has sources that wait for the network, so everything that they offer is accepted" : carried.length ? `carries all that is offered up to a load of ${figures(100 * Math.max(...carried))} %` : "does not carry everything even at the smallest load";
  return `${state.looked.length > 1 ? `“${name}”` : name} ${upTo}; it accepts ${figures(most.accepted)} MB/s at most, at ${figures(100 * most.load)} %.`;
};

const hearers = {
  state(message) {
    Object.assign(state, { asked: false, running: message.running, job: message.job, live: [], points: [[], []] });
    news.clear();
    told();
  },
  begun(message) {
    // A replay belongs to the shown run, which stays.
    const replays = message.job === "replay";
    Object.assign(state, { running: true, asked: false, job: message.job });
    // A reloaded page must know to which choice the values belong.
    if (state.wanted) keepOf(replays ? { replayed: state.wanted } : { measured: state.wanted, replayed: "" });
    if (state.left) { if (!state.unasked) cancel(); return; }
    if (replays) player.clear();
    else forget();
    if (message.job === "run") view("use");
    state.lastSaid = replays && state.unasked ? $("status").textContent : "";
    stale();
    $("share").value = 0;
    status({ run: "Running …", curve: "Running eleven loads …", replay: "Running again to record the packets …" }[message.job] ?? "");
  },
  live(message) {
    const there = state.looked[message.side];
    if (!there) return;
    // Settings that changed since then may have changed the links; then the drawing does not fit this run.
    const here = message.busy.length === there.links.length ? {} : { busy: [], carried: [], columns: null, cycle: [] };
    state.live[message.side] = { ...message, ...here };
    news.add(message.side);
    if (message.end) drawNews();
    else if (news.size === 1) requestAnimationFrame(drawNews);
    if (!message.end) status(message.warming ? "Warming up: nothing is measured yet." : `Running: ${figures(message.events_per_s / 1e6, 3)} million events a second.`);
  },
  point(message) {
    state.points[message.side].push(message);
    state.points[message.side].sort((a, b) => a.load - b.load);
    // The fabric shows the highest load that has been measured.
    const { fabric } = card(message.side), { busy, load } = state.points[message.side].at(-1);
    if (busy.length === fabric.links.length) fabric.busy = busy;
    if (message.side === 0) ofLoad(load);
    if ($("view").value === "use") fabric.paint(fabric.busy);
    showPoints();
  },
  study(message) {
    $("share").value = message.share;
    status(`${message.finished} of ${message.runs} loads are finished.`);
  },
  recording(message) { $("share").value = message.share; },
  replay(message) {
    if (!state.looked[message.side] || state.replayed !== state.drawn) return;
    const what = measured() && ofNow() ? "The measured run, repeated with its packets recorded" : "A run with the current settings";
    card(message.side).packets.load(message);
    view("packets");
    player.loaded(`${what}: ${message.said}`);
    player.jumps.deadlock.hidden = !message.cycle.length && !state.looked.some((side) => side.warnings.some((text) => text.includes("deadlock")));
  },
  done(message) {
    $("report").hidden = !message.report;
    $("report").href = "api/report?session=" + encodeURIComponent(state.session);
    if (state.reading) return;
    if (state.job === "replay" && !message.why) { status(state.lastSaid); return; }
    status(message.why === "cancelled" ? "Cancelled: these numbers were measured up to that time." : message.why || "Done.");
  },
  error(message) { complain(message.text); status(""); },
  idle() {
    if (state.left && !state.reading) status("");
    Object.assign(state, { running: false, left: false });
    replaySoon();
  },
};

const OF_JOBS = ["live", "point", "study", "recording", "replay", "done", "error"];
const hear = (message) => {
  if (!(state.left && OF_JOBS.includes(message.type))) hearers[message.type]?.(message);
  buttons();
};

// Until the server has reported on this tab, it is unknown whether something runs in it.
let told = () => {};

const connect = async () => {
  try {
    const before = kept().session;
    state.session = await openSession();
    if (state.session !== before) state.replayed = "";
    const heard = new Promise((done) => { told = done; });
    listen(state.session, hear, (closed) => {
      status("The connection to the server was lost; trying again …");
      if (closed) setTimeout(connect, 2000);
    }).onopen = () => { if ($("status").textContent.startsWith("The connection")) status(""); };
    await heard;
    // A reloaded tab gets its packets without fetching them.
    state.owed &&= state.replayed !== state.drawn;
    replaySoon();
  } catch (error) {
    complain(error.message);
    setTimeout(connect, 3000);
  }
};

// ---- the page ----------------------------------------------------------------------------------------------

const listenToHands = () => {
  $("shelf").addEventListener("change", () => choose($("shelf").value));
  $("shelf-1").addEventListener("change", () => putBeside($("shelf-1").value));
  $("file").addEventListener("change", () => { load($("file").files).then(() => { $("file").value = ""; }); });
  $("run").addEventListener("click", () => begin("run"));
  $("curve").addEventListener("click", () => begin("curve"));
  $("replay").addEventListener("click", () => begin("replay"));
  $("when").addEventListener("change", () => { showWhen($("when").value); if (!$("from").hidden) $("from").focus(); });
  $("from").addEventListener("keydown", (event) => { if (event.key === "Enter" && !busy()) begin("replay"); });
  $("beside").addEventListener("click", () => { if (state.beside) { state.beside = null; look(true); } else putBeside(""); });
  $("cancel").addEventListener("click", () => { status("Cancelling …"); cancel(); });
  for (const name of ["accepted", "latency"]) charts[name].clicked = (time) => { $("from").value = Number(time.toPrecision(4)); showWhen("moment"); };
  $("view").addEventListener("change", () => view($("view").value));
  $("link").addEventListener("click", share);
  document.addEventListener("keydown", (event) => {
    const act = player.keys[event.key], busy = event.ctrlKey || event.metaKey || event.altKey || $("player").hidden;
    if (!act || busy || event.target.closest("input, select, textarea, button, a, summary, [contenteditable]")) return;
    event.preventDefault();
    act();
  });
  charts.load.picked = charts.curve.picked = (load) => runAt(load);
  let over = 0;
  const veil = (step) => { over = Math.max(0, over + step); $("veil").hidden = !over; };
  addEventListener("dragenter", (event) => { event.preventDefault(); veil(1); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => veil(-1));
  addEventListener("drop", (event) => { event.preventDefault(); over = 0; veil(0); load(event.dataTransfer.files); });
};

// The state of the page as a link that opens it again.
const share = async () => {
  const address = shareable({ first: state.first, beside: state.beside });
  if (!address) { complain("The scenario is too long for a link; save it as a file."); return; }
  history.replaceState(null, "", address);
  try { await navigator.clipboard.writeText(location.href); status("The link is copied; it opens the current choice."); } catch { status("The link is in the address bar."); }
};

// Runs the point of a curve that has this load.
const runAt = async (load) => {
  const offered = state.looked[0]?.controls.find((one) => ["Offered load", "Rates multiplied by"].includes(one.label));
  if (!offered || busy()) return;
  const path = Object.keys(offered.options[0].settings)[0];
  for (const spec of [state.first, state.beside].filter(Boolean)) spec.settings[path] = load;
  if (await look(false, false)) begin("run");
};

const start = async () => {
  listenToHands();
  const memory = { ...kept(), ...fromAddress() };
  try { state.shelf = await get("api/shelf"); } catch (error) { complain(error.message); return; }
  state.first = memory.first ?? specOf(state.shelf[0].name);
  state.beside = memory.beside ?? null;
  if (!await look() && memory.first) choose(state.shelf[0].name);
  await connect();
  buttons();
  document.documentElement.dataset.ready = "yes";
};

// For the console, and for tests that examine the drawing.
globalThis.laboratory = { player, cards, state };

start();
