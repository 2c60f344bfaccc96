"use strict";
// The technician's page. Each part is drawn whole each time it comes.

const $ = (id) => document.getElementById(id);
const key = new URLSearchParams(location.search).get("key"); // a supervisor's, who may see frames
const at = (path, more = "") => `/technician/${path}?${new URLSearchParams(key ? { key } : {})}${more}`;
let wiring = { lamps: {}, inputs: {}, digest: "" };
let rounds = [];
let now = null;

function el(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside.map((each) => each ?? ""));
  return made;
}

function svg(tag, attributes, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

const text = (x, y, said, more = {}) => svg("text", { x, y, ...more }, String(said));
const plain = (name) => name.replaceAll("_", " ");
const paid = (cents) => (cents == null ? "–" : money(cents));
const row = (...cells) => el("tr", "", ...cells.map((each) => (each instanceof Node ? each : el("td", "", String(each)))));

function pairs(where, told, write = String) {
  $(where).replaceChildren(...Object.entries(told).flatMap(([name, said]) => [el("dt", "", plain(name)), el("dd", "", write(said))]));
}

function age(seconds) {
  return seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

// The table from above: seats on the players' side, what the dealer sees and presses on the other.

function drawFelt() {
  const parts = [svg("path", { d: "M60 120 Q60 20 160 20 H840 Q940 20 940 120 Q940 440 500 440 Q60 440 60 120 Z", class: "cloth" })];
  const lamp = (name, x, y, label) => {
    if (!(name in wiring.lamps)) return;
    parts.push(svg("circle", { cx: x, cy: y, r: 17, class: `lamp ${now.lamps[name] || "dark"}`, "data-lamp": name }), text(x, y + 36, label, { class: "name" }), text(x, y + 51, `BCM ${wiring.lamps[name][0]}`, { class: "bcm" }));
  };
  const input = (name, x, y, label) => {
    if (!(name in wiring.inputs)) return;
    parts.push(svg("rect", { x: x - 13, y: y - 13, width: 26, height: 26, rx: 5, class: now.inputs.includes(name) ? "input on" : "input", "data-input": name }), text(x, y + 34, label, { class: "name" }), text(x, y + 49, `BCM ${wiring.inputs[name][0]}`, { class: "bcm" }));
  };
  const own = ["draw_player", "player", "tie", "banker", "draw_banker", "fault"].filter((name) => name in wiring.lamps);
  own.forEach((name, place) => lamp(name, 500 + (place - (own.length - 1) / 2) * 118, 58, plain(name)));
  const buttons = Object.keys(wiring.inputs).filter((name) => !name.startsWith("seat_"));
  buttons.forEach((name, place) => input(name, 500 + (place - (buttons.length - 1) / 2) * Math.min(118, 760 / buttons.length), 138, plain(name)));
  const seats = [...new Set([...Object.keys(wiring.lamps), ...Object.keys(wiring.inputs)].filter((name) => name.startsWith("seat_")).map((name) => Number(name.slice(5))))].sort((a, b) => a - b);
  seats.forEach((seat, place) => {
    const along = seats.length === 1 ? 0 : 1 - (2 * place) / (seats.length - 1); // 1 at the dealer's left, -1 at the right
    const x = 500 + 342 * along, y = 372 - 158 * along ** 2, apart = `seat_${seat}` in wiring.inputs ? Math.min(32, 190 / seats.length) : 0;
    lamp(`seat_${seat}`, x - apart, y, `seat ${seat}`);
    input(`seat_${seat}`, x + apart, y, "sensor");
  });
  $("felt").replaceChildren(...parts);
}

function drawPins() {
  const on = new Map();
  for (const [name, [bcm, pin]] of Object.entries(wiring.lamps)) on.set(pin, [`lamp ${plain(name)}`, bcm, now.lamps[name] !== "dark", "out"]);
  for (const [name, [bcm, pin]] of Object.entries(wiring.inputs)) on.set(pin, [`input ${plain(name)}`, bcm, now.inputs.includes(name), "in"]);
  const parts = [];
  for (let pin = 1; pin <= 40; pin += 1) {
    const left = pin % 2 === 1, y = 12 + Math.floor((pin - 1) / 2) * 23.4, x = left ? 203 : 227;
    const [label, bcm, lit, kind] = on.get(pin) || ["", "", false, "free"];
    parts.push(svg("rect", { x: x - 9, y: y - 9, width: 18, height: 18, rx: pin === 1 ? 1 : 9, class: `pin ${kind}${lit ? " on" : ""}` }), text(x, y + 4, pin, { class: lit ? "number on" : "number" }));
    if (label) parts.push(text(left ? 186 : 244, y + 5, `${label} · BCM ${bcm}`, { class: left ? "left" : "right" }));
  }
  $("pins").replaceChildren(...parts);
}

// Plots.

function bars(values, { most, label, class: name, base = 185 }) {
  const wide = Math.min(80, 560 / values.length);
  return values.map((value, place) => {
    const high = most ? (value / most) * 150 : 0;
    const shown = svg("rect", { x: 30 + place * wide + wide * 0.12, y: base - high, width: wide * 0.76, height: high, class: name });
    shown.append(svg("title", {}, `${label(place)}: ${value}`));
    return shown;
  });
}

function drawHours(hours) {
  const box = $("hours");
  if (!hours.length) { box.replaceChildren(text(300, 110, "No round yet", { class: "none" })); return; }
  const most = Math.max(...hours.map((hour) => hour.rounds), 1), wide = Math.min(80, 560 / hours.length);
  const label = (place) => `${hours[place].hour.replace("T", " ")}:00 UTC`;
  box.replaceChildren(
    ...bars(hours.map((hour) => hour.rounds), { most, label, class: "bar" }),
    ...bars(hours.map((hour) => Math.min(60, hour.stopped_min)), { most: 60, label: (place) => `${label(place)}, minutes stopped`, class: "stopped" }),
    ...hours.flatMap((hour, place) => [text(30 + (place + 0.5) * wide, 182 - (hour.rounds / most) * 150, hour.rounds, { class: "value" }), text(30 + (place + 0.5) * wide, 202, hour.hour.slice(11), { class: "axis" })]),
    text(30, 217, "hour, UTC; amber: minutes stopped, a full bar is an hour", { class: "legend" }));
}

function drawSeconds({ last, median, rounds_an_hour: pace }) {
  const box = $("seconds");
  if (!last.length) { box.replaceChildren(text(300, 110, "Two rounds make the first figure", { class: "none" })); return; }
  const most = Math.max(...last, 1), y = (value) => 190 - (value / most) * 165;
  box.replaceChildren(
    ...[0, 0.5, 1].map((part) => text(4, y(part * most) + 4, (part * most).toFixed(most < 10 ? 1 : 0), { class: "tick" })),
    svg("path", { d: `M30 ${y(median)}H590`, class: "median" }),
    ...last.map((value, place) => svg("circle", { cx: 35 + (place * 550) / Math.max(1, last.length - 1), cy: y(value), r: 3.2, class: "dot" })),
    text(30, 213, `median ${median} s, which is ${pace} rounds an hour; the last ${last.length} rounds`, { class: "legend" }));
}

function drawRanks({ ranks, gain, threshold, unfair }) {
  const box = $("ranks"), wide = 560 / ranks.length;
  const off = ranks.map(([, dealt, expected]) => (expected ? (100 * (dealt - expected)) / expected : 0));
  const most = Math.max(20, ...off.map(Math.abs));
  box.replaceChildren(
    svg("path", { d: "M30 105H590", class: "median" }),
    ...ranks.flatMap(([rank, dealt, expected], place) => {
      const high = (Math.abs(off[place]) / most) * 75, x = 30 + place * wide;
      const shown = svg("rect", { x: x + wide * 0.15, y: off[place] > 0 ? 105 - high : 105, width: wide * 0.7, height: high, class: unfair ? "stopped" : "bar" });
      shown.append(svg("title", {}, `${rank}: ${dealt} dealt, ${expected} expected`));
      return [shown, text(x + wide / 2, 202, rank === "T" ? "10" : rank, { class: "axis" }), text(x + wide / 2, off[place] > 0 ? 98 - high : 121 + high, dealt, { class: "value" })];
    }),
    text(30, 217, `cards of each rank, and how far from a fair shoe; the scale ends at ${Math.round(most)}%`, { class: "legend" }));
  const shown = gain > 1e9 ? "more than a billion" : gain.toLocaleString("en-US");
  $("fair").className = unfair ? "unequal" : "";
  $("fair").textContent = `${unfair ? "NOT as a fair shoe deals: have the cards counted." : "As a fair shoe deals."} A bet against fairness has made ${shown} of 1 at most; ${threshold.toLocaleString("en-US")} is the alarm, which a fair table gives less often than once in so many shoes.`;
}

// The past.

function drawRounds() {
  const wanted = $("search").value.trim().toLowerCase();
  const one = /^\d+\/\d+$/.test(wanted), outcome = rounds.some((each) => each.outcome === wanted); // each row's cards name both hands
  const shown = rounds.filter((each) => (one ? `${each.shoe}/${each.round}` === wanted : outcome ? each.outcome === wanted
    : `${each.shoe}/${each.round} ${each.at} ${each.outcome} ${each.cards} ${each.marks.map(plain).join(" ")}`.toLowerCase().includes(wanted)));
  $("rounds").replaceChildren(...shown.map((each) => {
    const link = el("a", "", `${each.shoe}/${each.round}`);
    link.href = at("hand", `&round=${each.shoe}/${each.round}`);
    return row(el("th", "", link), each.at.slice(0, 19).replace("T", " "), each.outcome, each.cards, each.marks.map(plain).join(", "));
  }));
}

function drawPast(past) {
  rounds = past.rounds;
  drawRounds();
  drawHours(past.hours);
  drawSeconds(past.seconds);
  drawRanks(past.cards);
  const figure = (told) => (told === null ? "–" : told);
  pairs("rates", { misreads: figure(past.rates.misreads), corrections: figure(past.rates.corrections), stops: figure(past.rates.stops), "rounds counted": past.rates.rounds });
  $("stops").replaceChildren(...past.stops.map((stop) => row(stop.code, stop.what, `${stop.times} ×`, `${stop.minutes} min`)));
  if (!past.stops.length) $("stops").replaceChildren(row("none"));
  $("alarms").replaceChildren(...(past.alarms.length ? past.alarms : [{ at: "", says: "none" }]).map((alarm) => el("li", "", `${alarm.at.slice(0, 19).replace("T", " ")} ${alarm.says}`)));
  $("awards").replaceChildren(...past.awards.map((each) => {
    const unequal = each.step === "disputed" || (each.pit_cents !== null && each.here_cents !== null && each.pit_cents < each.here_cents);
    return row(each.at.slice(0, 19).replace("T", " "), `seat ${each.seat}`, plain(each.tier), paid(each.here_cents), el("td", unequal ? "unequal" : "", paid(each.pit_cents)), each.says);
  }));
  const columns = ["hit", "at", "award", "shown here", "awarded", "step"].map((head) => el("th", "", head));
  $("awards").prepend(past.awards.length ? row(...columns) : row("none"));
  const heads = ["shoe", "opened", "rounds", "Player", "Banker", "tie", "cards left", "ended"].map((head) => el("th", "", head));
  $("shoes").replaceChildren(row(...heads), ...past.shoes.map((shoe) => row(shoe.shoe, shoe.at.slice(0, 19).replace("T", " "), shoe.rounds, shoe.player, shoe.banker, shoe.tie, shoe.left ?? "–", shoe.closed ?? "still open")));
  if (past.head) {
    $("head").textContent = `event ${past.head.seq}, of ${past.head.at.slice(0, 19).replace("T", " ")}; the chain before it ${past.head.chain}`;
  }
}

function draw(told) {
  now = told;
  document.title = now.title;
  $("title").textContent = now.title;
  $("waits").textContent = now.waits;
  $("fault").hidden = now.fault === null;
  if (now.fault) {
    const { code, what, do: todo, details, exits, held_cards: held } = now.fault;
    $("fault").replaceChildren(el("b", "", `${code}: ${what}`), el("p", "", todo), el("p", "", `${details}${details ? "; " : ""}cards held: ${held}`), ...exits.map((each) => el("code", "", each)));
  }
  $("links").replaceChildren(...now.links.map((link) => row(el("th", "", link.name), el("td", link.up ? "up" : "down", link.up ? "up" : link.down), link.why, `for ${age(link.for_s)}`)));
  const head = $("head")?.textContent ?? "–";
  pairs("shoe", now.shoe);
  pairs("facts", { ...now.facts, "Configuration, SHA-256": wiring.digest });
  $("facts").append(el("dt", "", "Journal's head"), Object.assign(el("dd", "", head), { id: "head" }));
  const meterHeads = ["meter", "shown here", "the pit's last word", ""].map((head) => el("th", "", head));
  $("meters").replaceChildren(...(now.meters.length ? [row(...meterHeads)] : [row("this game has none")]), ...now.meters.map(({ meter, here_cents: here, pit_cents: pit }) =>
    row(el("th", "", plain(meter)), paid(here), el("td", here === pit ? "" : "unequal", paid(pit)), el("td", now.fresh ? "" : "unequal", now.fresh ? "fresh" : "NOT fresh: no wager on it is taken"))));
  $("meters-refused").textContent = now.meters_refused ?? "";
  drawFelt();
  drawPins();
}

$("csv").href = at("rounds.csv");
$("json").href = at("rounds.json");
const source = new EventSource(at("events"));
source.addEventListener("wiring", (event) => { wiring = JSON.parse(event.data); if (now) draw(now); });
source.addEventListener("now", (event) => draw(JSON.parse(event.data)));
source.addEventListener("past", (event) => drawPast(JSON.parse(event.data)));
source.addEventListener("link", (event) => { $("away").hidden = JSON.parse(event.data).live; });
source.onerror = () => { $("away").hidden = false; };
$("search").addEventListener("input", drawRounds);
