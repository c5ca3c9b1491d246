// The scenario of a page as the compiler left it: the columns of some settings. What the compiler cannot know is done here:
// cables that fail by hand, and the short runs that measure the flow control, as `matched` of
// `python/fabriloom/simulate.py` makes them. `docs/site/clocks.py` says what there is for them.
import { KINDS, columnOf, columnsOf, nameOf, numberColumn } from "./engine.js";

// ---- cables that fail by hand: the columns of faults with those of the file, joined as in `python/fabriloom/faults.py` ----

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
const faultColumns = (arrays, { grain_ps, disconnect }, mended, failed) => {
  let rows = rowsOf(arrays).filter(({ link }) => !mended.has(link));
  for (const [link, ns] of failed) rows = withFailure(rows, link, Math.floor(1000 * ns / grain_ps) * arrays.grain_ticks, disconnect);
  rows.sort((one, other) => one.down - other.down || one.link - other.link);
  const column = (name, kind, of) => columnOf(`fault_${name}`, KINDS[kind], rows.map((row) => row[of]));
  return [
    column("link", "u32", "link"), column("down_ticks", "u64", "down"), column("ended_ticks", "u64", "ended"), column("up_ticks", "u64", "up"),
    column("kind", "u8", "kind"), ...(rows.some(({ character }) => character) ? [column("character_ticks", "u32", "character")] : []),
  ];
};

// ---- the columns of some settings ----

const FIRST_TENTHS = 5, PILOTS = 2;

// Columns, with others instead of those that have their names.
export const replaced = (given, others) => {
  const names = new Set(others.map(nameOf));
  return [...given.filter((part) => !names.has(nameOf(part))), ...others];
};

const arraysOf = (parts) => Object.assign({}, ...parts.map(columnsOf));

// Per link the load of the opposite direction, in tenths, rounded up.
const reverseTenths = ({ end_time_ticks: end, measure_start_ticks: start, link_busy_ticks: busy }, reverse) =>
  [...reverse].map((link) => Math.min(10, Math.ceil(10 * (busy[link] ?? 0) / Math.max(1, end - start))));

export class Compiled {
  // `links`: their names; `bytes`: the columns.
  constructor(lab, links, bytes) { Object.assign(this, { lab, links, bytes }); }

  column(at) { return this.bytes.subarray(this.lab.starts[at], this.lab.starts[at + 1]); }

  columns(numbers) { return numbers.map((at) => this.column(at)); }

  // What there is for a place of each slider: nothing, if these settings exclude each other.
  fabrics(place) { return this.lab.variants[place.filter((_, number) => !this.lab.sliders[number].columns).join(",")]; }

  // The columns of settings: the place of each slider, the seed, and the faults. What is a column alone, or a number such
  // as the seed, replaces that of the variant.
  at({ place, seed, faults }, tenths) {
    const { sliders, clocks, common } = this.lab, fabrics = this.fabrics(place);
    const { columns, clock: number } = fabrics.find(({ clock }) => !clocks[clock].factors || tenths.every((one) => clocks[clock].factors[one]));
    const clock = clocks[number], own = sliders.flatMap((slider, at) => (slider.columns ? [this.column(slider.columns[place[at]])] : []));
    if (this.lab.seed !== null) own.push(numberColumn("seed", seed));
    if (clock.tables) own.push(...this.byLoad(clock, tenths));
    const parts = replaced(this.columns([...common, ...columns]), own);
    const input = this.withOptions(replaced(parts, this.faults(arraysOf(parts), clock, faults)), faults);
    return { input, arrays: arraysOf(input), clock };
  }

  // With the options that depend on whether anything fails. What is null is not there: until the run is steady.
  withOptions(input, faults) {
    const options = Object.entries(this.lab[faults.length ? "faulty" : "calm"] ?? {}), names = new Set(options.map(([name]) => `run.${name}`));
    const set = options.filter(([, value]) => value !== null).map(([name, value]) => columnOf(`run.${name}`, name === "precision" ? KINDS.f64 : KINDS.u64, [value], true));
    return [...input.filter((part) => !names.has(nameOf(part))), ...set];
  }

  // The options of a short run. Its warm-up is that of the run where that depends on faults.
  pilotOf({ clock }) { return this.columns(clock.pilot).filter((part) => !("warmup" in (this.lab.calm ?? {}) && nameOf(part) === "run.warmup")); }

  // The columns that depend on the loads of the opposite directions.
  byLoad({ tables, factors }, tenths) {
    const each = tables.map((numbers) => arraysOf(this.columns(numbers)));
    return Object.keys(each[0]).map((name) => columnOf(name, KINDS.u32, tenths.map((one, link) => each[one][name][link] * factors[one])));
  }

  // The columns of faults; none if these are as in the file.
  faults(arrays, clock, faults) {
    const words = (list) => new Set(list.map((one) => JSON.stringify(one))), [own, now] = [words(this.lab.faults), words(faults)];
    const linksOf = ({ cable }) => { const link = this.links.indexOf(cable); return [link, arrays.link_reverse[link]].filter((one) => one in this.links); };
    const mended = this.lab.faults.filter((one) => !now.has(JSON.stringify(one))), failed = faults.filter((one) => !own.has(JSON.stringify(one)));
    if (!mended.length && !failed.length) return [];
    return faultColumns(arrays, clock, new Set(mended.flatMap(linksOf)), failed.flatMap((one) => linksOf(one).map((link) => [link, parseInt(one.at, 10)])));
  }

  // The same for the loads that short runs find, if the scenario asks for them; `run` runs columns to their end.
  async matched(settings, run) {
    let tenths = this.links.map(() => FIRST_TENTHS), one = this.at(settings, tenths);
    for (let pilot = 0; pilot < PILOTS && one.clock.tables; pilot++) {
      const found = reverseTenths(await run(replaced(one.input, this.pilotOf(one))), one.arrays.link_reverse);
      if (String(found) === String(tenths)) break;
      tenths = found;
      one = this.at(settings, tenths);
    }
    return one;
  }
}
