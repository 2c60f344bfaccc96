"use strict";
// The players' page: draws what the server sends, and asks it for nothing else. A part comes whole, each time it changes.

const TURN_MS = 9000; // how long the long lists stand in one language
const SILENT_MS = 3000; // the server says something every second
const STALE_MS = 30000; // amounts of so long ago are shown no more
const ROLL_MS = 900;
const KIOSK_MS = 4000;
const LONG_EMS = 3.9; // an amount that is too wide for one of seven seats on a phone
const WIDE_EMS = 6.3; // the same on an upright monitor
const TEN_FIGURES = 9999999999; // in minor units: no jackpot up to here is written smaller because it has grown
const LONG = 20; // letters of a limit that is told in a sentence
const SHORT = 19; // letters of a line of a pay table, two of which stand side by side
const STILL = matchMedia("(prefers-reduced-motion: reduce)").matches;

const $ = (id) => document.getElementById(id);
const page = document.documentElement;
const asked = new URLSearchParams(location.search);
const languages = page.dataset.languages.split(" "); // one, or two side by side: the server sends no other
let turns = 0; // how often the long lists have changed their language
const known = {}; // the parts as they came last

function el(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside.filter((each) => each !== null));
  return made;
}

function words(said) {
  if (languages.length > 1 && new Set(Object.values(said)).size === 1) return [el("span", "", Object.values(said)[0])]; // a name of the house's own
  return Object.entries(said).map(([language, text]) => {
    const span = el("span", "", text);
    span.lang = language;
    return span;
  });
}

function say(where, said) {
  where.replaceChildren(...(said ? words(said) : []));
}

