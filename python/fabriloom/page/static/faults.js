// Cables that fail by hand, in the laboratory and on pages without a server.

// The faults of a scenario after a click on a cable: it fails at a time, or, if it has failed, works again.
export const toggled = (faults, cable, now_ns) => {
  const others = faults.filter((one) => ![cable, cable.replace(/^(.*)>(.*?)(#\d+)?$/, "$2>$1$3")].includes(one.cable));
  return others.length < faults.length ? others : [...faults, { cable, at: `${Math.round(now_ns)} ns` }];
};
