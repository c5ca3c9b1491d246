// A recording of packets as the page plays it: who is where, who waits, for what, and since when.

const KINDS = ["packet", "response", "echo", "busy echo"];
// How many of some ascending times have come.
const upTo = (times, now) => {
  let low = 0, high = times.length;
  while (low < high) { const middle = (low + high) >> 1; if (times[middle] <= now) low = middle + 1; else high = middle; }
  return low;
};
const clamp = (value) => Math.min(1, Math.max(0, value));

export class Recording {
  constructor(data, names) {
    this.data = data;
    this.names = names;
    this.from = data.from_ns;
    this.until = data.from_ns + data.until_ns;
    // Per packet when and where it was lost first.
    this.lost = new Map((data.losses ?? []).map(([time, link, packet]) => [packet, { time: this.from + time, link, packet }]));
    this.codes = (data.codes ?? []).map(([begin, end, link]) => ({ begin: this.from + begin, end: this.from + end, link }));
    this.rows = this.stays();
    this.lengths = new Map();
    this.byPacket = new Map();
    for (const row of this.rows) {
      if (row.packet < 0) continue;
      if (!this.byPacket.has(row.packet)) this.byPacket.set(row.packet, []);
      this.byPacket.get(row.packet).push(row);
    }
    this.longest = this.rows.reduce((most, row) => Math.max(most, Math.min(row.gone, this.until) - row.begin), 0);
    this.begins = this.rows.map((row) => row.begin);
    const stays = this.rows.filter((row) => (row.kind & 3) < 2 && row.end < Infinity).map((row) => row.end - row.begin).sort((a, b) => a - b);
    this.stay = stays[Math.floor(stays.length / 2)] ?? Math.max(1, data.until_ns / 100);
    this.blockings = this.blocked();
    this.slowest = this.last();
    this.starts = this.bySource();
    this.losses = [...this.lost.values()].sort((a, b) => a.time - b.time);
    this.spills = this.losses.flatMap((loss) => this.spill(loss));
  }

  // Where the rest of a lost packet is discarded: at the end of the last link on which it still arrives.
  spill({ time, link, packet }) {
    const rows = this.byPacket.get(packet) ?? [], on = rows.findIndex((row) => row.link === link);
    // One that was cut or timed out never gets onto that link, one that was discarded came by it.
    const goesOn = on >= 0 && (on + 1 < rows.length || rows[on].arrived || rows[on].end <= time);
    const row = goesOn ? rows[on - 1] : on < 0 ? rows.at(-1) : rows[on], until = row ? row.end + row.cross : 0;
    return until > time && until < Infinity ? [{ link: row.link, packet, from: time, until }] : [];
  }

  // Links that are down at a moment, and those whose terminal takes nothing.
  down(now) { return (this.data.outages ?? []).filter(([, from, until]) => from <= now && (until === null || now < until)); }

  // Rows with how long a head takes over a link and what comes after it. A link is crossed in the shortest time in
  // which any packet went on to the next; a head that takes longer waits at the end of the link.
  stays() {
    const { data } = this, next = new Array(data.rows).fill(-1), newest = new Map();
    for (let row = 0; row < data.rows; row++) {
      const packet = data.packet[row];
      if (packet < 0) continue;
      if (newest.has(packet)) next[newest.get(packet)] = row;
      newest.set(packet, row);
    }
    const steps = next.map((to, row) => (to < 0 ? Infinity : data.begin[to] - data.begin[row])).filter((step) => step > 0 && step < Infinity).sort((a, b) => a - b);
    const least = steps[Math.floor(steps.length / 20)] ?? ((data.end?.[0] ?? 0) - (data.begin?.[0] ?? 0)) / 4;
    const wanted = new Map((data.cycle ?? []).map((link, at, all) => [link, all[(at + 1) % all.length]]));
    return next.map((to, row) => {
      const begin = this.from + data.begin[row], ended = data.end[row];
      const end = ended === null || ended === undefined ? Infinity : this.from + ended;
      const arrived = Boolean(data.last[row]), bus = data.bus[row];
      // The head of one that was lost waits for nothing any more.
      const over = this.lost.get(data.packet[row])?.time;
      const goes = to < 0 ? (arrived || data.rings ? end : over ?? Infinity) : this.from + data.begin[to];
      const cross = bus < 0 ? least : end - begin, link = data.link[row];
      const wants = to >= 0 ? data.link[to] : goes === Infinity ? wanted.get(link) ?? -1 : -1;
      return { row, begin, end, cross, arrived, goes, wants, bus, link, packet: data.packet[row], kind: data.kind[row], gone: Math.max(end, Math.min(goes, 1e18)) + cross };
    });
  }

  // The moments at which a head begins to wait for longer than it takes to come.
  blocked() {
    if (this.data.rings) return [];
    const found = this.rows.filter((row) => !row.arrived && row.bus < 0 && row.packet >= 0 && Math.min(row.goes, this.until) - row.begin - row.cross > Math.max(row.cross, 0.25 * this.stay));
    return found.map((row) => row.begin + row.cross).sort((a, b) => a - b);
  }

