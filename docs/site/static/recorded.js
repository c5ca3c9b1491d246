// The packets of a run as the player takes them: what `python/fabriloom/page/recording.py` says of its columns holds here.

export const MOST_ROWS = 12_000;
const BUS = 8, LOST = 16, CODE = 32, NOBODY = 2 ** 32 - 1, NEVER = 2 ** 62, STUCK = 1;
const MOST_CODES = 20_000, MOST_QUEUES = 64, MOST_WAITING = 200_000;
const ascending = (one, other) => one - other;

// `native`: the columns of the results; `arrays`: those of the fabric; `names`: of ports and distributions, and of
// terminals; `newest`: the last packets instead of the first ones.
export const recorded = (native, arrays, { names, terminals, rings }, newest) => {
  const { hop_begin_ticks: begin, hop_end_ticks: end, hop_kind: kind, hop_link: link } = native, tick = arrays.tick_ps / 1000;
  const moved = [...kind.keys()].filter((row) => kind[row] < LOST);
  const { rows, first, last } = shown(native, moved, newest, goes(native, arrays, moved, rings)), round = (value, places = 100) => Math.round((value - first) * tick * places) / places;
  const { packet, ends } = packets(native, rows), ended = last === native.end_time_ticks;
  const numbers = new Map(rows.map((row, at) => [`${native.hop_source[row]},${native.hop_started_ticks[row]}`, packet[at]]));
  const among = (what) => [...kind.keys()].filter((row) => kind[row] === what && begin[row] <= last && (what === LOST ? begin : end)[row] >= first);
  const losses = among(LOST).map((row) => [round(begin[row]), link[row], numbers.get(`${native.hop_source[row]},${native.hop_started_ticks[row]}`)]);
  const codes = among(CODE).sort((one, other) => begin[one] - begin[other]).slice(0, MOST_CODES).map((row) => [round(begin[row]), round(end[row]), link[row]]);
  return {
    from_ns: first * tick, until_ns: (last - first) * tick, rows: rows.length, rings, packet,
    losses: losses.filter(([, , one]) => one !== undefined), codes,
    cycle: ended ? [...native.deadlock_links] : [],
    link: rows.map((row) => link[row]), kind: rows.map((row) => kind[row] & 7), bus: rows.map((row) => (kind[row] & BUS ? native.hop_target[row] : -1)),
    begin: rows.map((row) => round(begin[row])), end: rows.map((row) => (end[row] < 0 ? null : round(end[row]))),
    last: rows.map((row) => Number(arrives(native, arrays, row))), tails: rings ? {} : tails(native, arrays, rows, tick),
    packets: ends.map(([source, target, started]) => [names[source], names[target], started * tick]),
    queues: arrays.program_start ? {} : queues(native, moved, names, terminals, first, last, round),
    outages: outages(arrays, first, last, tick),
  };
};

// Per link into a terminal, the ns from its being free again to the end of the arrival.
const tails = (native, arrays, rows, tick) =>
  Object.fromEntries(rows.filter((row) => arrives(native, arrays, row)).map((row) => native.hop_link[row]).map((link) => [link, (arrays.link_arrival_ticks[link] - arrays.link_character_ticks[link]) * tick]));

// Per row, when its packet is no longer behind the link: it has arrived, goes on or is lost.
const goes = (native, arrays, moved, rings) => {
  const { hop_begin_ticks: begin, hop_end_ticks: end, hop_kind: kind, hop_source: source, hop_started_ticks: started } = native;
  const key = (row) => `${source[row]},${started[row]}`, lost = new Set([...kind.keys()].filter((row) => kind[row] === LOST).map(key));
  const following = new Map(), found = new Map();
  for (const row of [...moved].sort((one, other) => begin[other] - begin[one] || other - one)) {
    const own = `${key(row)},${kind[row] & 3}`, over = arrives(native, arrays, row) || source[row] === NOBODY || lost.has(key(row));
    found.set(row, over ? end[row] : following.get(own) ?? (rings ? -1 : Infinity));
    following.set(own, begin[row]);
  }
  return found;
};

