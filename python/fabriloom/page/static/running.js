// Jobs: runs, curves and replays; one at a time.
import { look } from "./choosing.js";
import { connect } from "./hearing.js";
import { $, busy, chosen, complain, post, state, status } from "./state.js";

// The button that began the running job disappears or is disabled. Return the focus to it afterwards, so that keyboard
// users do not start at the top again.
let pressed = null;
export const buttons = () => {
  const running = busy(), ready = state.looked.length > 0 && !running && !state.reading, focused = document.activeElement;
  for (const name of ["run", "curve", "beside", "when", "from"]) $(name).disabled = !ready;
  $("run").hidden = running;
  $("cancel").hidden = !running;
  $("share").hidden = !running;
  if (running && ["run", "curve"].includes(focused.id)) { pressed = focused; $("cancel").focus(); }
  if (!running && pressed) { if (focused === $("cancel")) pressed.focus(); pressed = null; }
};

// Which packets are replayed: those from the beginning, the last ones, or those from a time on, in ms.
export const showWhen = (value, time) => {
  $("when").value = value;
  $("moment").hidden = value !== "moment";
  if (time !== undefined) $("from").value = Number(time.toPrecision(4));
};
const moment = () => ({ beginning: 0, end: null, moment: Math.max(0, Number($("from").value) || 0) })[$("when").value];
// If a job is running, after it has ended.
export const replay = (value, time) => {
  showWhen(value, time);
  if (busy() || state.reading) state.owed = true;
  else begin("replay");
};

export const begin = async (what, unasked = false) => {
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

// Fetches packets automatically; if a job is running, after it has ended.
export const replaySoon = () => { if (state.owed && state.session && !state.reading && !busy()) begin("replay", true); };

// The running job belongs to another fabric: show none of its messages and cancel it, unless it is a short automatic
// job.
export const leave = () => {
  state.left = busy();
  if (state.left && !state.unasked) cancel();
};
export const cancel = () => post("api/cancel", { session: state.session }).catch((error) => complain(error.message));
export const stop = () => { status("Cancelling …"); cancel(); };

// Runs the point of a curve that has this load.
export const runAt = async (load) => {
  const offered = state.looked[0]?.controls.find((one) => ["Offered load", "Rates multiplied by"].includes(one.label));
  if (!offered || busy()) return;
  const path = Object.keys(offered.options[0].settings)[0];
  for (const spec of [state.first, state.beside].filter(Boolean)) spec.settings[path] = load;
  if (await look(false, false)) begin("run");
};
