// Cables that fail by hand: the columns of faults with those of the file, joined as in `python/fabriloom/faults.py`.
import { KINDS, columnOf } from "./engine.js";

const LINK = 0, STUCK = 1, RATE = 4, NEVER = 2 ** 62;

const rowsOf = ({ fault_link: link = [], fault_down_ticks: down, fault_ended_ticks: ended, fault_up_ticks: up, fault_kind: kind, fault_character_ticks: character }) =>
  [...link].map((one, at) => ({ link: one, down: down[at], ended: ended[at], up: up[at], kind: kind[at], character: character?.[at] ?? 0 }));

// One more link is down for good from a tick on. What else would happen to it from then on does not.
const withFailure = (rows, link, down, disconnect) => {
  const meets = (one) => one.link === link && one.up > down && one.kind !== RATE, joins = (one) => meets(one) && one.kind === LINK && one.down <= down;
  const kept = rows.flatMap((one) => {
    if (!meets(one)) return [one];
    if (joins(one)) return [{ ...one, up: NEVER }];
    return one.kind === STUCK && down > one.down + 1 ? [{ ...one, up: down }] : [];
  });
  return rows.some(joins) ? kept : [...kept, { link, down, ended: down + disconnect, up: NEVER, kind: LINK, character: 0 }];
};

// The columns, without the faults of some links, and with links that are down for good from a time on, `[link, ns]`.
export const faultColumns = (arrays, { grain_ps, disconnect }, mended, failed) => {
  let rows = rowsOf(arrays).filter(({ link }) => !mended.has(link));
  for (const [link, ns] of failed) rows = withFailure(rows, link, Math.floor(1000 * ns / grain_ps) * arrays.grain_ticks, disconnect);
  rows.sort((one, other) => one.down - other.down || one.link - other.link);
  const column = (name, kind, of) => columnOf(`fault_${name}`, KINDS[kind], rows.map((row) => row[of]));
  return [
    column("link", "u32", "link"), column("down_ticks", "u64", "down"), column("ended_ticks", "u64", "ended"), column("up_ticks", "u64", "up"),
    column("kind", "u8", "kind"), ...(rows.some(({ character }) => character) ? [column("character_ticks", "u32", "character")] : []),
  ];
};
