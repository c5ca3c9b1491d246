// Enlarges the drawing to its place, and its names to a readable size.

const MARGIN = 7, MOST_SHAPES = 3000, READABLE_PX = [12, 11, 10, 9], LEAST_PX = 8.5, MOST_NAMES = 300;

// Removes the empty border of the drawing. With several planes each has its own picture, which keeps its border.
export const fit = (svg) => {
  const shapes = [...svg.querySelectorAll("path, circle, text, rect:not(:first-of-type), g > rect")];
  if (!shapes.length || shapes.length > MOST_SHAPES || svg.querySelector("svg")) return;
  const boxes = shapes.map((shape) => shape.getBBox()), least = (of) => Math.min(...boxes.map(of)), most = (of) => Math.max(...boxes.map(of));
  const x = least((box) => box.x) - MARGIN, y = least((box) => box.y) - MARGIN;
  const width = most((box) => box.x + box.width) + MARGIN - x, height = most((box) => box.y + box.height) + MARGIN - y;
  for (const [name, value] of Object.entries({ width, height, viewBox: `${x} ${y} ${width} ${height}` })) svg.setAttribute(name, value);
};

const overlap = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
const crowded = (boxes) => boxes.some((one, at) => boxes.some((other, next) => next > at && overlap(one, other)));

// The box of a name enlarged by a factor; it grows from its anchor.
const grown = ({ x, y, width, height }, anchor, times) => {
  const before = { start: 0, middle: 0.5, end: 1 }[anchor] ?? 0;
  return { x: x + before * width * (1 - times), y: y + height * (1 - times), width: width * times, height: height * times };
};

// Makes names of one size as large as there is room, up to a readable size, and hides them if they would be too small to read; the tip has
// them.
export class Names {
  constructor(svg) {
    this.svg = svg;
    this.sizes = new Map();
    for (const text of svg.querySelectorAll("text")) {
      const size = Number(text.getAttribute("font-size")), box = text.getBBox(), around = text.previousElementSibling;
      // The name in a box stays within it.
      const most = around?.tagName === "rect" && text.hasAttribute("pointer-events") ? (around.width.baseVal.value - 2) / Math.max(box.width, 1) : Infinity;
      this.sizes.set(size, [...(this.sizes.get(size) ?? []), { text, box, most, anchor: text.getAttribute("text-anchor") }]);
    }
  }

  fresh() {
    const scale = this.svg.getScreenCTM()?.a;
    if (!scale || scale === this.scale) return;
    this.scale = scale;
    for (const [size, names] of this.sizes) {
      const larger = READABLE_PX.map((px) => px / (size * scale)).filter((times) => times > 1);
      const fits = (times) => names.every(({ most }) => times <= most) && !crowded(names.map(({ box, anchor }) => grown(box, anchor, times)));
      const shown = size * ((names.length <= MOST_NAMES && larger.find(fits)) || 1), seen = shown * scale >= LEAST_PX;
      for (const { text } of names) {
        text.setAttribute("font-size", shown);
        text.setAttribute("visibility", seen ? "visible" : "hidden");
      }
    }
  }
}
