// Moves and enlarges a drawing: by buttons, by Ctrl and the wheel, by dragging, by the keys + - 0.

const MOST = 24, STEP = 1.35;

export class Zoom {
  constructor(place, svg, moved) {
    Object.assign(this, { place, svg, moved });
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.whole = { x, y, width, height };
    this.view = { ...this.whole };
    const button = (text, label, act) => Object.assign(document.createElement("button"), { type: "button", textContent: text, ariaLabel: label, title: label, onclick: act });
    this.bar = document.createElement("div");
    this.bar.className = "zoom";
    this.bar.append(button("+", "Enlarge the drawing", () => this.by(STEP)), button("−", "Make the drawing smaller", () => this.by(1 / STEP)), button("⤢", "The whole drawing", () => this.all()));
    place.onwheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? STEP : 1 / STEP, this.at(event));
    };
    place.onpointerdown = (event) => this.grab(event);
    place.onkeydown = (event) => {
      const act = { "+": () => this.by(STEP), "=": () => this.by(STEP), "-": () => this.by(1 / STEP), 0: () => this.all() }[event.key];
      if (act && event.target.tagName !== "INPUT") { event.preventDefault(); act(); }
    };
  }

  at({ clientX, clientY }) {
    const to = this.svg.getScreenCTM().inverse();
    return { x: to.a * clientX + to.e, y: to.d * clientY + to.f };
  }

  by(factor, about) {
    const { view, whole } = this, next = Math.min(whole.width, Math.max(whole.width / MOST, view.width / factor)), share = next / view.width;
    const { x, y } = about ?? { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    this.to({ x: x - (x - view.x) * share, y: y - (y - view.y) * share, width: next, height: view.height * share });
  }

  all() { this.to({ ...this.whole }); }

  // Never beyond the border of the drawing.
  to(view) {
    const { whole } = this, within = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));
    view.x = within(view.x, whole.x, whole.x + whole.width - view.width);
    view.y = within(view.y, whole.y, whole.y + whole.height - view.height);
    this.view = view;
    this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    this.place.classList.toggle("zoomed", view.width < whole.width);
    this.moved();
  }

  grab(event) {
    if (this.view.width >= this.whole.width || event.button || event.shiftKey || event.target.closest("button")) return;
    let before = this.at(event);
    const move = (moved) => {
      const now = this.at(moved);
      this.to({ ...this.view, x: this.view.x + before.x - now.x, y: this.view.y + before.y - now.y });
      before = this.at(moved);
    };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }
}
