// The state of the page: what is chosen, looked at, running and measured, and the questions that are asked of it.
import { keep, kept } from "./state.js";

export const $ = (id) => document.getElementById(id);

export const state = {
  session: "", shelf: [], first: null, beside: null, looked: [], running: false, asked: false, job: "",
  live: [], points: [[], []], verdicts: [], loaded: kept().loaded ?? null, turn: 0,
  // The choices (see `chosen`) of the drawing, of the last job, of the shown numbers and of the shown packets; `owed`:
  // packets must still be fetched.
  drawn: "", wanted: "", measured: kept().measured ?? "", replayed: kept().replayed ?? "", owed: false,
  // `unasked`: the user did not ask for the running job. `left`: it belongs to a fabric that is no longer shown.
  unasked: false, left: false, reading: false,
  // The status text of the last run before packets were fetched automatically, which must not replace it.
  lastSaid: "",
};

export const complain = (text) => {
  $("said").hidden = !text;
  $("said").firstElementChild.textContent = text ?? "";
};
export const status = (text) => { $("status").textContent = text; };

export const entryOf = (spec) => state.shelf.find((entry) => entry.name === spec?.shelf);
export const specOf = (name) => (name === "loaded" ? { ...state.loaded, settings: {} } : { shelf: name, settings: {} });
export const nameOf = (spec) => (spec.shelf ?? "loaded");

export const busy = () => state.running || state.asked;
// Whether measured values are shown, and whether they belong to the current settings.
export const measured = () => state.live.length + state.points[0].length > 0;
export const chosen = () => JSON.stringify([state.first, state.beside]);
export const ofNow = () => state.measured === chosen();
export const keepOf = (of) => { Object.assign(state, of); keep(of); };
export const remember = () => keep({ first: state.first, beside: state.beside, loaded: state.loaded });

// The names of two fabrics of one scenario are the settings that differ.
export const named = (side) => {
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
