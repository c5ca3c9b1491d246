"use strict";
// The links and terminals of a drawn fabric under the hand: nearly hit is hit, and all are reached by keys.
const reaching = (() => {
  // Strokes are thin; around a miss the nearest one counts.
  const AROUND = [[0, 0], ...[3, 6].flatMap((r) => [[-r, 0], [r, 0], [0, -r], [0, r], [-r, -r], [r, r], [-r, r], [r, -r]])];
  const HALO = "#0a7cff", LIMIT = "#e0007a", PAGE = 10;
  const KINDS = ["path", "rect", "circle"];

  const linksOf = (shape) => shape.dataset.links.split(" ").map(Number);
  // Every shape that stands for links: which, whether it is a terminal, and which attribute has its colour.
  const drawnIn = (place) => [...place.querySelectorAll("[data-links]")].map((shape) => ({
    shape, links: linksOf(shape), dot: shape.tagName === "circle",
    paint: shape.getAttribute("stroke") === "none" || shape.tagName !== "path" ? "fill" : "stroke",
  }));
  const under = (place, event) => {
    for (const [x, y] of AROUND) {
      const found = document.elementFromPoint(event.clientX + x, event.clientY + y)?.closest("[data-links]");
      if (found && place.contains(found)) return found;
    }
    return null;
  };

  // What a shape is called: its tooltip, which goes, without the value in it.
  const name = (shape) => {
    const title = shape.querySelector("title"), text = title?.textContent ?? "";
    title?.remove();
    return text.includes(": ") ? text.slice(0, text.lastIndexOf(": ")) : text;
  };

  // In the order of the links, terminals last. An arrowhead says nothing that its stroke does not say.
  const stopsOf = (place) => [...place.querySelectorAll("[data-links]")]
    .filter((shape) => KINDS.includes(shape.tagName))
    .map((shape) => ({ shape, kind: KINDS.indexOf(shape.tagName), first: linksOf(shape)[0] }))
    .sort((a, b) => a.kind - b.kind || a.first - b.first).map((stop) => stop.shape);

  // A bright line around one shape.
  const haloOf = (kind = "halo", stroke = HALO) => {
    let halo = null;
    return (shape) => {
      halo?.remove();
      halo = null;
      if (!shape) return;
      halo = shape.cloneNode();
      for (const attribute of ["data-links", "tabindex", "role", "aria-label"]) halo.removeAttribute(attribute);
      const wide = shape.tagName === "path" ? Number(shape.getAttribute("stroke-width")) + 6 : 6;
      for (const [key, value] of Object.entries({ class: kind, fill: "none", stroke, "stroke-width": wide, "pointer-events": "none" })) halo.setAttribute(key, value);
      shape.before(halo);
    };
  };
  // Marks that stay: at the link that limits a network, or at those of a deadlock. A link may have several strokes, or
  // be a part of a terminal's dot only.
  const limitIn = (place) => {
    let marks = [];
    return (limit) => {
      marks.forEach((mark) => mark(null));
      const shapes = [limit].flat().flatMap((link) => {
        const drawn = drawnIn(place).filter((one) => one.shape.tagName !== "polygon" && one.links.includes(link));
        const strokes = drawn.filter((one) => !one.dot);
        return strokes.length ? strokes : drawn;
      });
      marks = [...new Set(shapes.map((one) => one.shape))].map((shape) => { const mark = haloOf("limit", LIMIT); mark(shape); return mark; });
    };
  };

  // Where a key leads from a shape. Up and down go by warmth, so that the hot spots come one after the other.
  const STEPS = { ArrowRight: 1, ArrowLeft: -1, PageDown: PAGE, PageUp: -PAGE };
  const way = (stops, warmth, from, key) => {
    if (key === "Home") return stops[0];
    if (key === "End") return stops.at(-1);
    const ranked = key === "ArrowDown" || key === "ArrowUp";
    const order = ranked ? warmest(stops, warmth) : stops;
    const step = ranked ? (key === "ArrowDown" ? 1 : -1) : STEPS[key];
    return step && order[Math.min(Math.max(order.indexOf(from) + step, 0), order.length - 1)];
  };
  const warmest = (stops, warmth) => stops.map((shape) => [warmth(linksOf(shape)), shape])
    .sort((a, b) => b[0] - a[0]).map(([, shape]) => shape);

  // Makes a drawing answer. `warmth(links)` ranks; `point(shape, x, y)` shows what is under the hand, or hides it
  // when there is nothing; `open(shape)` and `close()` do what Enter or a click and Escape do.
  const reach = (place, { warmth, point, open, close }) => {
    const stops = stopsOf(place), halo = haloOf(), svg = place.querySelector("svg");
    if (!stops.length) return;
    let stop = warmest(stops, warmth)[0];
    tell(svg, stops, stop);
    const show = (shape, event) => {
      if (!shape) { point(null); return; }
      const box = shape.getBoundingClientRect();
      point(shape, event?.clientX ?? box.x + box.width / 2, event?.clientY ?? box.y + box.height / 2);
    };
    const go = (shape) => {
      stop.setAttribute("tabindex", "-1");
      stop = shape;
      stop.setAttribute("tabindex", "0");
      stop.focus({ preventScroll: true });
    };
    const back = () => show(document.activeElement === stop ? stop : null);
    // Not on the SVG: one that listens for focus becomes a stop of its own.
    place.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const next = way(stops, warmth, stop, event.key);
      if (event.key === "Enter" || event.key === " ") open(stop);
      else if (event.key === "Escape") { close(); point(null); }
      else if (next) go(next);
      else return;
      event.preventDefault();
    });
    place.addEventListener("focusin", ({ target }) => {
      if (stops.includes(target) && target !== stop) go(target);
      halo(stop);
      show(stop);
    });
    place.addEventListener("focusout", () => { halo(null); point(null); });
    place.addEventListener("pointermove", (event) => { const shape = under(place, event); if (shape) show(shape, event); else back(); });
    place.addEventListener("pointerleave", back);
    place.addEventListener("click", (event) => {
      const shape = under(place, event);
      if (!shape) return;
      go(stops.includes(shape) ? shape : stops.find((one) => one.dataset.links === shape.dataset.links) ?? stop);
      open(stop);
    });
  };

  // What a reader that speaks says of it: a picture would have no parts.
  const tell = (svg, stops, first) => {
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "The drawn fabric. Left and right: the next link or terminal; up and down: the next warmer or cooler one; Enter: its numbers.");
    svg.querySelectorAll("polygon[data-links] title").forEach((title) => title.remove());
    for (const shape of stops) {
      shape.setAttribute("tabindex", shape === first ? "0" : "-1");
      shape.setAttribute("role", "button");
      shape.setAttribute("aria-label", name(shape));
    }
  };

  // A tip beside a place of the window, never beyond the border of its drawing.
  const put = (tip, place, x, y) => {
    const box = place.getBoundingClientRect(), right = box.width - tip.offsetWidth - 4;
    tip.style.left = Math.max(4, Math.min(x - box.x + 14, right)) + "px";
    tip.style.top = Math.max(4, y - box.y + (y - box.y + tip.offsetHeight + 24 > box.height ? -tip.offsetHeight - 12 : 14)) + "px";
  };

  return { linksOf, drawnIn, reach, limitIn, put };
})();
