// The scenario of this page, run by the engine in this browser with the settings of the sliders: once, with another
// fabric beside it, or at all loads.
import { note, settings, showMoment } from "./replayed.js";
import { Compiled, replaced } from "./compiled.js";
import { showControls } from "./controls.js";
import { curves, showCurve } from "./charts.js";
import { Run, columnsOf, numberColumn } from "./engine.js";
import { STUCK, measured, point, told } from "./measured.js";
import { card, further, play, player, showFabrics, toggled, view, viewed } from "./playing.js";
import { MOST_ROWS, recorded } from "./recorded.js";
import { $, element, fromAddress, state } from "./state.js";
/* global plots */

// Events between two looks at the page, and, as in the laboratory, between two looks whether enough packets are recorded.
const EVENTS = 20_000, RECORDED_EVENTS = 200_000, KEPT_HOPS = 1 << 19, FRAME_MS = 30, PATIENCE_MS = 250;
const { lab } = JSON.parse($("recorded").textContent);
const status = (text) => { $("tried").textContent = text; };

// ---- settings ----

const decoded = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const compiled = new Compiled(lab, state.looked[0].links);

// Where the sliders of each fabric are, and what fails in it.
const places = [lab.sliders.map(({ at }) => at)], faults = [lab.faults];
const seed = () => Number($("seed").value) || 0;
const chosen = (side) => ({ place: places[side], seed: seed(), faults: faults[side] });

const controlsOf = (side, among) => lab.sliders.flatMap(({ label, part, ordered, texts }, number) => (among.includes(part)
  ? [{ label, ordered, at: places[side][number], options: texts.map((text, to) => ({ text, number, to })) }] : []));

// The traffic is that of both fabrics.
const moved = (side, { number, to }) => {
  for (const place of lab.sliders[number].part === "traffic" ? places : [places[side]]) place[number] = to;
  showSettings();
  changed();
};

const showSettings = () => {
  showControls($("try"), controlsOf(0, ["traffic", "fabric"]), 0, moved);
  showControls($("second"), places.length > 1 ? controlsOf(1, ["fabric"]) : [], 1, moved);
  $("beside").setAttribute("aria-pressed", String(places.length > 1));
  $("cure").setAttribute("aria-pressed", String(lab.beside.every(([number, to]) => places[0][number] === to)));
};

