// Choosing scenarios, from the list or from files, and examining them.
import { showControls } from "./controls.js";
import { player, showFabrics, toggled } from "./playing.js";
import { buttons, leave, replaySoon, showWhen } from "./running.js";
import { $, chosen, complain, element, entryOf, nameOf, post, remember, specOf, state, status } from "./state.js";
import { forget, stale } from "./viewing.js";

const MORE = "topology.more_cables";
const SCENARIO = /\.(toml|ya?ml|json)$/i;

const fillShelf = (select, more) => {
  select.replaceChildren(...more.map(([value, text]) => new Option(text, value)));
  for (const group of new Set(state.shelf.map((entry) => entry.group))) {
    const options = state.shelf.filter((entry) => entry.group === group).map((entry) => new Option(entry.title, entry.name));
    select.append(Object.assign(element("optgroup", { label: group }), {}));
    select.lastElementChild.append(...options);
  }
  if (state.loaded) select.append(new Option(`From a file: ${state.loaded.file}`, "loaded"));
};

export const choose = (name) => {
  state.first = specOf(name);
  state.beside = null;
  look(true);
};

// The second fabric takes the settings of the first, changed as the shelf suggests.
export const putBeside = async (name) => {
  const before = state.beside, same = name === "" || name === nameOf(state.first);
  state.beside = same ? { ...state.first, settings: { ...state.first.settings, ...(entryOf(state.first)?.beside ?? {}) } } : specOf(name);
  if (await look(true)) return;
  state.beside = before;
  remember();
  showChoice();
};

// Of several files, one is the scenario and the others are the files that it names.
export const load = async (given) => {
  const files = [...given], scenario = files.find((file) => SCENARIO.test(file.name)) ?? files[0];
  if (!scenario) return;
  if (files.reduce((sum, file) => sum + file.size, 0) > 3_000_000) { complain("These files are longer than 3 MB together, the most that the page accepts."); return; }
  const before = { first: state.first, beside: state.beside, loaded: state.loaded };
  const others = await Promise.all(files.filter((file) => file !== scenario).map(async (file) => [file.name, await file.text()]));
  state.loaded = { file: scenario.name, text: await scenario.text(), files: Object.fromEntries(others) };
  state.first = specOf("loaded");
  state.beside = null;
  if (await look(true)) return;
  Object.assign(state, before);
  remember();
  showChoice();
};

// Changes one setting of a fabric by hand, if the scenario is accepted then.
const change = async (side, name, value) => {
  const spec = side ? state.beside : state.first, { settings } = spec;
  spec.settings = { ...settings, [name]: value };
  if (await look()) return;
  spec.settings = settings;
  remember();
};

const settingsOf = (side) => (side ? state.beside : state.first).settings;

// A cable fails from the shown moment on; one that has failed works again.
export const fail = (cable, side) => change(side, "fault", toggled(settingsOf(side).fault ?? state.looked[side].faults, cable, player.now));

// Two switches get a cable more; one that was added by hand goes.
export const join = (one, other, side) => {
  const cables = settingsOf(side)[MORE] ?? state.looked[side].cables;
  const others = cables.filter((pair) => !(pair.includes(one) && pair.includes(other)));
  return change(side, MORE, others.length < cables.length ? others : [...cables, [one, other]]);
};

const showChoice = () => {
  fillShelf($("shelf"), []);
  fillShelf($("shelf-1"), [["", "the same, with other settings"]]);
  $("shelf").value = nameOf(state.first);
  $("shelf-1").value = state.beside && nameOf(state.beside) !== nameOf(state.first) ? nameOf(state.beside) : "";
  $("second").hidden = !state.beside;
  $("beside").setAttribute("aria-pressed", String(Boolean(state.beside)));
};

// `anew`: another fabric was chosen, so discard the measured values once it is read. `replayed`: fetch its packets.
export const look = async (anew = false, replayed = true) => {
  const turn = ++state.turn, of = chosen();
  // A newly chosen fabric cannot be run before it is read: its run would be cancelled at once.
  state.reading = anew;
  remember();
  showChoice();
  status("Reading the scenario …");
  try {
    const found = await post("api/look", { first: state.first, beside: state.beside });
    if (turn !== state.turn) return true;
    if (found.type === "error") throw new Error(found.text);
    Object.assign(state, { looked: found.sides, drawn: of, owed: replayed });
    complain("");
    status("");
    if (anew) { leave(); forget(); showWhen("beginning"); }
    showLook();
    stale();
    player.clear();
    state.reading = false;
    replaySoon();
    return true;
  } catch (error) {
    if (turn === state.turn) { complain(error.message); status("The scenario was refused; the previous one stays."); }
    return false;
  } finally {
    if (turn === state.turn) state.reading = false;
    buttons();
  }
};

const showLook = () => {
  const [first] = state.looked;
  showControls($("traffic"), first.controls.filter((one) => one.part === "traffic"), state.first, changed);
  state.looked.forEach((side, number) => {
    const fabric = side.controls.filter((one) => one.part === "fabric");
    showControls($("fabric-" + number), fabric, number ? state.beside : state.first, changed);
  });
  showFabrics(entryOf(state.first)?.look || first.description);
  $("text").querySelector("pre").textContent = first.text;
};

let later = 0;
const changed = (spec, option) => {
  Object.assign(spec.settings, option.settings);
  clearTimeout(later);
  later = setTimeout(() => look(), 200);
};
