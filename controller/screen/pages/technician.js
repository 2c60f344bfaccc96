"use strict";
// The technician's page: one part, drawn whole each time it comes.

const $ = (id) => document.getElementById(id);
let hands = [];

function el(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside.map((each) => each ?? ""));
  return made;
}

function pairs(where, told, write = String) {
  $(where).replaceChildren(...Object.entries(told).flatMap(([name, said]) => [el("dt", "", name.replaceAll("_", " ")), el("dd", "", write(said))]));
}

function age(seconds) {
  return seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

function drawHands() {
  const wanted = $("search").value.trim().toLowerCase();
  const rows = hands.filter((hand) => !wanted || `${hand.hand} ${hand.outcome} ${hand.cards}`.toLowerCase().includes(wanted));
  $("hands").replaceChildren(...rows.map((hand) => el("tr", "",
    el("td", "", String(hand.hand)), el("td", "", hand.outcome), el("td", "", hand.cards),
    el("td", "", ["natural", "player_pair", "banker_pair", "simulated"].filter((mark) => hand[mark]).join(", ").replaceAll("_", " ")))));
}

function draw(now) {
  document.title = now.title;
  $("title").textContent = now.title;
  $("phase").textContent = now.phase;
  $("fault").hidden = now.fault === null;
  if (now.fault) {
    const { code, what, do: todo, details, exits, held_cards: held } = now.fault;
    $("fault").replaceChildren(el("b", "", `${code}: ${what}`), el("p", "", todo), el("p", "", `${details}${details ? "; " : ""}cards held: ${held}`), ...exits.map((each) => el("code", "", each)));
  }
  $("links").replaceChildren(...now.links.map((link) => el("tr", "",
    el("th", "", link.name), el("td", link.up ? "up" : "down"), el("td", "", link.why), el("td", "", `for ${age(link.for_s)}`))));
  $("lamps").replaceChildren(...Object.entries(now.lamps).map(([name, pattern]) => {
    const lamp = el("span", `lamp ${pattern}`, name.replaceAll("_", " "));
    lamp.title = pattern.replaceAll("_", " ");
    return lamp;
  }));
  pairs("facts", now.facts);
  pairs("meters", now.meters, (cents) => `$${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`);
  hands = now.hands;
  drawHands();
}

const source = new EventSource("/technician/events");
source.addEventListener("now", (event) => draw(JSON.parse(event.data)));
source.addEventListener("link", (event) => { $("away").hidden = JSON.parse(event.data).live; });
source.onerror = () => { $("away").hidden = false; };
$("search").addEventListener("input", drawHands);