// The rows that are shown, by their begin, with the first and the last shown tick.
const shown = (native, moved, newest, until) => {
  const { hop_begin_ticks: begin, hop_end_ticks: end } = native;
  let first = 0, last = native.end_time_ticks, rows = moved.filter((row) => begin[row] <= last).sort((one, other) => begin[one] - begin[other] || one - other);
  if (newest && rows.length > MOST_ROWS) first = begin[rows.at(-MOST_ROWS)];
  rows = first < last ? rows.filter((row) => end[row] < 0 || end[row] >= first || until.get(row) > first) : [];
  if (!newest && rows.length > MOST_ROWS) {
    last = begin[rows[MOST_ROWS]];
    rows = rows.filter((row) => begin[row] < last);
  }
  return { rows, first: Math.min(first, last), last };
};

// The number of the packet of each row, -1 for echoes; and source, target and start of each packet.
const packets = (native, rows) => {
  const keyed = rows.map((row) => [native.hop_source[row], native.hop_started_ticks[row], native.hop_kind[row] & 3]);
  const known = keyed.filter(([source]) => source !== NOBODY), order = (one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
  const numbers = new Map();
  for (const key of known.sort(order)) if (!numbers.has(String(key))) numbers.set(String(key), numbers.size);
  const packet = keyed.map((key) => numbers.get(String(key)) ?? -1), ends = new Array(numbers.size);
  // A packet that only crosses a bus in the shown time is known by its source alone.
  for (const buses of [true, false]) {
    rows.forEach((row, at) => {
      const bus = Boolean(native.hop_kind[row] & BUS);
      if (bus === buses && packet[at] >= 0) ends[packet[at]] = [native.hop_source[row], native[bus ? "hop_source" : "hop_target"][row], native.hop_started_ticks[row]];
    });
  }
  return { packet, ends };
};

const arrives = ({ hop_kind: kind, hop_link: link, hop_target: target }, arrays, row) => {
  const ports = arrays.terminal_in_link.length, into = arrays.terminal_in_link[Math.min(target[row], ports - 1)];
  const copy = target[row] >= ports && arrays.link_target[link[row]] >= (arrays.switches ?? 0);
  return !(kind[row] & BUS) && (link[row] === into || copy);
};

// Per source: when packets were created, and when they started, of those that waited in the shown time.
const queues = (native, moved, names, terminals, first, last, round) => {
  const found = {}, seen = new Set();
  const add = (name, created, started) => {
    const own = found[name] ??= [[], []];
    own[0].push(round(created, 10));
    if (started <= last) own[1].push(round(started, 10));
  };
  for (const row of moved) {
    const [source, created, started] = ["hop_source", "hop_created_ticks", "hop_started_ticks"].map((name) => native[name][row]), key = `${source},${created},${started}`;
    if (native.hop_kind[row] & 15 || created >= started || created > last || started <= first || seen.has(key)) continue;
    seen.add(key);
    add(names[source], created, started);
  }
  native.wait_terminal.forEach((terminal, at) => { if (native.wait_created_ticks[at] <= last) add(terminals[terminal], native.wait_created_ticks[at], Infinity); });
  const all = Object.values(found);
  if (all.length > MOST_QUEUES || all.reduce((sum, [created]) => sum + created.length, 0) > MOST_WAITING) return {};
  for (const times of all.flat()) times.sort(ascending);
  return found;
};

const outages = ({ fault_link: link, fault_down_ticks: down, fault_up_ticks: up, fault_kind: kind }, first, last, tick) =>
  [...(link ?? []).keys()].filter((at) => kind[at] <= STUCK && down[at] <= last && up[at] >= first)
    .map((at) => [link[at], down[at] * tick, up[at] >= NEVER ? null : up[at] * tick, kind[at]]);
