// The marks of a drawing besides its packets: links that are down, lost packets, queues at sources.

/* global reaching */

const DOWN = "--down", LOST = "--lost", QUEUE = "--queue", CODE = "--code", PAPER = "--card";
// Smallest size of numbers on the screen.
const LEAST_PX = 9;
// How long a loss is shown, in multiples of the time that a packet takes to pass.
const SEEN = 2;

const text = (context, what, x, y, size = 9) => {
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.lineWidth = 2.4;
  context.strokeStyle = reaching.ink(PAPER);
  context.strokeText(what, x, y);
  context.fillText(what, x, y);
};

const cross = (context, { x, y }, size, colour) => {
  for (const [wide, ink] of [[4.6, PAPER], [2.4, colour]]) {
    context.strokeStyle = reaching.ink(ink);
    context.lineWidth = wide;
    context.beginPath();
    for (const way of [-1, 1]) { context.moveTo(x - size, y - way * size); context.lineTo(x + size, y + way * size); }
    context.stroke();
  }
};

// Draws the links that are down at a time: dashed and crossed out; if several are drawn as one line, with the number.
const outages = (context, { ways, dots, recording }, down) => {
  const gone = new Set(down.filter(([, , , stuck]) => !stuck).map(([link]) => link)), bundles = new Map();
  for (const link of gone) { const way = ways.get(link); if (way) bundles.set(way.bundle, way); else if (dots.has(link)) cross(context, dots.get(link), dots.get(link).r, DOWN); }
  // Cross out the two directions of a cable only once.
  const crossed = [];
  for (const [bundle, way] of bundles) {
    const count = bundle.filter((link) => gone.has(link)).length, all = count === bundle.length, at = way.place(way.length / 2);
    if (all) {
      for (const [wide, ink, dash] of [[(way.wide ?? 3) + 1.6, PAPER, []], [2, DOWN, [3.5, 3]]]) {
        Object.assign(context, { lineWidth: wide, strokeStyle: reaching.ink(ink) });
        context.setLineDash(dash);
        context.beginPath();
        way.trace(context, 0, way.length);
        context.stroke();
      }
      context.setLineDash([]);
    }
    if (crossed.some(({ x, y }) => Math.hypot(at.x - x, at.y - y) < 14)) continue;
    crossed.push(at);
    cross(context, at, 4, DOWN);
    context.fillStyle = reaching.ink(DOWN);
    context.textAlign = "left";
    if (!all) text(context, `${count} of ${bundle.length} down`, at.x + 8, at.y + 3);
  }
  // Draw a frame around each stuck terminal. On a ring the dot of a link is at the link's beginning.
  for (const [link] of down.filter(([, , , stuck]) => stuck)) {
    const way = ways.get(link), end = way?.place(way.length), dot = recording.data.rings ? end : dots.get(link) ?? end;
    if (!dot) continue;
    context.lineWidth = 2.2;
    context.strokeStyle = reaching.ink(DOWN);
    context.strokeRect(dot.x - (dot.r ?? 4) - 3, dot.y - (dot.r ?? 4) - 3, 2 * (dot.r ?? 4) + 6, 2 * (dot.r ?? 4) + 6);
  }
};

// Draws recent losses, and the rest of each lost packet as drops at the switch while it arrives.
export const losses = (context, { ways, dots, recording }, now) => {
  const seen = SEEN * recording.stay;
  for (const { link, time } of recording.losses) {
    if (time > now || now > time + seen) continue;
    const way = ways.get(link), at = way ? way.place(recording.down(time).some(([one]) => one === link) ? way.length / 2 : way.length) : dots.get(link);
    context.globalAlpha = 1 - (now - time) / seen;
    if (at) cross(context, at, 5.5, LOST);
  }
  context.globalAlpha = 1;
  context.fillStyle = reaching.ink(LOST);
  for (const { link, from, until } of recording.spills) {
    if (now < from || now > until) continue;
    const way = ways.get(link), end = way ? way.place(way.length) : dots.get(link);
    if (!end) continue;
    const at = way ? { x: end.x + 12 * Math.cos(end.angle), y: end.y + 12 * Math.sin(end.angle) } : end;
    for (let drop = 0; drop < 6; drop++) {
      const part = (drop / 6 + (now - from) / (0.5 * recording.stay)) % 1;
      context.globalAlpha = 1 - 0.8 * part;
      context.beginPath();
      context.arc(at.x + 9 * Math.sin(2.4 * drop), at.y + 4 + 15 * part, 1.7, 0, 7);
      context.fill();
    }
  }
  context.globalAlpha = 1;
};