function svg(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Cards.

const SUITS = {
  H: "M16 29C5 20 2 15 2 10a7 7 0 0 1 14-2 7 7 0 0 1 14 2c0 5-3 10-14 19z",
  D: "M16 2l11 14-11 14L5 16z",
  S: "M16 2c11 9 14 13 14 18a6.5 6.5 0 0 1-12 3l2 7h-8l2-7a6.5 6.5 0 0 1-12-3c0-5 3-9 14-18z",
  C: "M16 2a6.5 6.5 0 0 1 5.4 10.1A6.6 6.6 0 1 1 18 22l2 8h-8l2-8a6.6 6.6 0 1 1-3.4-9.9A6.5 6.5 0 0 1 16 2z",
};

function cardName(text) {
  const { cards } = known.placard;
  if (text === "??") return known.hand.stop.why[page.lang];
  const named = cards[text === "--" ? "--" : text[1]] ?? {};
  const said = named[page.lang] ?? "";
  return text === "--" ? said : `${text[0] === "T" ? "10" : text[0]} ${said}`;
}

function card(text, third) {
  const drawn = svg("svg", { viewBox: "0 0 100 140", class: third ? "card third" : "card", "data-card": text, role: "img", "aria-label": cardName(text) });
  if (text === "--") {
    drawn.append(
      svg("rect", { width: 100, height: 140, rx: 9, fill: "#fbf7ec" }),
      svg("rect", { x: 6, y: 6, width: 88, height: 128, rx: 6, fill: "#7a1a26" }),
      svg("path", { d: "M6 38L38 6M6 70L70 6M6 102L94 14M6 134L94 46M38 134L94 78M70 134L94 110M62 6L94 38M30 6L94 70M6 14L94 102M6 46L94 134M6 78L62 134M6 110L30 134", stroke: "#c98d12", "stroke-width": 2, opacity: 0.75 }),
      svg("circle", { cx: 50, cy: 70, r: 21, fill: "#7a1a26", stroke: "#f0cf7d", "stroke-width": 3 }),
      svg("path", { d: SUITS.S, transform: "translate(35 55) scale(.94)", fill: "#f0cf7d" }),
    );
    return drawn;
  }
  if (text === "??") {
    drawn.append(
      svg("rect", { x: 3, y: 3, width: 94, height: 134, rx: 8, fill: "#1e1300", stroke: "#ffb020", "stroke-width": 6, "stroke-dasharray": "14 9" }),
      svg("text", { x: 50, y: 101, "font-size": 88, "font-weight": 800, "text-anchor": "middle", fill: "#ffb020" }, "?"),
    );
    return drawn;
  }
  const [rank, suit] = text, ten = rank === "T", court = "JQK".includes(rank);
  const fill = "HD".includes(suit) ? "#c3141f" : "#14181b";
  const half = () => {
    const made = svg("g", {});
    made.append(svg("text", { x: ten ? 28 : 23, y: 49, "font-size": ten ? 50 : 56, "font-weight": 800, "text-anchor": "middle", fill, "letter-spacing": ten ? -6 : 0 }, ten ? "10" : rank));
    if (court) made.append(svg("path", { d: "M55 40L52 18l11 9 9-15 9 15 11-9-3 22z", fill: "#c98d12" }));
    return made;
  };
  const below = half();
  below.setAttribute("transform", "rotate(180 50 70)");
  drawn.append(
    svg("rect", { x: 0.5, y: 0.5, width: 99, height: 139, rx: 9, fill: "#fffdf7", stroke: "#b9b09a" }), half(), below,
    svg("path", { d: SUITS[suit] || "", transform: "translate(30.8 50.8) scale(1.2)", fill }),
  );
  return drawn;
}

function suitSign(text) {
  const sign = svg("svg", { viewBox: "0 0 32 32", class: "HD".includes(text[1]) ? "suit red" : "suit" });
  sign.append(svg("path", { d: SUITS[text[1]] }));
  return el("span", "", text[0] === "T" ? "10" : text[0], sign);
}

const SIGNS = { // what a seat's lamp says, drawn: letters for it look otherwise on every machine
  accepted: "M4 17l8 8L28 7l-3-3-13 15-5-5z",
  seen: "M16 6a10 10 0 1 1 0 20a10 10 0 1 1 0-20z",
  refused: "M7 4l9 9 9-9 3 3-9 9 9 9-3 3-9-9-9 9-3-3 9-9-9-9z",
  hit: "M16 2l4 10h10l-8 7 3 11-9-7-9 7 3-11-8-7h10z",
  turn: "M24 3v26L6 16z",
};

function signOf({ sign, says }) {
  if (!SIGNS[sign]) return null;
  const icon = svg("svg", { viewBox: "0 0 32 32", class: "icon", role: "img", "aria-label": Object.values(says).join(" / ") });
  icon.append(svg("path", { d: SIGNS[sign] }));
  return icon;
}

// The hand.

const zones = new Map();

function zone(hand) {
  let shown = zones.get(hand.hand);
  if (!shown) {
    shown = el("div", `zone ${hand.hand}`, el("div", "top", el("div", "title stacked"), el("div", "total")), el("div", "cards"), el("div", "foot"));
    zones.set(hand.hand, shown);
  }
  return shown;
}

function dealCards(where, cards, sideways) {
  const old = [...where.children].map((each) => each.dataset.card);
  const goesOn = old.every((each, place) => each === cards[place] || (["--", "??"].includes(each) && cards.length >= old.length));
  if (!goesOn) where.replaceChildren();
  cards.forEach((text, place) => {
    const there = where.children[place];
    if (there && there.dataset.card === text) return;
    const made = card(text, sideways && place === 2);
    made.classList.add(there ? "turned" : "dealt");
    there ? there.replaceWith(made) : where.append(made);
  });
}

function drawHands() {
  const { hands, outcome } = known.hand;
  const seatGame = known.placard.seat_hands;
  const expected = seatGame ? ["dealer"] : ["player", "banker"];
  const shown = expected.map((name) => {
    const hand = hands.find((each) => each.hand === name) || { hand: name, cards: [], total: null, holder: null };
    const here = zone(hand);
    here.className = `zone ${name}`;
    if (hand.won) here.classList.add("won");
    else if (hand.tied) here.classList.add("tied");
    else if (outcome) here.classList.add("lost");
    say(here.querySelector(".title"), hand.label || known.placard.names[name]);
    const total = here.querySelector(".total");
    const text = hand.total === null ? "" : String(hand.total);
    if (total.textContent !== text) total.textContent = text;
    dealCards(here.querySelector(".cards"), hand.cards, !seatGame);
    const foot = here.querySelector(".foot");
    foot.replaceChildren();
    if (hand.won) foot.append(el("span", "badge win", ...words(known.placard.names.wins)));
    if (hand.tied) foot.append(el("span", "badge win", ...words(known.placard.names.tie)));
    if (hand.natural) foot.append(el("span", "badge natural", ...words(known.placard.names.natural)));
    if (hand.holder) foot.append(el("span", "holder", ...words(hand.holder)));
    return here;
  });
  const box = $("hands");
  if (box.children.length !== shown.length || shown.some((each, place) => box.children[place] !== each)) box.replaceChildren(...shown);
  if (seatGame) drawSeatHands(hands);
}

function drawSeatHands(hands) {
  const box = $("seat-hands");
  const { seats } = known.placard;
  box.style.setProperty("--columns", seats.length);
  const old = new Map([...box.children].map((each) => [Number(each.dataset.seat), each]));
  box.replaceChildren(...seats.map(({ seat, label }) => {
    const dealt = hands.filter((hand) => hand.seat === seat);
    const its = dealt.length ? dealt : [{ cards: [], total: null }]; // where a hand would lie
    const now = known.hand.seats[seat] || {};
    const here = old.get(seat) || el("div", "seat-hand");
    here.dataset.seat = seat;
    here.className = `seat-hand ${now.sign || ""}${its.length > 1 ? " split" : ""}${its.some((hand) => hand.cards.length) ? "" : " free"}`;
    if (here.children.length !== its.length + 1) here.replaceChildren(el("div", "n"), ...its.map(() => el("div", "one", el("div", "cards"), el("div", "total"), el("div", "result stacked"))));
    here.firstChild.replaceChildren(el("span", "", ...words(label)), signOf(now) ?? "");
    its.forEach((hand, place) => {
      const one = here.children[place + 1];
      one.className = `one ${hand.result?.mark ?? ""}`;
      dealCards(one.querySelector(".cards"), hand.cards, false);
      one.querySelector(".total").textContent = hand.total === null ? "" : hand.total;
      say(one.querySelector(".result"), hand.result?.says);
    });
    return here;
  }));
}

function drawSays() {
  const { waits, marks, stop } = known.hand;
  say($("waits"), waits);
  $("waits").style.setProperty("--ems", Object.values(waits).reduce((wide, each, place) => wide + (place ? 0.8 : 1) * ems(each) + place, 1));
  $("waits").style.setProperty("--longest", Math.max(1, ...Object.values(waits).map(ems)));
  $("marks").replaceChildren(...marks.map((mark) => el("span", "badge stacked", ...words(mark))));
  document.body.classList.toggle("stopped", stop !== null);
  $("stop").hidden = stop === null || document.body.classList.contains("silent");
  if (stop) {
    const told = Object.keys(stop.why).map((language) => {
      const box = el("div", "told", el("b", "", stop.why[language]), stop.calm[language]);
      box.lang = language;
      return box;
    });
    $("stop").replaceChildren(el("span", "bang", "!"), ...told);
    $("stop").dataset.code = stop.code;
  }
}

function drawSeats() {
  const box = $("seats");
  const { seats, names } = known.placard;
  box.style.setProperty("--columns", seats.length);
  box.replaceChildren(...seats.map(({ seat, k9 }) => {
    const now = known.hand.seats[seat] || {};
    const told = [];
    if (k9.length) told.push(el("div", "k9", ...k9.map(suitSign)));
    const turns = now.turns || []; // Midi: the hands whose cards the seat turns
    const held = turns.length ? turns : now.role ? [now.role] : [];
    const before = turns.length ? names.turns : known.hand.outcome ? names.next : null; // a finished round's roles may have moved on
    if (held.length) told.push(el("div", "held turns", ...(before ? words(before) : []), ...held.map((hand) => el("span", `role is-${hand}`, ...words(names[hand])))));
    const hit = now.sign === "hit";
    if (hit && now.award) {
      const { amount, name } = now.award;
      const wide = Math.max(...amount.split(" ").map(ems)); // "$5,000 +1" may stand in two lines
      const long = wide > WIDE_EMS ? " long wide" : wide > LONG_EMS ? " long" : "";
      told.push(el("div", `award${long}`, el("b", "", amount), name && el("span", "turns", ...words(name))));
      told.at(-1).style.setProperty("--ems", wide);
    }
    const result = hit ? { mark: "won", says: now.says } : now.result; // a hit says more than the result
    if (result) {
      told.push(el("div", `result turns ${result.mark}`, ...words(result.says)));
      told.at(-1).style.setProperty("--letters", Math.max(...Object.values(result.says).map((each) => each.length)));
    }
    const number = el("div", "n", String(seat), signOf(now));
    const here = el("div", `seat ${now.sign || ""}${now.empty ? " empty" : ""}`, number, ...told);
    here.dataset.seat = seat;
    if (now.says) here.title = Object.values(now.says).join(" / ");
    return here;
  }));
  // On a panel and on an upright monitor a seat with a wide award is twice as wide; more than three stand in two rows.
  const wide = [...box.children].map((here) => (here.querySelector(".wide") ? 2 : 1));
  box.style.setProperty("--by-award", wide.map((part) => `minmax(0, ${part}fr)`).join(" "));
  box.classList.toggle("many-wide", wide.filter((part) => part > 1).length > 3);
}

// Meters roll up to their new level. One that has fallen is at its new level at once: nobody is shown more than is paid.

const rolled = new Map();

function ems(text) {
  // The width of a text in Inter at its heaviest.
  const wide = (letter) => (",.".includes(letter) ? 0.29 : /[A-Z]/.test(letter) ? 0.8 : letter > "\u3000" || letter === "₩" ? 1 : 0.65);
  return [...text].reduce((sum, letter) => sum + wide(letter), 0);
}

function roll(where, meter, to) {
  const from = rolled.has(meter) ? rolled.get(meter) : to;
  rolled.set(meter, to);
  if (STILL || to <= from) { where.textContent = money(to); return; }
  const began = performance.now();
  const step = (now) => {
    const part = Math.min(1, (now - began) / ROLL_MS);
    where.textContent = money(Math.round(from + (to - from) * (1 - (1 - part) ** 3)));
    if (part < 1 && rolled.get(meter) === to) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function drawMeters() {
  const { fresh, cents, win } = known.meters;
  const told = known.placard.meters;
  $("win").hidden = !win || !fresh;
  say($("win"), win);
  $("meters-box").hidden = told.length === 0;
  $("meters-box").classList.toggle("old", !fresh);
  $("meters-old").hidden = fresh;
  const box = $("meters");
  box.style.setProperty("--meters", told.length);
  box.style.setProperty("--ems", Math.max(ems(money(TEN_FIGURES)), ...told.map(({ meter }) => ems(money(cents[meter] ?? 0)))));
  while (box.children.length > told.length) box.lastChild.remove();
  told.forEach(({ meter, label }, place) => {
    let here = box.children[place];
    if (!here) box.append(here = el("div", "meter", el("div", "label turns"), el("div", "cents")));
    here.dataset.meter = meter;
    say(here.firstChild, label);
    if (cents[meter] === null || document.body.classList.contains("stale")) here.lastChild.textContent = "–";
    else roll(here.lastChild, meter, cents[meter]);
  });
}

// What the bets pay: boards as large as fit at once, or else in turn, in letters that nobody must come near to read.

const READABLE = [1.3, 1.25, 1.2, 1.15, 1.1, 1.05, 1]; // sizes of letters on a board
const SMALL = [0.97, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79, 0.76, 0.73, 0.7, 0.67, 0.64]; // for a board that is too long for its place
const WRAP = 0.06; // by how much letters may be smaller for a line that does not wrap then
let sheets = []; // the boards that stand together, sheet by sheet

function fit() {
  const boards = [...document.querySelectorAll(".pay")];
  if (!boards.length) return;
  for (const board of boards) board.classList.remove("turned");
  document.body.style.removeProperty("--pays-need");
  const turn = page.dataset.turn;
  const whole = (sizes, wide, kind) => {
    document.body.classList.toggle("wide-pays", wide);
    $("pays").className = kind;
    return sizes.map((size) => ({ size, ...spread(boards, size) })).filter((each) => each.sheets);
  };
  const worth = ({ size, wraps, sheets: made }) => size - WRAP * wraps - made.length;
  const look = () => [document.body.classList.contains("wide-pays"), $("pays").className].join();
  const before = look();
  let fitting = []; // "roomy": Khmer's lines stand further apart; "brief": without what the rules page says too
  for (const kind of ["roomy", "", "brief"]) for (const wide of [false, true]) {
    if (!fitting.length) fitting = whole(READABLE, wide, kind);
  }
  if (!fitting.length) fitting = whole(SMALL, true, "brief dense");
  if (!fitting.length) fitting = [{ size: SMALL.at(-1), wraps: 0, sheets: [boards] }];
  const best = fitting.reduce((one, other) => (worth(other) > worth(one) ? other : one));
  $("pays").style.setProperty("--fit", best.size.toFixed(2));
  // Where one sheet needs less than its place, the hands have the rest.
  if (best.sheets.length === 1) document.body.style.setProperty("--pays-need", `${Math.ceil(needed(boards))}px`);
  page.dataset.turn = turn;
  sheets = best.sheets;
  turnSheet();
  if (known.shoe && look() !== before) drawShoe(); // its roads have another width or height
}

function needed(boards) {
  // The height that the boards need together, in whichever language.
  const { top } = $("pays").getBoundingClientRect();
  return Math.max(...[...languages.keys()].map((each) => { page.dataset.turn = each; return lowest(boards) - top; }));
}

function spread(boards, size) {
  // The boards in their order on as few sheets as hold them at this size, in whichever language; none where one is too long.
  // What alone tells what wins a meter is on every sheet.
  $("pays").style.setProperty("--fit", size.toFixed(2));
  const room = $("pays").clientHeight, gap = parseFloat(getComputedStyle($("pays")).rowGap) || 0;
  const high = new Map();
  const rows = boards.flatMap((board) => [...board.querySelectorAll("p")]);
  let wraps = 0, over = false;
  for (const each of languages.keys()) {
    page.dataset.turn = each;
    for (const board of boards) high.set(board, Math.max(high.get(board) ?? 0, board.getBoundingClientRect().height));
    over ||= lowest(boards) > $("pays").getBoundingClientRect().bottom;
    if (rows.some((row) => row.scrollWidth > row.clientWidth)) return {};
    wraps = Math.max(wraps, rows.filter((row) => row.offsetHeight > 1.5 * parseFloat(getComputedStyle(row).lineHeight)).length);
  }
  if (!over) return { sheets: [boards], wraps };
  const stay = boards.filter((board) => board.dataset.meters), others = boards.filter((board) => !board.dataset.meters);
  const roomLeft = stay.reduce((sum, board) => sum - high.get(board) - gap, room);
  if (known.placard.seat_hands || !others.length || others.some((board) => high.get(board) > roomLeft)) return { wraps };
  const made = [];
  let left = -1;
  for (const board of others) {
    if (high.get(board) > left) { made.push([...stay]); left = roomLeft; }
    made.at(-1).push(board);
    left -= high.get(board) + gap;
  }
  return { sheets: made, wraps };
}

const lowest = (boards) => Math.max(...boards.map((board) => board.getBoundingClientRect().bottom));

function turnSheet() {
  const now = sheets[Math.floor(turns / 2) % sheets.length];
  for (const board of sheets.flat()) board.classList.toggle("turned", !now.includes(board));
}

// A bet is closed where each spot of it takes no wager any more.
function drawClosed() {
  for (const here of document.querySelectorAll("#pays [data-spots]")) {
    here.classList.toggle("closed", here.dataset.spots.split(" ").every((spot) => known.hand.closed.includes(spot)));
  }
}

const long = (text) => [...text].reduce((sum, letter) => sum + (letter > "\u3000" ? 2.5 : 1), 0); // in letters as wide as Latin ones

function payTable({ title, lines, spots, meters }) {
  const short = lines.map((line) => Object.keys(line.when).every((each) => long(line.when[each]) + long(line.pays[each]) <= SHORT));
  let beside = false; // whether the line before waits for a second one at its side
  const rows = lines.map((line, place) => {
    const paired = short[place] && (beside || short[place + 1]);
    beside = paired && !beside;
    const row = el("p", paired ? "" : "wide", el("span", "turns", ...words(line.when)), el("span", "turns", ...words(line.pays)));
    if (line.spare) row.classList.add("spare");
    if (line.spots) row.dataset.spots = line.spots.join(" ");
    return row;
  });
  const made = el("div", "pay", el("h2", "turns", ...words(title)), el("div", "", ...rows));
  if (spots) made.dataset.spots = spots.join(" ");
  if (meters) made.dataset.meters = "true";
  return made;
}

function drawPlacard() {
  const { name, game, limits, pays, seat_hands: seatHands, languages: chosen } = known.placard;
  if (!asked.get("lang") && chosen.join(" ") !== page.dataset.languages) location.reload(); // the house has chosen others
  document.title = name;
  $("name").textContent = name;
  document.querySelector(".name").style.setProperty("--letters", name.length);
  $("game").textContent = game;
  $("limits").replaceChildren(...limits.map(({ label, text }) => el("div", "", el("dt", "turns", ...words(label)), el("dd", Math.max(...Object.values(text).map((each) => each.length)) > LONG ? "turns long" : "turns", ...words(text)))));
  $("pays").replaceChildren(...pays.map(payTable));
  document.body.classList.toggle("no-meters", known.placard.meters.length === 0);
  if (known.placard.meters.length) $("meters-box").prepend($("win"));
  else document.querySelector("main").before($("win"));
  document.body.classList.toggle("few-meters", known.placard.meters.length < 3);
  drawMeters(); // before there is a measure of what room they leave
  document.body.classList.toggle("no-pays", pays.length === 0);
  document.body.classList.toggle("seat-game", seatHands);
  document.body.classList.toggle("no-seats", !known.placard.seats_told);
  $("roads").hidden = seatHands;
  $("seat-hands").hidden = !seatHands;
  fit();
}

function drawShoe() {
  const { beads, circles, derived, counts } = known.shoe;
  for (const [name, count] of Object.entries(counts)) document.querySelector(`[data-count="${name}"]`).textContent = count;
  if (known.placard.seat_hands) return;
  road("bead_plate", beads, drawBead);
  road("big_road", circles, drawCircle);
  for (const [name, mark] of Object.entries(DERIVED)) road(name, derived[name], (where, [color]) => where.append(mark(color)));
  drawAsk("player");
  drawAsk("banker");
}

function drawDay() {
  $("day").hidden = !known.day;
  for (const where of known.day ? $("day").querySelectorAll("b") : []) {
    where.textContent = `${letter(where.dataset.day)} ${known.day[where.dataset.day] ?? 0}`;
  }
}

// What the server says.

const DRAW = {
  placard: drawPlacard,
  hand: () => {
    $("shoe").textContent = known.hand.shoe ?? "–";
    $("round").textContent = known.hand.round ?? "–";
    drawHands();
    $("between").hidden = !known.hand.between || !$("between").querySelector("img, p");
    drawSays();
    drawClosed();
    drawSeats();
    noteHits();
  },
  meters: drawMeters,
  shoe: drawShoe,
  checkpoint: drawCheckpoint,
  day: drawDay,
};

let heardMs = performance.now(); // the server
let liveMs = performance.now(); // the table, through the server

function standing() {
  const now = performance.now();
  const away = now - heardMs > SILENT_MS;
  const silent = away || !(known.link && known.link.live);
  if (!silent) liveMs = now;
  const wasSilent = document.body.classList.contains("silent");
  document.body.classList.toggle("silent", silent);
  $("screen-away").hidden = !away;
  $("away").hidden = away || !silent;
  const stale = now - liveMs > STALE_MS;
  const wasStale = document.body.classList.contains("stale");
  document.body.classList.toggle("stale", stale);
  if (stale !== wasStale && known.meters) drawMeters();
  if (silent !== wasSilent && known.hand) drawSays();
}

function heard(part, said) {
  heardMs = performance.now();
  known[part] = said;
  if (known.placard && known.hand && known.shoe && known.meters) {
    const first = document.body.classList.contains("waiting");
    document.body.classList.remove("waiting");
    const parts = first || part === "placard" ? Object.keys(DRAW) : [part];
    parts.forEach((each) => DRAW[each]?.());
  }
  standing();
  page.dataset.drawn = String(Number(page.dataset.drawn || 0) + 1);
}

function connect() {
  const told = new URLSearchParams({ lang: languages.join(","), kiosk: asked.get("kiosk") ?? "" });
  const source = new EventSource(`/events?${told}`);
  for (const part of ["link", "placard", "shoe", "hand", "meters", "checkpoint", "day"]) source.addEventListener(part, (event) => heard(part, JSON.parse(event.data)));
  source.addEventListener("beat", () => { heardMs = performance.now(); standing(); });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000); // else it tries again by itself
    known.link = { live: false };
    heardMs = -Infinity;
    standing();
  };
}

page.dataset.turn = 0;
page.classList.toggle("both", languages.length > 1);
if (asked.get("lang")) $("help").href += `?lang=${languages.join(",")}`;
setInterval(() => {
  turns += 1;
  page.dataset.turn = turns % languages.length;
  if (sheets.length > 1) turnSheet();
}, TURN_MS);
setInterval(standing, 250);
// On an attached monitor: what starts the browser is told that a frame was painted, or starts it again.
if (asked.get("kiosk")) {
  document.body.classList.add("kiosk");
  setInterval(() => requestAnimationFrame(() => fetch(`/alive/${encodeURIComponent(asked.get("kiosk"))}`).catch(() => {})), KIOSK_MS);
}
addEventListener("resize", () => { drawCheckpoint(); if (known.shoe && known.placard) { drawShoe(); fit(); } });
new ResizeObserver(fit).observe($("pays"));
document.fonts.ready.then(fit);
connect();
