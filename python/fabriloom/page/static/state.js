// The messages between page and server, what the page keeps over a reload, and its state: what is chosen, looked at,
// running and measured, and the questions that are asked of it.

const KEPT = "fabriloom";

export const kept = () => {
  try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? {}; } catch { return {}; }
};

export const keep = (more) => {
  try { sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...more })); } catch { /* a full or closed storage only costs the memory */ }
};

const answer = async (response) => {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? "The server sent an invalid answer.");
  return body;
};

const gone = () => { throw new Error("The server does not answer. Is `fabriloom page` still running?"); };

export const get = (path) => fetch(path).catch(gone).then(answer);

export const getText = (path) => fetch(path).catch(gone).then((response) => (response.ok ? response.text() : answer(response)));

export const post = (path, body) => fetch(path, {
  method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
}).catch(gone).then(answer);

export const openSession = async () => {
  const { session } = await post("api/session", { session: kept().session ?? "" });
  keep({ session });
  return session;
};

// Listens to the messages of a session for ever: after an interruption the server reports its state again.
export const listen = (session, hear, lost) => {
  const source = new EventSource("api/events?session=" + encodeURIComponent(session));
  source.onmessage = (event) => hear(JSON.parse(event.data));
  source.onerror = () => lost(source.readyState === EventSource.CLOSED);
  return source;
};

export const download = (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

export const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// ---- a state of the page as an address ----

const LONGEST = 60_000;

const bytes = (text) => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");

// The address that opens a state again; null if it would be too long.
export const shareable = (state) => {
  const packed = btoa(bytes(JSON.stringify(state))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return packed.length > LONGEST ? null : `#state=${packed}`;
};

// The state in the address; an empty one if there is none.
export const fromAddress = () => {
  const packed = /#state=([\w-]+)/.exec(location.hash)?.[1];
  if (!packed) return {};
  try {
    const plain = Uint8Array.from(atob(packed.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(plain)) ?? {};
  } catch { return {}; }
};

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
