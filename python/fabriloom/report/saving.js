"use strict";
// Saves what a report shows: tables and the points of charts for spreadsheets, charts and drawings as pictures.
const saving = (() => {
  const SCALE = 2;

  // A name that a spreadsheet would take for a formula stays text.
  const plain = (text) => (/^[=+@\t-]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (rows) => new Blob([rows.map((row) => row.map((cell) => quoted(plain(String(cell ?? "")))).join(",") + "\n").join("")], { type: "text/csv" });

  // A drawing in a file of its own: with its size, and a colour behind it.
  const alone = (drawing, paper) => {
    const { width, height } = drawing.getBoundingClientRect(), copy = drawing.cloneNode(true);
    const behind = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const [x, y, wide, high] = (copy.getAttribute("viewBox") ?? `0 0 ${width} ${height}`).split(/[ ,]+/);
    const set = (element, values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
    set(copy, { width, height, viewBox: `${x} ${y} ${wide} ${high}` });
    set(behind, { x, y, width: wide, height: high, fill: paper });
    copy.prepend(behind);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  };
  const svg = (drawing, paper) => new Blob([alone(drawing, paper).text], { type: "image/svg+xml" });
  const png = async (drawing, paper) => {
    const { text, width, height } = alone(drawing, paper), image = new Image(), canvas = document.createElement("canvas");
    image.src = "data:image/svg+xml," + encodeURIComponent(text);
    await image.decode();
    Object.assign(canvas, { width: SCALE * width, height: SCALE * height });
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
  const pictures = (drawing, paper) => ({ SVG: () => svg(drawing(), paper()), PNG: () => png(drawing(), paper()) });
  return { csv, offer, pictures };
})();
