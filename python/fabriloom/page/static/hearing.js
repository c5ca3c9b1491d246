// The messages of the server, each to what it changes on the page.
/* global plots */
import { card, play, player, view, viewed } from "./playing.js";
import { buttons, cancel, replaySoon } from "./running.js";
import { $, complain, keepOf, kept, listen, measured, named, ofNow, openSession, state, status } from "./state.js";
import { drawNews, forget, news, ofLoad, showPoints, stale } from "./viewing.js";

const hearers = {
  state(message) {
    Object.assign(state, { asked: false, running: message.running, job: message.job, live: [], points: [[], []], verdicts: [] });
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
    if (!message.end) status(message.warming ? "Warming up: nothing is measured yet." : `Running: ${plots.figures(message.events_per_s / 1e6, 3)} million events a second.`);
  },
  point(message) {
    state.points[message.side].push(message);
    state.points[message.side].sort((a, b) => a.load - b.load);
    // The fabric shows the highest load that has been measured.
    const { fabric } = card(message.side), { busy, load } = state.points[message.side].at(-1);
    if (busy.length === fabric.links.length) fabric.busy = busy;
    if (message.side === 0) ofLoad(load);
    if (viewed() === "use") fabric.paint(fabric.busy);
    showPoints();
  },
  verdict(message) {
    state.verdicts[message.side] = state.looked.length > 1 ? `${named(message.side)}: ${message.text}` : message.text;
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
    player.jumps.deadlock.hidden = !message.cycle.length && !state.looked.some((side) => side.warnings.some((text) => text.includes("deadlock")));
    play(message, what);
  },
  done(message) {
    $("report").hidden = !message.report;
    $("report").href = "api/report?session=" + encodeURIComponent(state.session);
    if (state.job === "replay" && !state.owed) player.complete();
    if (state.reading) return;
    if (state.job === "replay" && !message.why) { status(state.lastSaid); return; }
    status(message.why === "cancelled" ? "Cancelled: these numbers were measured up to that time." : message.why || "Done.");
  },
  error(message) {
    complain(message.text);
    status("");
    player.complete();
  },
  idle() {
    if (state.left && !state.reading) status("");
    Object.assign(state, { running: false, left: false });
    replaySoon();
  },
};

const OF_JOBS = ["live", "point", "verdict", "study", "recording", "replay", "done", "error"];
const hear = (message) => {
  if (!(state.left && OF_JOBS.includes(message.type))) hearers[message.type]?.(message);
  buttons();
};

// Until the server has reported on this tab, it is unknown whether something runs in it.
let told = () => {};

export const connect = async () => {
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
