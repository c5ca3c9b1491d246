"use strict";
// The two buttons of a report that holds a replay: the packed file plays in a frame, or is saved.
(() => {
  const element = (id) => document.getElementById(id);
  let unpacked = null;

  const unpack = () => {
    unpacked = unpacked || (async () => {
      const bytes = Uint8Array.from(atob(element("replay").textContent), (one) => one.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      const text = await new Response(stream).text();
      return URL.createObjectURL(new Blob([text], { type: "text/html" }));
    })();
    return unpacked;
  };
  const safely = (act) => async () => {
    try { await act(); } catch (error) { element("told").textContent = `This browser cannot unpack the replay: ${error.message}`; }
  };

  element("play").addEventListener("click", safely(async () => {
    const there = document.querySelector("section.replay iframe");
    if (there) { there.remove(); element("play").textContent = "Play its packets"; return; }
    const frame = document.createElement("iframe");
    frame.title = "Replay";
    frame.src = await unpack();
    element("play").closest("section").append(frame);
    element("play").textContent = "Close the replay";
    frame.addEventListener("load", () => frame.focus());
  }));

  element("keep").addEventListener("click", safely(async () => {
    const link = document.createElement("a");
    link.href = await unpack();
    link.download = "replay.html";
    link.click();
  }));
})();
