// A saved replay: the same drawings and the same player as in the laboratory, with what the file holds. Its address says
// which moment is shown, so that a link shows it again.
import { card, cards, listenToStage, play, player, showFabrics, view, viewed } from "./playing.js";
import { $, fromAddress, shareable, state } from "./state.js";

const { looked, replays, live } = JSON.parse($("recorded").textContent);
Object.assign(state, { looked, live });
listenToStage();
// What is to be tried with other settings is of the page: here nothing can be changed.
showFabrics(looked[0].description.split("\n").filter((line) => !line.startsWith("Challenge:")).join("\n"));
$("origin").textContent = looked.map((side) => side.origin).join("; ");
document.title = `${looked[0].name} – Fabriloom`;
live.forEach((one, side) => card(side).show(one));
$("view").hidden = !live.length;
player.jumps.deadlock.hidden = !replays.some((one) => one.cycle.length);
replays.forEach((one, side) => play({ ...one, side }, live.length ? "The measured run, repeated with its packets recorded" : "A run with these settings"));

// Shows what an address says: the moment, and packets or the use of links.
export const showMoment = ({ now, view: what }) => {
  if (Number.isFinite(now)) { player.pause(); player.show(now); }
  if (what === "use" && !$("view").hidden) view(what);
};
showMoment(fromAddress());

// What a page with more than its recording adds to its address.
export const settings = { of: () => ({}) };
export const note = () => {
  const address = shareable({ ...settings.of(), now: Math.round(player.now), view: viewed() });
  try { if (address) history.replaceState(null, "", address); } catch { /* a page in a notebook or a report has no address */ }
};
for (const kind of ["click", "change", "keyup"]) document.addEventListener(kind, () => { if (!player.playing) note(); });
addEventListener("hashchange", () => location.reload());

// For the console, and for tests that examine the drawing.
globalThis.laboratory = { player, cards, state };
document.documentElement.dataset.ready = "yes";
