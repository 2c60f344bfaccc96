"use strict";
// The code of the journal's last checkpoint, for the film of the table: a quarter of the page high at least, in whole pixels.
// A small page has three pixels for each module of a code, where its hands are so high, and two for a longer code.

const HANDS_HIGH = 0.385; // of the page

function drawCheckpoint() {
  document.getElementById("checkpoint")?.remove();
  document.body.classList.toggle("coded", Boolean(known.checkpoint));
  if (!known.checkpoint) return;
  const { size, path } = known.checkpoint;
  const wanted = Math.ceil(innerHeight / 4 / size), room = Math.floor(HANDS_HIGH * innerHeight / size);
  const side = Math.max(wanted, Math.min(3, room)) * size;
  const code = svg("svg", { id: "checkpoint", viewBox: `0 0 ${size} ${size}`, width: side, height: side, role: "img", "aria-label": "QR" });
  code.append(svg("path", { d: path }));
  document.body.style.setProperty("--code", `${side}px`);
  document.querySelector("main").append(code);
}
