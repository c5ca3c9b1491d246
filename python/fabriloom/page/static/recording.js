// A recording of packets, as the page plays it: where each packet is, and which output it waits for since when.

const KINDS = ["packet", "response", "echo", "busy echo"];
// The number of ascending `times` up to `now`.
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
    // The first loss of each packet, with time and link.
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
    for (const rows of this.byPacket.values()) this.arrive(rows);
    this.longest = this.rows.reduce((most, row) => Math.max(most, Math.min(row.gone, this.until) - row.begin), 0);
    this.begins = this.rows.map((row) => row.begin);
    const stays = this.rows.filter((row) => (row.kind & 3) < 2 && row.end < Infinity).map((row) => row.end - row.begin).sort((a, b) => a - b);
    this.stay = stays[Math.floor(stays.length / 2)] ?? Math.max(1, data.until_ns / 100);
    this.blockings = this.blocked();
    this.slowest = this.last();
    this.losses = [...this.lost.values()].sort((a, b) => a.time - b.time);
    this.spills = this.losses.flatMap((loss) => this.spill(loss));
  }

  // Where the rest of a lost packet is discarded: at the end of the last link on which it still arrives.
  spill({ time, link, packet }) {
    const rows = this.byPacket.get(packet) ?? [], on = rows.findIndex((row) => row.link === link);
    // A packet that was cut or timed out never enters that link; one that was discarded arrived by it.
    const goesOn = on >= 0 && (on + 1 < rows.length || rows[on].arrived || rows[on].end <= time);
    const row = goesOn ? rows[on - 1] : on < 0 ? rows.at(-1) : rows[on], until = row ? row.end + row.cross : 0;
    return until > time && until < Infinity ? [{ link: row.link, packet, from: time, until }] : [];
  }

  // Links that are down at a time, and links to stuck terminals.
  down(now) { return (this.data.outages ?? []).filter(([, from, until]) => from <= now && (until === null || now < until)); }

  // Rows with the time that a head takes to cross a link, and the next link. The crossing time is the shortest time
  // from one link to the next of any packet; a head that takes longer waits at the end of the link. A packet that
  // arrives has arrived when its tail has crossed the last link, which is known.
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
      // The head of a lost packet no longer waits.
      const over = this.lost.get(data.packet[row])?.time;
      const goes = to < 0 ? (arrived || data.rings ? end : over ?? Infinity) : this.from + data.begin[to];
      const link = data.link[row], tail = arrived ? data.tails?.[link] : undefined;
      const cross = bus >= 0 ? end - begin : tail === undefined ? least : Math.max(tail, least / 8);
      const wants = to >= 0 ? data.link[to] : goes === Infinity ? wanted.get(link) ?? -1 : -1;
      return { row, begin, end, cross, arrived, goes, wants, bus, link, packet: data.packet[row], kind: data.kind[row], gone: Math.max(end, Math.min(goes, 1e18)) + (tail ?? cross) };
    });
  }

  // Nothing of a packet is under way when it has arrived, by all of its copies, and its tail has crossed the last link.
  arrive(rows) {
    if (this.data.rings || !rows.at(-1).arrived) return;
    const over = rows.reduce((most, row) => (row.arrived ? Math.max(most, row.gone) : most), -Infinity);
    for (const row of rows) row.gone = Math.min(row.gone, over);
  }

  // The times at which a head begins to wait longer than it takes to cross the link.
  blocked() {
    if (this.data.rings) return [];
    const found = this.rows.filter((row) => !row.arrived && row.bus < 0 && row.packet >= 0 && Math.min(row.goes, this.until) - row.begin - row.cross > Math.max(row.cross, 0.25 * this.stay));
    return found.map((row) => row.begin + row.cross).sort((a, b) => a - b);
  }

  // The slowest packet of those that arrived.
  last() {
    let slowest = -1, longest = 0;
    for (const [packet, rows] of this.byPacket) {
      const last = rows.at(-1), took = last.end - this.data.packets[packet][2];
      if (last.arrived && last.end <= this.until && took > longest) [slowest, longest] = [packet, took];
    }
    return { packet: slowest, took: longest };
  }

  // Rows of packets under way at a time. Rows are ordered by their begin, and none lasts longer than `longest`.
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

  // Positions of a packet's tail and head on its link, as fractions.
  stretch(row, now) {
    const head = clamp((now - row.begin) / row.cross), tail = row.end === Infinity ? 0 : clamp((now - row.end) / row.cross);
    return [this.waits(row, now) ? Math.min(tail, 0.8) : tail, head];
  }

  // Fill of the buffer behind a link, 0 to 1: what has arrived since the head did and has not left.
  fill(row, now) {
    const room = this.data.buffer_ns;
    if (!room || row.bus >= 0 || row.arrived) return 0;
    const whole = this.lengthOf(row.packet);
    const came = Math.min(whole, Math.max(0, now - row.begin - row.cross)), went = Math.min(whole, Math.max(0, now - row.goes));
    return clamp((came - went) / Math.min(room, whole));
  }

  // Length of a packet as a time, on the link that it passed fastest.
  lengthOf(packet) {
    if (!this.lengths.has(packet)) {
      const own = this.byPacket.get(packet)?.reduce((least, one) => Math.min(least, one.end - one.begin), Infinity) ?? Infinity;
      this.lengths.set(packet, Number.isFinite(own) ? own : this.stay);
    }
    return this.lengths.get(packet);
  }

  next(times, now, way) { return way > 0 ? times.find((time) => time > now + 1e-6) : times.findLast((time) => time < now - 1e-6); }

  nextBegin(now) { return this.begins[upTo(this.begins, now)]; }

  // The number of packets that were created at a source and have not started.
  queue(source, now) {
    const [created, started] = this.data.queues?.[source] ?? [[], []];
    return upTo(created, now - this.from) - upTo(started, now - this.from);
  }

  get sources() { return Object.keys(this.data.queues ?? {}); }

  // The longest queue of the recording, which scales the bars of queues.
  get longestQueue() {
    this.most ??= Math.max(8, ...this.sources.flatMap((source) => this.data.queues[source][0].map((time) => this.queue(source, this.from + time))));
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

  // How a packet was lost, from the state of its link at that time.
  how({ time, link, packet }) {
    const name = this.names[link] ?? `link ${link}`, cut = this.down(time).some(([one, , , stuck]) => one === link && !stuck);
    if (cut) return `cut on ${name}, which failed; the rest of it is spilled at the switch before`;
    const last = this.byPacket.get(packet)?.at(-1);
    return last?.link === link && !last.arrived ? `discarded at the end of ${name}: no link to its destination runs, or its buffer is full` : `timed out before ${name}, by the watchdog`;
  }
}