// Draws time-codes, interrupts and broadcasts as small diamonds, which fade after their arrival because they are so short.
export const codes = (context, { ways, recording }, now) => {
  const fades = 0.3 * recording.stay;
  for (const { begin, end, link } of recording.codes) {
    if (begin > now) break;
    if (now > end + fades) continue;
    const way = ways.get(link), at = way?.place(way.length * Math.min(1, (now - begin) / (end - begin)));
    if (!at) continue;
    context.globalAlpha = now > end ? 1 - (now - end) / fades : 1;
    context.fillStyle = reaching.ink(CODE);
    context.strokeStyle = reaching.ink(PAPER);
    context.lineWidth = 1.2;
    context.beginPath();
    for (const [x, y] of [[0, -4.5], [4.5, 0], [0, 4.5], [-4.5, 0]]) context.lineTo(at.x + x, at.y + y);
    context.closePath();
    context.fill();
    context.stroke();
  }
  context.globalAlpha = 1;
};

// The failed components at a time, and the packets lost until then; links that are down are drawn.
export const failures = (context, packets, now) => {
  const { recording } = packets, down = recording.down(now);
  context.globalAlpha = 1;
  if (down.length) outages(context, packets, down);
  return { down: down.filter(([, , , stuck]) => !stuck).length, stuck: down.filter(([, , , stuck]) => stuck).length, lost: recording.losses.filter(({ time }) => time <= now).length };
};

// Draws the number of waiting packets beside each source as a bar; if terminals are close together, upright and without
// a number.
export const queues = (context, { recording, place, fabric, ways, scale }, now) => {
  const { x: left, y: top, width, height } = fabric.zoom.whole, middle = { x: left + width / 2, y: top + height / 2 };
  const room = nearest(Object.values(place));
  context.globalAlpha = 1;
  for (const source of recording.sources) {
    const count = recording.queue(source, now), at = place[source];
    if (!at || !(count > 1)) continue;
    const share = count / recording.longestQueue, long = Math.max(1, 20 * share);
    context.fillStyle = reaching.ink(QUEUE);
    if (room < 40 && at.links.some((link) => ways.has(link))) {
      // Beside the links, towards the switch; the name is on the other side.
      context.save();
      context.translate(at.x, at.y);
      context.rotate(Math.atan2(middle.y - at.y, middle.x - at.x));
      context.fillRect(0, 0.27 * room, long, 0.13 * room);
      context.restore();
      continue;
    }
    if (room < 40) {
      const high = 0.5 * room * share;
      context.fillRect(at.x + 0.3 * room, at.y + 0.25 * room - high, 0.14 * room, high);
      continue;
    }
    const inward = at.x > middle.x + 1, x = inward ? at.x - 9 - long : at.x + 9, y = at.y + (at.y > middle.y ? -9 : 5);
    context.fillRect(x, y, long, 5);
    context.textAlign = inward ? "right" : "left";
    text(context, String(count), inward ? x - 2 : x + long + 2, y + 5, Math.max(6, LEAST_PX / scale));
  }
};

// The smallest distance between two of the places.
const nearest = (places) => {
  let least = Infinity;
  places.slice(0, 64).forEach((one, at) => places.slice(at + 1, 64).forEach((other) => { least = Math.min(least, Math.hypot(one.x - other.x, one.y - other.y)); }));
  return least;
};
