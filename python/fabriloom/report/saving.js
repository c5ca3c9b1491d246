"use strict";
/* global reaching */
// Saves what a report shows: tables and the points of charts for spreadsheets, charts and drawings as pictures.
const saving = (() => {
  const SCALE = 2;

  // A name that a spreadsheet would take for a formula stays text.
  const plain = (text) => (/^[=+@\t-]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (rows) => new Blob([rows.map((row) => row.map((cell) => quoted(plain(String(cell ?? "")))).join(",") + "\n").join("")], { type: "text/csv" });

  // A drawing with the colour of the page behind it.
  const onPaper = (drawing) => {
    const copy = reaching.copied(drawing);
    const [x, y, width, height] = (copy.getAttribute("viewBox") ?? `0 0 ${copy.getAttribute("width")} ${copy.getAttribute("height")}`).split(/[ ,]+/);
    copy.setAttribute("viewBox", [x, y, width, height].join(" "));
    copy.prepend(reaching.shapeOf("rect", { x, y, width, height, fill: reaching.ink("--card") }));
    return copy;
  };
  const svg = (drawing) => new Blob([reaching.textOf(onPaper(drawing))], { type: "image/svg+xml" });
  const png = async (drawing) => {
    const image = await reaching.imageOf(onPaper(drawing)), canvas = document.createElement("canvas");
    Object.assign(canvas, { width: SCALE * image.width, height: SCALE * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done));
  };

  const save = (title, kind, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = title.toLowerCase().replace(/[^a-z0-9]+/g, "-") + "." + kind.toLowerCase();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // Puts a button behind an element for each kind of file, which `kinds` makes.
  const offer = (element, what, kinds) => {
    const title = element.closest("section").querySelector("h2, h3").textContent;
    const buttons = Object.entries(kinds).map(([kind, make]) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "save", textContent: kind, ariaLabel: `Save the ${what} ${title} as ${kind}` });
      button.addEventListener("click", async () => save(title, kind, await make()));
      return button;
    });
    element.after(...buttons);
  };
  const pictures = (place) => ({ SVG: () => svg(place.querySelector("svg")), PNG: () => png(place.querySelector("svg")) });
  return { csv, offer, pictures };
})();