// The file of the scenario is as it was; it says which settings of the page it does not have.
const [file] = state.looked;
const showNames = () => {
  state.looked = places.map((place, side) => {
    const set = lab.sliders.map(({ label, texts }, number) => `${label}: ${texts[place[number]]}`);
    if (lab.seed !== null) set.push(`seed: ${seed()}`);
    set.push(`faults: ${faults[side].map((one) => Object.entries(one).map(([name, value]) => `${name} ${value}`).join(", ")).join("; ") || "none"}`);
    const text = `# Shown with these settings instead of those below: ${set.join("; ")}\n${file.text}`;
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
const unpacked = async (text) => new Uint8Array(await new Response(new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
const loaded = () => engine ??= script("engine.js").then(async () => {
  compiled.bytes = await unpacked(lab.bytes);
  return WebAssembly.compile(decoded(globalThis.fabriloomEngine));
});

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

// The columns of some settings, and what they measure.
const ranWith = async (which, own) => {
  const one = await compiled.matched(which, (input) => finished(input, EVENTS, own)), began = performance.now();
  const native = await finished(one.input, EVENTS, own);
  return { ...one, native, took: performance.now() - began, tick_ns: one.arrays.tick_ps / 1000 };
};

// The same again with its packets recorded: the first ones, or the last before a time.
const recordedAt = async ({ clock, input, arrays, native, tick_ns }, end_ns, own) => {
  const newest = end_ns < Infinity, more = [numberColumn("run.hops", KEPT_HOPS)];
  if (newest && native.end_time_ticks * tick_ns > end_ns) more.push(numberColumn("run.until", Math.floor(end_ns / tick_ns)), numberColumn("run.warmup", 0));
  const enough = newest ? undefined : (run) => run.packetHops() >= MOST_ROWS;
  const again = await finished(replaced(input, more), RECORDED_EVENTS, own, enough);
  return { ...recorded(again, arrays, lab, newest), buffer_ns: clock.buffer_ns };
};

// ---- what the buttons do ----

// Does something that a later press, or the button that stops it, ends. What cannot be run is undone.
const doing = async (what, undo = () => {}) => {
  const own = ++turn;
  clearTimeout(soon);
  if (!places.every((place) => compiled.fabrics(place))) { status("These settings exclude each other."); return; }
  status("Running …");
  $("stop").hidden = false;
  try { await what(own); } catch (error) {
    if (!(error instanceof Left)) { undo(); status(`The run failed: ${error.message}`); }
  }
  if (own === turn) $("stop").hidden = true;
};

// What has been measured is `trying`, for the console and for tests. The replay goes on where `shown` says.
const run = (shown = {}, undo = undefined) => doing(async (own) => {
  await loaded();
  const before = viewed(), sides = [];
  for (const side of places.keys()) sides.push(await ranWith(chosen(side), own));
  // Two fabrics are shown at the same time: before the first of them stands still, if one does.
  const end_ns = Math.min(...sides.map(({ native, tick_ns }) => (STUCK.includes(native.end_reason) ? native.end_time_ticks * tick_ns : Infinity)));
  for (const side of sides) side.shown = await recordedAt(side, end_ns, own);
  state.live = sides.map(({ native, tick_ns }) => told(native, tick_ns));
  showNames();
  player.jumps.deadlock.hidden = sides.every(({ shown }) => !shown.cycle.length);
  sides.forEach(({ shown }, side) => {
    card(side).show(state.live[side]);
    play({ ...shown, side, said: `${shown.packets.length.toLocaleString("en")} packets from ${plots.figures(shown.from_ns / 1e3)} µs on.` }, "Run in this browser");
  });
  $("view").hidden = false;
  view(before);
  showMoment(shown);
  note();
  globalThis.trying = sides.map(({ native, tick_ns }) => measured(native, tick_ns));
  const sum = (of) => sides.reduce((total, one) => total + of(one), 0), took = sum((one) => one.took);
  status(`Run in ${plots.figures(took / 1e3)} s, ${Math.round(sum(({ native }) => native.packet_hops) / took).toLocaleString("en")} thousand packet-hops a second.`);
}, undo);

// All loads of the first slider, one after the other; the points that are there stay when it is stopped.
const curve = () => doing(async (own) => {
  await Promise.all([script("charts.min.js"), loaded()]);
  state.points = [[], []];
  for (const [number, load] of lab.loads.entries()) {
    for (const [side, [, ...others]] of places.entries()) {
      const place = [number, ...others];
      if (!compiled.fabrics(place)) continue;
      const { native, tick_ns } = await ranWith({ ...chosen(side), place }, own);
      state.points[side].push(point(native, tick_ns, number, load, lab.waits));
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
const changed = (shown, undo) => {
  clearTimeout(soon);
  soon = setTimeout(() => run(shown, undo), PATIENCE_MS);
};

// A second fabric begins with the settings of the first, and what is of interest beside it.
const beside = () => {
  const two = places.length > 1;
  for (const of of [places, faults]) if (two) of.pop(); else of.push([...of[0]]);
  if (!two) for (const [number, to] of lab.beside) places[1][number] = to;
  Object.assign(state, { live: state.live.slice(0, places.length), points: [[], []] });
  $("study").hidden = true;
  showSettings();
  showNames();
  changed();
};

// The first fabric gets what is of interest beside it, or goes back.
const cure = () => {
  const cured = $("cure").getAttribute("aria-pressed") === "true";
  for (const [number, to] of lab.beside) places[0][number] = cured ? lab.sliders[number].at : to;
  showSettings();
  changed();
};

// A cable fails at the shown moment, or works again.
const fail = (cable, side) => {
  if (lab.refusal) { status(`No cable fails here: ${lab.refusal}`); return; }
  const before = faults[side];
  faults[side] = toggled(before, cable, player.now);
  changed({ now: player.now, view: "packets" }, () => { faults[side] = before; });
};

// ---- the address ----

settings.of = () => ({ places, faults, seed: seed() });

const share = async () => {
  note();
  try { await navigator.clipboard.writeText(location.href); status("The link is copied; it opens this page as it is shown."); } catch {
    $("tried").replaceChildren("Copy the address of ", element("a", { href: location.href, target: "_blank", textContent: "this page as it is shown" }), ".");
  }
};

// Whether these are places of the sliders: a link may be of another version of the page.
const fit = (place) => Array.isArray(place) && place.length === lab.sliders.length && place.every((at, number) => lab.sliders[number].texts[at] !== undefined);

const open = ({ places: given, faults: failed, ...shown }) => {
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  if (!given || (same(given, places) && same(failed, faults) && shown.seed === seed())) return;
  if (!given.every(fit) || failed?.length !== given.length) { status("The link is of another version of this page."); return; }
  places.splice(0, 2, ...given.slice(0, 2));
  faults.splice(0, 2, ...failed.slice(0, 2));
  if (lab.seed !== null) $("seed").value = shown.seed;
  showSettings();
  showNames();
  run(shown);
};

$("seed").parentElement.hidden = lab.seed === null;
$("seed").value = lab.seed;
$("curve").hidden = !lab.loads;
$("cure").hidden = !lab.beside.length;
$("cure").textContent = lab.beside.map(([number, to]) => `${lab.sliders[number].label}: ${lab.sliders[number].texts[to]}`).join(", ");
$("fails").hidden = Boolean(lab.refusal);
$("measured").after($("study"));
if (lab.loads) curves.load.axes.most = 100 * Math.max(1, ...lab.loads);
curves.load.picked = curves.curve.picked = runAt;
further.failed = fail;
showSettings();
$("seed").addEventListener("change", () => changed());
const stop = () => { turn++; $("stop").hidden = true; status("Stopped."); };
for (const [name, act] of Object.entries({ run: () => run(), curve, beside, cure, stop, link: share })) $(name).addEventListener("click", act);
open(fromAddress());
