"use strict";
// The code of the journal's last checkpoint, for the film of the table: a fifth of the page high at least, in whole pixels.

function drawCheckpoint() {
  document.getElementById("checkpoint")?.remove();
  document.body.classList.toggle("coded", Boolean(known.checkpoint));
  if (!known.checkpoint) return;
  const { size, path } = known.checkpoint;
  const side = Math.max(3, Math.ceil(innerHeight / 4 / size)) * size;
  const code = svg("svg", { id: "checkpoint", viewBox: `0 0 ${size} ${size}`, width: side, height: side, role: "img", "aria-label": "QR" });
  code.append(svg("path", { d: path }));
  document.body.style.setProperty("--code", `${side}px`);
  document.querySelector("main").append(code);
}
