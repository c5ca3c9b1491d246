// The scenario of this page, run by the engine in this browser with the settings of the sliders.
import {} from "./replayed.js";
import { showControls } from "./controls.js";
import { Run, columnsOf, numberColumn } from "./engine.js";
import { card, play, player, view, viewed } from "./playing.js";
import { MOST_ROWS, recorded } from "./recorded.js";
import { $, state } from "./state.js";
/* global plots */

// Events between two looks at the page, and, as in the laboratory, between two looks whether enough packets are recorded.
const EVENTS = 20_000, RECORDED_EVENTS = 200_000, KEPT_HOPS = 1 << 19, FRAME_MS = 30, PATIENCE_MS = 250;
const STUCK = ["deadlocked", "livelocked"], BAD = [...STUCK, "stalled"];
const { lab } = JSON.parse($("recorded").textContent);

const decoded = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const bytes = decoded(lab.bytes), choice = lab.sliders.map(({ at }) => at);
const variant = () => lab.variants[choice.join(",")];

// The columns of the present settings. A seed that changes nothing else is a number of its own.
const parts = () => {
  const own = variant().columns.map((at) => bytes.subarray(lab.starts[at], lab.starts[at + 1]));
  return lab.seed === null ? own : [...own.filter((part) => !("seed" in columnsOf(part))), numberColumn("seed", Number($("seed").value) || 0)];
};

// The engine comes with the first run: many readers only watch.
let engine = null;
const loaded = () => {
  engine ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.onload = () => WebAssembly.compile(decoded(globalThis.fabriloomEngine)).then(done, failed);
    script.onerror = () => failed(new Error("The engine could not be loaded."));
    script.src = "engine.js";
    document.head.append(script);
  });
  return engine;
};

// A later run ends an earlier one.
let turn = 0;
class Left extends Error {}

// Runs to the end, or until `enough`, with turns for the page in between.
const finished = async (input, more, events, own, enough = () => false) => {
  const run = await Run.of(await loaded(), [...input, ...more]);
  let shown = performance.now();
  while (!run.advance(events) && !enough(run)) {
    if (performance.now() - shown < FRAME_MS) continue;
    await new Promise((next) => setTimeout(next));
    shown = performance.now();
    if (own !== turn) throw new Left();
  }
  return columnsOf(run.finish());
};

const percentile = (native, share) => {
  const counts = [...native.latency_counts], total = counts.reduce((sum, one) => sum + one, 0), rank = Math.max(1, Math.ceil(share * total - 1e-9 * total));
  let sum = 0;
  const at = counts.findIndex((count) => (sum += count) >= rank);
  return Math.min(native.latency_max_ticks, Math.max(native.latency_min_ticks, native.latency_values_ticks[at]));
};

// The measured numbers: MB/s, ns, and the share of the time in which each link is in use.
const measured = (native, tick_ns) => {
  const window = Math.max(0, native.end_time_ticks - native.measure_start_ticks), packets = native.measured_packets;
  const rate = (what) => (window ? native[`measured_${what}_bytes`] * 1e3 / (window * tick_ns) : 0);
  const latency = (ticks) => (packets ? ticks() * tick_ns : null);
  return {
    accepted: rate("delivered"), offered: rate("offered"), packets,
    mean: latency(() => native.latency_sum_ticks / packets), longest: latency(() => native.latency_max_ticks),
    median: latency(() => percentile(native, 0.5)), p99: latency(() => percentile(native, 0.99)),
    busy: [...native.link_busy_ticks].map((ticks) => Math.round(1000 * (window ? Math.min(1, ticks / window) : 0))),
  };
};

const told = (native, tick_ns) => {
  const one = measured(native, tick_ns), { figures } = plots, micro = (ns) => (ns === null ? "–" : `${figures(ns / 1e3)} µs`);
  return {
    verdict: "", columns: [], carried: [], sources: [], limit: -1, warnings: [],
    busy: one.busy, cycle: [...native.deadlock_links], bad: BAD.includes(native.end_reason),
    facts: [
      ["Accepted", `${figures(one.accepted)} MB/s`], ["Offered", `${figures(one.offered)} MB/s`], ["Mean latency", micro(one.mean)],
      ["Median latency", micro(one.median)], ["99 % within", micro(one.p99)], ["Longest", micro(one.longest)],
      ["Packets measured", one.packets.toLocaleString("en")], ["Simulated", `${figures(native.end_time_ticks * tick_ns / 1e6)} ms`],
    ],
    end: { reason: native.end_reason, message: `Run in this browser: ${native.events.toLocaleString("en")} events.` },
  };
};

// The file of the scenario is as it was; it says which settings of the page it does not have.
const { text: file } = state.looked[0];
const noted = () => {
  const set = lab.sliders.map(({ label, texts }, at) => `${label}: ${texts[choice[at]]}`);
  state.looked[0].text = `# Shown with these settings instead of those below: ${[...set, ...(lab.seed === null ? [] : [`seed: ${$("seed").value}`])].join("; ")}\n${file}`;
};

// What has been measured is `trying`, for the console and for tests.
const go = async () => {
  const own = ++turn, before = viewed();
  if (!variant()) { $("tried").textContent = "These settings exclude each other."; return; }
  $("tried").textContent = "Running …";
  try {
    await loaded();
    const input = parts(), arrays = Object.assign({}, ...input.map(columnsOf)), began = performance.now();
    const native = await finished(input, [], EVENTS, own), took = performance.now() - began, newest = STUCK.includes(native.end_reason);
    const hops = [numberColumn("run.hops", KEPT_HOPS)], enough = newest ? undefined : (run) => run.packetHops() >= MOST_ROWS;
    const again = await finished(input, hops, RECORDED_EVENTS, own, enough), live = told(native, arrays.tick_ps / 1000);
    state.live = [live];
    globalThis.trying = measured(native, arrays.tick_ps / 1000);
    noted();
    card(0).show(live);
    const shown = { ...recorded(again, arrays, lab, newest), buffer_ns: variant().buffer_ns, side: 0 };
    player.jumps.deadlock.hidden = !shown.cycle.length;
    play({ ...shown, said: `${shown.packets.length.toLocaleString("en")} packets from ${plots.figures(shown.from_ns / 1e3)} µs on.` }, "Run in this browser");
    view(before);
    $("view").hidden = false;
    $("tried").textContent = `Run in ${plots.figures(took / 1e3)} s, ${Math.round(native.packet_hops / took).toLocaleString("en")} thousand packet-hops a second.`;
  } catch (error) {
    if (!(error instanceof Left)) $("tried").textContent = `The run failed: ${error.message}`;
  }
};

const controls = lab.sliders.map(({ label, texts, at }, number) => ({ label, at, options: texts.map((text, to) => ({ text, settings: { [number]: to } })) }));
let soon = 0;
const changed = () => {
  clearTimeout(soon);
  soon = setTimeout(go, PATIENCE_MS);
};
showControls($("try"), controls, choice, (of, { settings }) => { Object.assign(of, settings); changed(); });
$("try").hidden = false;
$("seed").parentElement.hidden = lab.seed === null;
$("seed").value = lab.seed;
$("seed").addEventListener("change", changed);
$("run").addEventListener("click", go);
