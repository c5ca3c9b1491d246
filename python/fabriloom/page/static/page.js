// The laboratory: what hands do, and how the page begins.
import { choose, fail, join, load, look, putBeside } from "./choosing.js";
import { connect } from "./hearing.js";
import { cards, further, listenToStage, player } from "./playing.js";
import { begin, buttons, replay, runAt, showWhen, stop } from "./running.js";
import { $, busy, complain, download, fromAddress, get, getText, kept, measured, named, ofNow, shareable, specOf, state, status } from "./state.js";
import { charts } from "./viewing.js";

// What a saved replay needs of each fabric and of its run; `replay_file.py` has the same names.
const OF_LOOK = ["description", "facts", "links", "svg", "parts", "warnings", "origin"];
const OF_RUN = ["busy", "carried", "columns", "facts", "end", "bad", "verdict", "warnings", "cycle", "limit", "sources"];
const PLACE = "{}</script>";

const only = (names, of) => Object.fromEntries(names.map((name) => [name, of[name]]));
// No text of a scenario can end the element that holds it.
const safe = (data) => JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

// Saves the replay that is shown as one HTML file: the player, with the recording in it.
const saveReplay = async () => {
  const live = measured() && ofNow() && state.live.length === cards.length && state.live.every((one) => one.end) ? state.live : [];
  const data = {
    looked: state.looked.map((side, number) => ({ ...only(OF_LOOK, side), name: named(number), text: side.shared })),
    replays: cards.map(({ packets }) => { const { type, side, ...recorded } = packets.recording.data; return recorded; }),
    live: live.map((one) => only(OF_RUN, one)),
  };
  try {
    const [before, after] = (await getText("page/replay.html")).split(PLACE, 2);
    download(`${cards[0].file}.html`, new Blob([before, safe(data), "</script>", after], { type: "text/html" }));
  } catch (error) { complain(error.message); }
};

const listenToPanel = () => {
  $("shelf").addEventListener("change", () => choose($("shelf").value));
  $("shelf-1").addEventListener("change", () => putBeside($("shelf-1").value));
  $("file").addEventListener("change", () => { load($("file").files).then(() => { $("file").value = ""; }); });
  $("run").addEventListener("click", () => begin("run"));
  $("curve").addEventListener("click", () => begin("curve"));
  $("beside").addEventListener("click", () => { if (state.beside) { state.beside = null; look(true); } else putBeside(""); });
  $("cancel").addEventListener("click", stop);
  $("link").addEventListener("click", share);
};

const listenToReplay = () => {
  listenToStage();
  further.end = () => replay("end");
  further.failed = fail;
  further.joined = join;
  player.offerFile(saveReplay);
  $("when").addEventListener("change", () => {
    if ($("when").value !== "moment") { replay($("when").value); return; }
    showWhen("moment");
    $("from").focus();
  });
  $("from").addEventListener("change", () => replay("moment"));
  for (const name of ["accepted", "latency"]) charts[name].clicked = (time) => replay("moment", time);
  charts.load.picked = charts.curve.picked = (load) => runAt(load);
};

const listenToDrops = () => {
  let over = 0;
  const veil = (step) => { over = Math.max(0, over + step); $("veil").hidden = !over; };
  addEventListener("dragenter", (event) => { event.preventDefault(); veil(1); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("dragleave", () => veil(-1));
  addEventListener("drop", (event) => { event.preventDefault(); over = 0; veil(0); load(event.dataTransfer.files); });
};

// A server has an address of its own, but any laboratory can open the state.
const WHERE = "It opens this choice while this laboratory runs. Elsewhere, start `fabriloom page` and put the part from #state= behind its address.";

// The state of the page as a link that opens it again.
const share = async () => {
  const address = shareable({ first: state.first, beside: state.beside });
  if (!address) { complain("The scenario is too long for a link; save it as a file."); return; }
  history.replaceState(null, "", address);
  try { await navigator.clipboard.writeText(location.href); status(`The link is copied. ${WHERE}`); } catch { status(`The link is in the address bar. ${WHERE}`); }
};

// What the address of the page says, if it is one of a laboratory.
const ofAddress = () => {
  const { first, beside } = fromAddress();
  if (!first) return {};
  return { first, beside, loaded: first.text ? { file: first.file, text: first.text, files: first.files } : undefined };
};

const start = async () => {
  listenToPanel();
  listenToReplay();
  listenToDrops();
  const memory = { ...kept(), ...ofAddress() };
  try { state.shelf = await get("api/shelf"); } catch (error) { complain(error.message); return; }
  state.first = memory.first ?? specOf(state.shelf[0].name);
  state.beside = memory.beside ?? null;
  if (!await look() && memory.first) choose(state.shelf[0].name);
  await connect();
  buttons();
  document.documentElement.dataset.ready = "yes";
};

// For the console, and for tests that examine the drawing.
globalThis.laboratory = { player, cards, charts, state, busy };

start();
