// The positions of links in the drawing: polylines in its units, read once from the drawn paths.

const STEP = 5;

// Positions of a shape's points in the whole picture: with several planes, each has its own picture and coordinates.
export const inPicture = (place) => {
  const whole = place.querySelector("svg"), known = new Map();
  const shift = (own) => {
    if (!known.has(own)) {
      const to = own.getScreenCTM(), back = whole.getScreenCTM()?.inverse(), by = to && back ? back.multiply(to) : null;
      known.set(own, own === whole || !by ? [0, 0] : [by.e, by.f]);
    }
    return known.get(own);
  };
  return (shape, x, y) => { const [right, down] = shift(shape.ownerSVGElement); return [x + right, y + down]; };
};

// A path as points: the two ends of a straight path, and a point every few units of a curved one.
const sampled = (path) => {
  const length = path.getTotalLength(), straight = !/[QCA]/i.test(path.getAttribute("d"));
  const count = straight ? 1 : Math.max(2, Math.ceil(length / STEP));
  return Array.from({ length: count + 1 }, (_, at) => { const { x, y } = path.getPointAtLength(length * at / count); return [x, y]; });
};

class Way {
  constructor() {
    this.points = [];
    this.length = 0;
    this.from = 0;
  }

  add(points) {
    points.forEach(([x, y], at) => {
      const before = this.points.at(-1);
      // Draw nothing between two strokes of a link that leaves the drawing at one border and returns at another.
      const jump = !before || at === 0;
      this.length += jump ? 0 : Math.hypot(x - before.x, y - before.y);
      this.points.push({ x, y, at: this.length, jump });
    });
  }

  // Leaves out the parts that the boxes at the ends hide.
  trim(boxes) {
    const over = (at) => { const { x, y } = this.at(at); return boxes.find((box) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height); };
    let begin = 0, end = this.length;
    const first = over(0.01), last = over(this.length - 0.01);
    while (first && begin < end && over(begin) === first) begin += 0.5;
    while (last && end > begin && over(end) === last) end -= 0.5;
    if (end - begin > 3) [this.from, this.length] = [begin, end - begin];
  }

  place(at) { return this.at(at + this.from); }

  // The position at a length from the untrimmed beginning, with the direction there.
  at(at) {
    const { points } = this;
    let low = 1, high = points.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (points[middle].at < at) low = middle + 1; else high = middle; }
    const b = points[low], a = points[low - 1] ?? b, span = b.at - a.at || 1, part = Math.min(1, Math.max(0, (at - a.at) / span));
    return { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part, angle: Math.atan2(b.y - a.y, b.x - a.x) };
  }

  // Adds the part from one length to another to the path of the canvas.
  trace(context, from, to) {
    const first = this.place(from), last = this.place(to);
    context.moveTo(first.x, first.y);
    if (this.points.length === 2) { context.lineTo(last.x, last.y); return; }
    for (const point of this.points) {
      if (point.at <= from + this.from || point.at >= to + this.from) continue;
      if (point.jump) context.moveTo(point.x, point.y); else context.lineTo(point.x, point.y);
    }
    context.lineTo(last.x, last.y);
  }
}

// The path of each link, and the dot of each terminal's link without a stroke.
export const waysOf = (place) => {
  const ways = new Map(), dots = new Map(), strokes = new Map(), widths = new Map(), bundles = new Map();
  const at = inPicture(place), number = (shape, name) => Number(shape.getAttribute(name));
  // The first rectangle of each picture is its background.
  const drawn = [...place.querySelectorAll("svg > rect:not(:first-of-type), svg > g > rect")];
  const boxes = drawn.map((box) => {
    const [x, y] = at(box, number(box, "x"), number(box, "y"));
    return { x, y, width: number(box, "width"), height: number(box, "height") };
  });
  for (const shape of place.querySelectorAll("[data-links]")) {
    const links = shape.dataset.links.split(" ").map(Number);
    if (shape.tagName === "circle") {
      const [x, y] = at(shape, number(shape, "cx"), number(shape, "cy")), dot = { x, y, r: number(shape, "r") };
      links.forEach((link) => dots.set(link, dot));
    }
    if (shape.tagName !== "path" || shape.getAttribute("stroke") === "none") continue;
    const points = sampled(shape).map(([x, y]) => at(shape, x, y)), back = shape.dataset.way === "back";
    for (const link of links) {
      const parts = strokes.get(link) ?? [];
      if (back) parts.unshift([...points].reverse()); else parts.push(points);
      strokes.set(link, parts);
      if (!bundles.has(link)) bundles.set(link, links);
      widths.set(link, Number(shape.getAttribute("stroke-width")) || 2);
    }
  }
  for (const [link, parts] of strokes) {
    const way = new Way();
    parts.forEach((points) => way.add(points));
    if (way.length <= 0) continue;
    way.wide = Math.min(4.4, Math.max(1.5, 2.2 * widths.get(link)));
    way.trim(boxes);
    // All links that this stroke stands for.
    way.bundle = bundles.get(link);
    ways.set(link, way);
  }
  return { ways, dots };
};

// The ways of a fabric of lines, made when they are first asked for: beside the middle line, on the right-hand side.
export class Lines {
  constructor(large) {
    Object.assign(this, { large, known: new Map(), wide: 3 });
  }

  has(link) { return link >= 0 && link < this.large.links; }

  get(link) {
    if (!this.has(link)) return undefined;
    if (!this.known.has(link)) {
      const { places, ends } = this.large, [one, two] = [2 * ends[2 * link], 2 * ends[2 * link + 1]];
      const dx = places[two] - places[one], dy = places[two + 1] - places[one + 1], long = Math.hypot(dx, dy) || 1, [x, y] = [-dy / long, dx / long];
      this.known.set(link, Object.assign(straight({ x: places[one] + 2 * x, y: places[one + 1] + 2 * y }, { x: places[two] + 2 * x, y: places[two + 1] + 2 * y }), { bundle: [link] }));
    }
    return Object.assign(this.known.get(link), { wide: this.wide });
  }
}

export const straight = (one, two) => {
  const way = new Way();
  way.add([[one.x, one.y], [two.x, two.y]]);
  return way;
};
