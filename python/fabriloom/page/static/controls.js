// Sliders and lists that change settings of a scenario.
import { element } from "./state.js";

// `changed` is called with `spec`, the owner of the settings, and the chosen option.
export const showControls = (place, controls, spec, changed) => {
  place.hidden = !controls.length;
  const within = place.querySelector(".controls"), same = within.childElementCount === controls.length
    && controls.every((one, at) => within.children[at].dataset.label === one.label);
  // Do not replace a slider while the user moves it.
  if (same) controls.forEach((one, at) => within.children[at].set(one, spec));
  else within.replaceChildren(...controls.map((one) => control(one, spec, changed)));
};

const control = (described, spec, changed) => {
  // A slider needs ordered values; routings have no order.
  const output = element("b"), slides = described.options.length > 3 && described.ordered;
  const input = slides ? element("input", { type: "range", min: 0, step: 1 }) : element("select");
  const field = element("label", { className: "field" }, element("span", {}, described.label, slides ? output : ""), input);
  let now = described, of = spec;
  field.dataset.label = described.label;
  field.set = (one, chosen) => {
    now = one;
    of = chosen;
    if (slides) input.max = one.options.length - 1;
    else input.replaceChildren(...one.options.map((option, at) => new Option(option.text, at)));
    if (document.activeElement !== input || !slides) input.value = one.at;
    output.textContent = one.options[Number(input.value)].text;
  };
  field.set(described, spec);
  input.addEventListener("input", () => {
    const option = now.options[Number(input.value)];
    output.textContent = option.text;
    input.setAttribute("aria-valuetext", option.text);
    changed(of, option);
  });
  return field;
};
