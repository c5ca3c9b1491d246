// The numbers of a run in this browser, as `python/fabriloom/results` computes them.
/* global plots */

export const STUCK = ["deadlocked", "livelocked"];
const BAD = [...STUCK, "stalled"];
// As in `results/limit.py`: the share of the packets that may be lost, or neither lost nor accepted.
const LOST = 0.01, MARGIN = 0.01;

const percentile = (native, share) => {
  const counts = [...native.latency_counts], total = counts.reduce((sum, one) => sum + one, 0), rank = Math.max(1, Math.ceil(share * total - 1e-9 * total));
  let sum = 0;
  const at = counts.findIndex((count) => (sum += count) >= rank);
  return Math.min(native.latency_max_ticks, Math.max(native.latency_min_ticks, native.latency_values_ticks[at]));
};

// MB/s, ns, and the share of the time in which each link is in use.
export const measured = (native, tick_ns) => {
  const window = Math.max(0, native.end_time_ticks - native.measure_start_ticks), packets = native.measured_packets;
  const rate = (what) => (window ? native[`measured_${what}_bytes`] * 1e3 / (window * tick_ns) : 0);
  const latency = (ticks) => (packets ? ticks() * tick_ns : null);
  return {
    accepted: rate("delivered"), offered: rate("offered"), packets,
    mean: latency(() => native.latency_sum_ticks / packets), longest: latency(() => native.latency_max_ticks),
    median: latency(() => percentile(native, 0.5)), p99: latency(() => percentile(native, 0.99)),
    total: latency(() => native.total_sum_ticks / packets),
    busy: [...native.link_busy_ticks].map((ticks) => Math.round(1000 * (window ? Math.min(1, ticks / window) : 0))),
  };
};

// What a card shows.
export const told = (native, tick_ns) => {
  const one = measured(native, tick_ns), { figures } = plots, micro = (ns) => (ns === null ? "–" : `${figures(ns / 1e3)} µs`);
  return {
    verdict: "", columns: [], carried: [], sources: [], limit: -1, warnings: [],
    busy: one.busy, cycle: [...native.deadlock_links], bad: BAD.includes(native.end_reason),
    facts: [
      ["Accepted", `${figures(one.accepted)} MB/s`], ["Offered", `${figures(one.offered)} MB/s`], ["Mean latency", micro(one.mean)],
      ["Median latency", micro(one.median)], ["99 % within", micro(one.p99)], ["Longest", micro(one.longest)],
      ["Packets measured", one.packets.toLocaleString("en")], ["Simulated", `${figures(native.end_time_ticks * tick_ns / 1e6)} ms`],
    ],
    end: { reason: native.end_reason, message: `Run in this browser: ${native.events.toLocaleString("en")} events.` },
  };
};

// A point of a curve; `waits`: whether its sources wait for their packets, so that no load is too much for the network.
export const point = (native, tick_ns, number, load, waits) => {
  const one = measured(native, tick_ns), micro = (ns) => (ns === null ? null : ns / 1e3);
  return {
    number, load, waits, accepted: one.accepted, accepted_ci95: null, latency_us: micro(one.mean), latency_ci95_us: null,
    total_us: micro(one.total), p99_us: micro(one.p99), sustained: !waits && keepsUp(native), end: native.end_reason,
  };
};

const keepsUp = (native) => {
  const { end_reason: reason, backlog, measured_packets: packets } = native;
  const [offered, accepted, refused] = ["offered", "delivered", "refused"].map((what) => native[`measured_${what}_bytes`]);
  if (["saturated", ...STUCK].includes(reason) || !packets || refused > LOST * offered) return false;
  if (reason === "drained" || backlog !== "unknown") return reason === "drained" || backlog === "bounded";
  return !offered || 1 - (refused + accepted) / offered <= Math.max(MARGIN, 1 / Math.sqrt(packets * (accepted ? offered / accepted : 1)));
};
