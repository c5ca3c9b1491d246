// The scenario of this page, run by the engine in this browser with the settings of the sliders: once, with another
// fabric beside it, or at all loads.
import {} from "./replayed.js";
import { showControls } from "./controls.js";
import { curves, showCurve } from "./curve.js";
import { Run, columnsOf, nameOf, numberColumn } from "./engine.js";
import { STUCK, measured, point, told } from "./measured.js";
import { card, play, player, showFabrics, view, viewed } from "./playing.js";
import { MOST_ROWS, recorded } from "./recorded.js";
import { $, state } from "./state.js";
/* global plots */

// Events between two looks at the page, and, as in the laboratory, between two looks whether enough packets are recorded.
const EVENTS = 20_000, RECORDED_EVENTS = 200_000, KEPT_HOPS = 1 << 19, FRAME_MS = 30, PATIENCE_MS = 250;
const { lab } = JSON.parse($("recorded").textContent);
const status = (text) => { $("tried").textContent = text; };

// ---- settings ----

const decoded = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const bytes = decoded(lab.bytes), column = (at) => bytes.subarray(lab.starts[at], lab.starts[at + 1]);

// Where the sliders of each fabric are.
const places = [lab.sliders.map(({ at }) => at)];
const variant = (place) => lab.variants[place.filter((_, number) => !lab.sliders[number].columns).join(",")];

// Columns, with others instead of those that have their names.
const replaced = (given, others) => {
  const names = new Set(others.map(nameOf));
  return [...given.filter((part) => !names.has(nameOf(part))), ...others];
};

// The columns of some settings. What is a column alone, or a number such as the seed, replaces that of the variant.
const parts = (place) => {
  const own = lab.sliders.flatMap(({ columns }, number) => (columns ? [column(columns[place[number]])] : []));
  if (lab.seed !== null) own.push(numberColumn("seed", Number($("seed").value) || 0));
  return replaced([...lab.common, ...variant(place).columns].map(column), own);
};

const controlsOf = (side, among) => lab.sliders.flatMap(({ label, part, ordered, texts }, number) => (among.includes(part)
  ? [{ label, ordered, at: places[side][number], options: texts.map((text, to) => ({ text, number, to })) }] : []));

// The traffic is that of both fabrics. Where only one setting can differ from the file, the others go back.
const moved = (side, { number, to }) => {
  for (const place of lab.sliders[number].part === "traffic" ? places : [places[side]]) {
    if (lab.one && number) lab.sliders.forEach(({ at }, other) => { if (other) place[other] = at; });
    place[number] = to;
  }
  showSettings();
  changed();
};

const showSettings = () => {
  showControls($("try"), controlsOf(0, ["traffic", "fabric"]), 0, moved);
  showControls($("second"), places.length > 1 ? controlsOf(1, ["fabric"]) : [], 1, moved);
};

// The file of the scenario is as it was; it says which settings of the page it does not have.
const [file] = state.looked;
const showNames = () => {
  state.looked = places.map((place, side) => {
    const set = lab.sliders.map(({ label, texts }, number) => `${label}: ${texts[place[number]]}`);
    const text = `# Shown with these settings instead of those below: ${[...set, ...(lab.seed === null ? [] : [`seed: ${$("seed").value}`])].join("; ")}\n${file.text}`;
    return { ...file, name: side ? `${file.name}, second` : file.name, controls: controlsOf(side, ["fabric"]), text };
  });
  showFabrics(file.description);
};

// ---- the engine ----

// A script that lies beside this page. What is large comes when it is first used: many readers only watch.
const scripts = {};
const script = (name) => scripts[name] ??= new Promise((done, failed) => {
  const made = Object.assign(document.createElement("script"), { src: name, onload: done, onerror: () => failed(new Error(`${name} could not be loaded.`)) });
  document.head.append(made);
});
let engine = null;
const loaded = () => engine ??= script("engine.js").then(() => WebAssembly.compile(decoded(globalThis.fabriloomEngine)));

// A later run ends an earlier one.
let turn = 0;
class Left extends Error {}
const stay = (own) => { if (own !== turn) throw new Left(); };

// Runs to the end, or until `enough`, with turns for the page in between.
const finished = async (input, events, own, enough = () => false) => {
  const run = await Run.of(await loaded(), input);
  let shown = performance.now();
  while (!run.advance(events) && !enough(run)) {
    if (performance.now() - shown < FRAME_MS) continue;
    await new Promise((next) => setTimeout(next));
    shown = performance.now();
    stay(own);
  }
  stay(own);
  return columnsOf(run.finish());
};

// One run of the settings of `place`.
const ranAt = async (place, own) => {
  const input = parts(place), arrays = Object.assign({}, ...input.map(columnsOf)), began = performance.now();
  const native = await finished(input, EVENTS, own);
  return { place, input, arrays, native, took: performance.now() - began, tick_ns: arrays.tick_ps / 1000 };
};

