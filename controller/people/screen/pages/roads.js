"use strict";
// The roads of the players' page, and what the next round would add to them. `players.js` says when they are drawn.

// Roads: six rows of ten units each, as many columns as there is room for, the newest at the right.

const TINY = matchMedia("(min-aspect-ratio: 1/1) and (max-height: 565px)"); // marks of fifteen pixels
function letter(winner) {
  // In the page's first language. A Chinese sign has too many strokes for a tiny mark.
  const [first, second] = Object.values(known.placard.marks[winner]);
  return TINY.matches && first > "\u3000" ? second ?? first : first;
}

function road(id, marks, draw) {
  const where = $(id);
  const { clientWidth: width, clientHeight: height } = where;
  const wide = Math.max(60, (width / Math.max(height, 1)) * 60);
  const columns = Math.floor(wide / 10);
  const last = marks.reduce((most, [column]) => Math.max(most, column), 0);
  const newest = marks.length ? marks.at(-1)[0] : 0; // left of the end where an earlier run was long
  const first = Math.max(0, Math.min(Math.ceil(last + 1.5 - wide / 10), newest - Math.floor(columns / 2))); // half a column stays free
  where.setAttribute("viewBox", `0 0 ${wide} 60`);
  where.setAttribute("preserveAspectRatio", "xMinYMid meet");
  where.replaceChildren();
  let lines = "";
  for (let column = 0; column <= columns; column += 1) lines += `M${column * 10} 0V60`;
  for (let row = 0; row <= 6; row += 1) lines += `M0 ${row * 10}H${wide}`;
  where.append(svg("path", { d: lines, class: "grid" }));
  marks.forEach((mark, place) => {
    const [column, row] = mark;
    if (column < first) return;
    const group = svg("g", { transform: `translate(${(column - first) * 10} ${row * 10})`, "data-mark": mark.join(" ") });
    const inner = svg("g", place === marks.length - 1 ? { class: "newest" } : {});
    draw(inner, mark.slice(2));
    group.append(inner);
    where.append(group);
  });
}

function drawBead(where, [winner, playerPair, bankerPair]) {
  where.append(svg("circle", { cx: 5, cy: 5, r: 4.4, class: `fill-${winner}` }), svg("text", { x: 5, y: 7.15, "font-size": 6, fill: "#fff" }, letter(winner)));
  if (bankerPair) where.append(svg("circle", { cx: 1.7, cy: 1.7, r: 1.35, class: "fill-banker", stroke: "#fff", "stroke-width": 0.5 }));
  if (playerPair) where.append(svg("circle", { cx: 8.3, cy: 8.3, r: 1.35, class: "fill-player", stroke: "#fff", "stroke-width": 0.5 }));
}

function drawCircle(where, [winner, ties]) {
  const numbered = winner && ties > 1; // without a ring then: the letter above the slash, the number below
  if (winner && !numbered) where.append(svg("circle", { cx: 5, cy: 5, r: 3.9, class: `ring-${winner}`, "stroke-width": 1.15 }));
  if (ties) where.append(svg("line", { x1: 0.4, y1: 9.6, x2: 9.6, y2: 0.4, class: "slash-tie", "stroke-width": 1.2 }));
  const [x, y] = numbered ? [3.15, 5.6] : [5, 7.25];
  if (winner) where.append(svg("text", { x, y, "font-size": 6.3, class: `fill-${winner}`, stroke: "#fbf7ec", "stroke-width": ties ? 0.6 : 0, "paint-order": "stroke" }, letter(winner)));
  if (ties > 1) where.append(svg("text", { x: 8, y: 9.9, "font-size": 6.3, class: "fill-tie", stroke: "#fbf7ec", "stroke-width": 0.6, "paint-order": "stroke" }, ties));
}

// Red is whole, blue has a gap: whoever sees no colours tells them apart.
const GAP = { red: {}, blue: { pathLength: 12, "stroke-dasharray": "4 2" } };
const DERIVED = {
  big_eye_boy: (color) => svg("circle", { cx: 5, cy: 5, r: 3.5, class: `ring-${color}`, "stroke-width": 1.7, ...GAP[color] }),
  small_road: (color) => {
    const mark = svg("g", {});
    mark.append(svg("circle", { cx: 5, cy: 5, r: 4.1, class: `fill-${color}` }));
    if (color === "blue") mark.append(svg("circle", { cx: 5, cy: 5, r: 1.3, class: "hole" }));
    return mark;
  },
  cockroach_pig: (color) => svg("path", { d: color === "red" ? "M1.5 8.5L8.5 1.5" : "M1.5 8.5L4 6M6 4L8.5 1.5", class: `ring-${color}`, "stroke-width": 2.1, "stroke-linecap": color === "red" ? "round" : "butt" }),
};

function drawAsk(side) {
  const where = $(`ask_${side}`);
  where.setAttribute("viewBox", "0 0 48 14");
  where.replaceChildren(svg("circle", { cx: 7.5, cy: 7, r: 6.5, class: `fill-${side}` }), svg("text", { x: 7.5, y: 10.8, "font-size": 10.5, "font-weight": 700, "text-anchor": "middle", fill: "#fff" }, letter(side)));
  Object.entries(DERIVED).forEach(([name, mark], place) => {
    const color = known.shoe.ask[side][name];
    const group = svg("g", { transform: `translate(${16 + place * 10.5} 2)`, "data-ask": `${side} ${name} ${color}` });
    group.append(color ? mark(color) : svg("line", { x1: 3.6, y1: 5, x2: 6.4, y2: 5, stroke: "#8a8069", "stroke-width": 1 }));
    where.append(group);
  });
}
