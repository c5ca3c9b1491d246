"use strict";
// Selects links and terminals of a drawn fabric: a near miss counts as a hit, and keys reach all of them.
const reaching = (() => {
  // Strokes are thin: a click beside one counts for the nearest.
  const AROUND = [[0, 0], ...[3, 6].flatMap((r) => [[-r, 0], [r, 0], [0, -r], [0, r], [-r, -r], [r, r], [-r, r], [r, -r]])];
  const HALO = "#0a7cff", PAGE = 10;

  // The colours of the page, from its style sheet: they are read again when it turns light or dark, or is printed.
  const STEPS_OF_RAMP = 64, known = new Map(), turned = [];
  const ink = (name) => {
    if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return known.get(name);
  };
  const ramp = () => {
    const stops = ink("--ramp").split(",").map((stop) => [1, 3, 5].map((at) => parseInt(stop.trim().slice(at, at + 2), 16)));
    return Array.from({ length: STEPS_OF_RAMP + 1 }, (_, step) => {
      const place = step / STEPS_OF_RAMP * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2);
      return "#" + stops[low].map((one, at) => Math.round(one + (stops[low + 1][at] - one) * (place - low)).toString(16).padStart(2, "0")).join("");
    });
  };
  // The colour of a share, 0 to 1, of the warmest.
  const shade = (share) => {
    if (!known.has("ramp")) known.set("ramp", ramp());
    return known.get("ramp")[Math.round(Math.min(Math.max(share, 0), 1) * STEPS_OF_RAMP)];
  };
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => {
    known.clear();
    turned.forEach((act) => act());
  });
  // Colours a shape by a share. The name in a box, or the number in a cell, is as readable on the warm end.
  const tint = (shape, paint, share) => {
    const name = shape.tagName === "rect" ? shape.nextElementSibling : null;
    shape.setAttribute(paint, shade(share));
    if (name?.getAttribute("pointer-events") === "none") name.setAttribute("fill", share > 0.45 ? "#ffffff" : "#1c2428");
  };
  // The attribute that has the colour of a shape.
  const paintOf = (shape) => (shape.getAttribute("stroke") === "none" || shape.tagName !== "path" ? "fill" : "stroke");
  // Everything whose colour is that of a value: strokes, legends, heat maps.
  const tone = (place) => place.querySelectorAll("[data-share]").forEach((shape) => tint(shape, paintOf(shape), Number(shape.dataset.share)));
  const KINDS = ["path", "rect", "circle"];

  const linksOf = (shape) => shape.dataset.links.split(" ").map(Number);
  // Every shape that represents links: its links, whether it is a terminal, and the attribute that has its colour.
  const drawnIn = (place) => [...place.querySelectorAll("[data-links]")].map((shape) => ({
    shape, links: linksOf(shape), dot: shape.tagName === "circle",
    paint: paintOf(shape),
  }));
  const under = (place, event) => {
    for (const [x, y] of AROUND) {
      const found = document.elementFromPoint(event.clientX + x, event.clientY + y)?.closest("[data-links]");
      if (found && place.contains(found)) return found;
    }
    return null;
  };

  // The name of a shape: its tooltip, which is removed, without the value in it.
  const name = (shape) => {
    const title = shape.querySelector("title"), text = title?.textContent ?? "";
    title?.remove();
    return text.includes(": ") ? text.slice(0, text.lastIndexOf(": ")) : text;
  };

  // In the order of the links, terminals last. Arrowheads are left out, because they repeat their stroke.
  const stopsOf = (place) => [...place.querySelectorAll("[data-links]")]
    .filter((shape) => KINDS.includes(shape.tagName))
    .map((shape) => ({ shape, kind: KINDS.indexOf(shape.tagName), first: linksOf(shape)[0] }))
    .sort((a, b) => a.kind - b.kind || a.first - b.first).map((stop) => stop.shape);

  const set = (shape, attributes) => {
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    return shape;
  };
  const shapeOf = (tag, attributes) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);

  // Draws a bright line around one shape.
  const haloOf = (kind = "halo", stroke = HALO) => {
    let halo = null;
    return (shape) => {
      halo?.remove();
      halo = null;
      if (!shape) return;
      halo = shape.cloneNode();
      for (const attribute of ["data-links", "data-share", "tabindex", "role", "aria-label"]) halo.removeAttribute(attribute);
      const wide = shape.tagName === "path" ? Number(shape.getAttribute("stroke-width")) + 6 : 6;
      set(halo, { class: kind, fill: "none", stroke, "stroke-width": wide, "pointer-events": "none" });
      shape.before(halo);
    };
  };
  // Permanent marks: at the link that limits a network, or at the links of a deadlock. A link may have several strokes,
  // or be only part of a terminal's dot.
  const limitIn = (place) => {
    let marks = [];
    return (limit) => {
      marks.forEach((mark) => mark(null));
      const shapes = [limit].flat().flatMap((link) => {
        const drawn = drawnIn(place).filter((one) => one.shape.tagName !== "polygon" && one.links.includes(link));
        const strokes = drawn.filter((one) => !one.dot);
        return strokes.length ? strokes : drawn;
      });
      marks = [...new Set(shapes.map((one) => one.shape))].map((shape) => { const mark = haloOf("limit", ink("--cycle")); mark(shape); return mark; });
    };
  };

  // The shape to which a key leads. Up and down follow `warmth`, so that hot spots come one after another.
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

  // A drawing for a file of its own: with its size, and in the colours that a style sheet gives it, which it then lacks.
  const copied = (svg) => {
    const { width, height } = svg.getBoundingClientRect(), copy = svg.cloneNode(true), plain = "[fill], [stroke]", twins = copy.querySelectorAll(plain);
    svg.querySelectorAll(plain).forEach((shape, at) => {
      const { fill, stroke } = getComputedStyle(shape);
      Object.assign(twins[at].style, { fill, stroke });
    });
    return set(copy, { width, height });
  };
  const textOf = (svg) => new XMLSerializer().serializeToString(svg);
  const imageOf = async (svg) => {
    const image = Object.assign(new Image(), { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(svg))}` });
    await image.decode();
    return image;
  };

  // Makes a drawing react. `warmth(links)` ranks shapes; `point(shape, x, y)` shows the values of the shape under the
  // pointer, or hides them if there is none; `open(shape, event)` and `close()` do what Enter or a click and Escape do.
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
    // Not on the SVG: an SVG that listens for focus becomes a tab stop itself.
    place.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const next = way(stops, warmth, stop, event.key);
      if (event.key === "Enter" || event.key === " ") open(stop, event);
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
      open(stop, event);
    });
  };

  // The text for screen readers: a picture would have no parts.
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

  // Shows a tip beside a position in the window, always within the border of the drawing.
  const put = (tip, place, x, y) => {
    const box = place.getBoundingClientRect(), right = box.width - tip.offsetWidth - 4;
    tip.style.left = Math.max(4, Math.min(x - box.x + 14, right)) + "px";
    tip.style.top = Math.max(4, y - box.y + (y - box.y + tip.offsetHeight + 24 > box.height ? -tip.offsetHeight - 12 : 14)) + "px";
  };

  return { linksOf, drawnIn, reach, limitIn, put, set, shapeOf, ink, shade, tint, tone, turned, copied, textOf, imageOf };
})();
