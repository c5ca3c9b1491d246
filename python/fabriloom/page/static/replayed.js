// A saved replay: the same drawings and the same player as in the laboratory, with what the file holds.
import { card, cards, listenToStage, play, player, showFabrics } from "./playing.js";
import { $, state } from "./state.js";

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

// For the console, and for tests that examine the drawing.
globalThis.laboratory = { player, cards, state };
document.documentElement.dataset.ready = "yes";
