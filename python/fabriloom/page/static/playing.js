// The fabrics with their packets, and the clock of their replay: what the laboratory, a saved replay and pages without a
// server have in common.
import { Card } from "./card.js";
import { Player } from "./player.js";
import { $, download, named, state } from "./state.js";

// What the laboratory sets: records the end of the run; lets a cable fail; adds one. A saved replay has no more than its recording.
export const further = { end: () => {}, failed: () => {}, joined: () => {} };

export const cards = [];
export const card = (number) => {
  cards[number] ??= Object.assign(new Card(number, $("sides"), $("measured"), named), { chosen: (packet) => player.choose(packet, number), failed: (cable) => further.failed(cable, number), joined: (one, other) => further.joined(one, other, number) });
  return cards[number];
};

export const player = new Player($("player"), $("replay-key"), () => cards.map((one) => one.packets), () => further.end(),
  () => cards, (content, ending) => download(`${cards[0].file}.${ending}`, content));

// Shows either moving packets or how much each link is used.
export const view = (what) => {
  document.querySelector(`#view [value=${what}]`).checked = true;
  document.body.dataset.view = what;
  if (what !== "packets") player.pause();
  cards.forEach((one, side) => {
    one.fabric.unmark();
    one.fabric.paint(what === "packets" ? [] : one.fabric.busy);
    if (what !== "packets") one.fabric.mark(state.live[side]?.cycle ?? []);
  });
};
export const viewed = () => document.body.dataset.view;

// Shows the fabrics of `state.looked`, below a description.
export const showFabrics = (description) => {
  $("title").textContent = state.looked[0].name;
  $("look").textContent = description;
  state.looked.forEach((side, number) => card(number).look(side, Boolean(state.live[number])));
  while (cards.length > state.looked.length) cards.pop().remove();
  for (const row of ["sides", "measured"]) $(row).classList.toggle("two", state.looked.length > 1);
};

// Plays the recording of one fabric; `what` says of which run it is.
export const play = (recorded, what) => {
  card(recorded.side).packets.load(recorded);
  view("packets");
  player.loaded(`${what}: ${recorded.said}`);
};

export const listenToStage = () => {
  $("view").addEventListener("change", ({ target }) => view(target.value));
  document.addEventListener("keydown", (event) => {
    const act = player.keys[event.key], away = event.ctrlKey || event.metaKey || event.altKey || $("player").hidden || viewed() !== "packets";
    if (!act || away || event.target.closest("input, select, textarea, button, a, summary, [contenteditable]")) return;
    event.preventDefault();
    act();
  });
};

// The faults of a scenario after a click on a cable: it fails at a time, or, if it has failed, works again.
export const toggled = (faults, cable, now_ns) => {
  const others = faults.filter((one) => ![cable, cable.replace(/^(.*)>(.*?)(#\d+)?$/, "$2>$1$3")].includes(one.cable));
  return others.length < faults.length ? others : [...faults, { cable, at: `${Math.round(now_ns)} ns` }];
};