// The same again with its packets recorded: the first ones, or the last before a time.
const recordedAt = async ({ place, input, arrays, native, tick_ns }, end_ns, own) => {
  const newest = end_ns < Infinity, more = [numberColumn("run.hops", KEPT_HOPS)];
  if (newest && native.end_time_ticks * tick_ns > end_ns) more.push(numberColumn("run.until", Math.floor(end_ns / tick_ns)), numberColumn("run.warmup", 0));
  const enough = newest ? undefined : (run) => run.packetHops() >= MOST_ROWS;
  const again = await finished(replaced(input, more), RECORDED_EVENTS, own, enough);
  return { ...recorded(again, arrays, lab, newest), buffer_ns: variant(place).buffer_ns };
};

// ---- what the buttons do ----

// Does something that a later press, or the button that stops it, ends.
const doing = async (what) => {
  const own = ++turn;
  clearTimeout(soon);
  if (!places.every(variant)) { status("These settings exclude each other."); return; }
  status("Running …");
  $("stop").hidden = false;
  try { await what(own); } catch (error) { if (!(error instanceof Left)) status(`The run failed: ${error.message}`); }
  if (own === turn) $("stop").hidden = true;
};

// What has been measured is `trying`, for the console and for tests.
const run = () => doing(async (own) => {
  await loaded();
  const before = viewed(), sides = [];
  for (const place of places) sides.push(await ranAt(place, own));
  // Two fabrics are shown at the same time: before the first of them stands still, if one does.
  const end_ns = Math.min(...sides.map(({ native, tick_ns }) => (STUCK.includes(native.end_reason) ? native.end_time_ticks * tick_ns : Infinity)));
  for (const side of sides) side.shown = await recordedAt(side, end_ns, own);
  state.live = sides.map(({ native, tick_ns }) => told(native, tick_ns));
  globalThis.trying = sides.map(({ native, tick_ns }) => measured(native, tick_ns));
  showNames();
  player.jumps.deadlock.hidden = sides.every(({ shown }) => !shown.cycle.length);
  sides.forEach(({ shown }, side) => {
    card(side).show(state.live[side]);
    play({ ...shown, side, said: `${shown.packets.length.toLocaleString("en")} packets from ${plots.figures(shown.from_ns / 1e3)} µs on.` }, "Run in this browser");
  });
  view(before);
  $("view").hidden = false;
  const sum = (of) => sides.reduce((total, one) => total + of(one), 0), took = sum((one) => one.took);
  status(`Run in ${plots.figures(took / 1e3)} s, ${Math.round(sum(({ native }) => native.packet_hops) / took).toLocaleString("en")} thousand packet-hops a second.`);
});

// All loads of the first slider, one after the other; the points that are there stay when it is stopped.
const curve = () => doing(async (own) => {
  await Promise.all([script("charts.min.js"), loaded()]);
  state.points = [[], []];
  for (const [number, load] of lab.loads.entries()) {
    for (const [side, [, ...others]] of places.entries()) {
      const place = [number, ...others];
      if (!variant(place)) continue;
      const input = parts(place), [{ tick_ps }] = input.map(columnsOf).filter((one) => "tick_ps" in one);
      state.points[side].push(point(await finished(input, EVENTS, own), tick_ps / 1000, number, load, lab.waits));
      showNames();
      showCurve(runAt);
      status(`${number + 1} of ${lab.loads.length} loads are finished.`);
    }
  }
});

const runAt = (load) => {
  for (const place of places) place[0] = lab.loads.indexOf(load);
  showSettings();
  run();
};

let soon = 0;
const changed = () => {
  clearTimeout(soon);
  soon = setTimeout(run, PATIENCE_MS);
};

// The settings with which a second fabric begins: those of the first, with what is of interest beside it.
const other = () => {
  const file = lab.sliders.map(({ at }) => at), place = lab.one && lab.beside.length ? [places[0][0], ...file.slice(1)] : [...places[0]];
  for (const [number, to] of lab.beside) place[number] = to;
  return place;
};

const beside = () => {
  if (places.length > 1) places.pop();
  else places.push(other());
  $("beside").setAttribute("aria-pressed", String(places.length > 1));
  Object.assign(state, { live: state.live.slice(0, places.length), points: [[], []] });
  $("study").hidden = true;
  showSettings();
  showNames();
  changed();
};

$("seed").parentElement.hidden = lab.seed === null;
$("seed").value = lab.seed;
$("curve").hidden = !lab.loads;
$("one").hidden = !lab.one;
$("measured").after($("study"));
if (lab.loads) curves.load.axes.most = 100 * Math.max(1, ...lab.loads);
curves.load.picked = curves.curve.picked = runAt;
showSettings();
$("seed").addEventListener("change", changed);
for (const [name, act] of Object.entries({ run, curve, beside, stop: () => { turn++; $("stop").hidden = true; status("Stopped."); } })) $(name).addEventListener("click", act);