  // The packet that took longest of those that arrived.
  last() {
    let slowest = -1, longest = 0;
    for (const [packet, rows] of this.byPacket) {
      const last = rows.at(-1), took = last.end - this.data.packets[packet][2];
      if (last.arrived && last.end <= this.until && took > longest) [slowest, longest] = [packet, took];
    }
    return { packet: slowest, took: longest };
  }

  bySource() {
    const starts = new Map();
    for (const [from, , started] of this.data.packets ?? []) {
      if (!starts.has(from)) starts.set(from, []);
      starts.get(from).push(started);
    }
    for (const times of starts.values()) times.sort((a, b) => a - b);
    return starts;
  }

  // Rows that are somewhere at a moment. They are in the order of their begin, and none lasts longer than the longest.
  at(now) {
    const low = upTo(this.begins, now), found = [];
    for (let at = low - 1; at >= 0; at--) {
      const row = this.rows[at];
      if (row.begin < now - this.longest) break;
      if (row.gone > now) found.push(row);
    }
    return found;
  }

  waits(row, now) { return !row.arrived && row.bus < 0 && !this.data.rings && now > row.begin + row.cross && now < row.goes; }

  // From where to where on its link a packet is, as shares.
  stretch(row, now) {
    const head = clamp((now - row.begin) / row.cross), tail = row.end === Infinity ? 0 : clamp((now - row.end) / row.cross);
    return [this.waits(row, now) ? Math.min(tail, 0.8) : tail, head];
  }

  // How full the buffer behind a link is, 0 to 1: what has come since the head did, and not gone on yet.
  fill(row, now) {
    const room = this.data.buffer_ns;
    if (!room || row.bus >= 0 || row.arrived) return 0;
    const whole = this.lengthOf(row.packet);
    const came = Math.min(whole, Math.max(0, now - row.begin - row.cross)), went = Math.min(whole, Math.max(0, now - row.goes));
    return clamp((came - went) / Math.min(room, whole));
  }

  // How long a packet is, by the link that it took the shortest time to pass.
  lengthOf(packet) {
    if (!this.lengths.has(packet)) {
      const own = this.byPacket.get(packet)?.reduce((least, one) => Math.min(least, one.end - one.begin), Infinity) ?? Infinity;
      this.lengths.set(packet, Number.isFinite(own) ? own : this.stay);
    }
    return this.lengths.get(packet);
  }

  next(times, now, way) { return way > 0 ? times.find((time) => time > now + 1e-6) : times.findLast((time) => time < now - 1e-6); }

  nextBegin(now) { return this.begins[upTo(this.begins, now)]; }

  // Packets that have come to a source and not started, where all sources offer the same rate from the beginning on.
  queue(source, now) {
    const interval = this.data.intervals_ns?.[source];
    if (!interval || this.from > 0) return null;
    return Math.max(0, Math.floor(now / interval) - upTo(this.starts.get(source) ?? [], now));
  }

  // The longest queue at the end: what bars of queues are measured by.
  get longestQueue() {
    this.most ??= Math.max(8, ...Object.keys(this.data.intervals_ns ?? {}).map((source) => this.queue(source, this.until)));
    return this.most;
  }

  ends(packet) { return this.data.packets[packet]; }

  tell(packet, now) {
    const [from, to, started] = this.ends(packet), rows = this.byPacket.get(packet), last = rows.at(-1);
    const on = rows.filter((row) => row.begin <= now && row.end > now), head = rows.findLast((row) => row.begin <= now);
    const called = (link) => this.names[link] ?? `link ${link}`;
    const name = (row) => (row.bus < 0 ? called(row.link) : `the bus from the port of ${called(row.link)} to that of ${called(row.bus)}`);
    const waits = head && this.waits(head, now);
    const wants = waits && head.wants >= 0 ? ` Its head waits for ${called(head.wants)}, for ${((now - head.begin - head.cross) / 1000).toFixed(2)} µs now.` : "";
    const loss = this.lost.get(packet), over = loss && loss.time <= now ? ` It was lost at ${(loss.time / 1000).toFixed(2)} µs: ${this.how(loss)}.` : "";
    const where = on.length ? `on ${on.map(name).join(", ")}` : now < rows[0].begin ? "not started yet" : now >= last.end ? (last.arrived ? "arrived" : `behind ${name(last)}`) : "in a switch";
    return `The ${KINDS[rows[0].kind & 3]} from ${from} to ${to}, started at ${(started / 1000).toFixed(2)} µs: ${where}.${wants}${over}`;
  }

  // What happened to a packet, by what was known of its link then.
  how({ time, link, packet }) {
    const name = this.names[link] ?? `link ${link}`, cut = this.down(time).some(([one, , , stuck]) => one === link && !stuck);
    if (cut) return `cut on ${name}, which failed; the rest of it is spilled at the switch before`;
    const last = this.byPacket.get(packet)?.at(-1);
    return last?.link === link && !last.arrived ? `discarded at the end of ${name}, where no link to its destination runs` : `timed out before ${name}, by the watchdog`;
  }
}
