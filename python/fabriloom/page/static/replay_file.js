// Saves the replay that is shown as one HTML file: the player, with the recording in it.
import { cards } from "./playing.js";
import { complain, download, getText, measured, named, ofNow, state } from "./state.js";

// What a saved replay needs of each fabric and of its run; `replay_file.py` has the same names.
const OF_LOOK = ["description", "facts", "links", "svg", "parts", "warnings", "origin"];
const OF_RUN = ["busy", "carried", "columns", "facts", "end", "bad", "verdict", "warnings", "cycle", "limit", "sources"];
const PLACE = "{}</script>";

const only = (names, of) => Object.fromEntries(names.map((name) => [name, of[name]]));
// No text of a scenario can end the element that holds it.
const safe = (data) => JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const saveReplay = async () => {
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
