"use strict";
// A progressive hit takes the screen for a while: each of them once, seat by seat in the order of rounds and seats. Where
// the house wants that, those that are not paid then take turns until they are. Other awards are told at their seats.

const HIT_MS = 10000;
const NEXT_MS = 7000; // where another seat waits for its turn
const COUNT_MS = 1500;
const KEPT = "celebrated"; // in the browser's store: a page that is loaded anew celebrates nothing twice
const MOST_KEPT = 300;
const UNTIL_PAID = document.documentElement.dataset.celebrates === "until_paid";

const celebrated = new Set(JSON.parse(localStorage.getItem(KEPT) ?? "[]"));
const standingHits = new Map(); // by key, in their order
const large = new Map(); // those that have the screen
let seatBefore = ""; // whose hits had the screen last

function noteHits() {
  standingHits.clear();
  const order = (one, other) => one.at[0] - other.at[0] || one.at[1] - other.at[1] || one.at[2] - other.at[2];
  for (const hit of known.hand.hits.filter((each) => each.progressive).sort(order)) {
    let key = hit.key;
    while (standingHits.has(key)) key += " again";
    standingHits.set(key, hit);
  }
  if (!large.size) celebrate();
  else drawHits(false);
}

function celebrate() {
  for (const key of large.keys()) celebrated.add(key);
  if (large.size) localStorage.setItem(KEPT, JSON.stringify([...celebrated].slice(-MOST_KEPT)));
  large.clear();
  const isNew = [...standingHits].filter(([key]) => !celebrated.has(key));
  const waiting = isNew.length || !UNTIL_PAID ? isNew : [...standingHits].filter(([, hit]) => hit.open);
  const seats = [...new Set(waiting.map(([, hit]) => String(hit.at)))];
  seatBefore = seats[isNew.length ? 0 : (seats.indexOf(seatBefore) + 1) % seats.length];
  const ofSeat = waiting.filter(([, hit]) => String(hit.at) === seatBefore);
  for (const [key, hit] of ofSeat) large.set(key, hit);
  $("hit").hidden = !large.size;
  if (!large.size) return;
  drawHits(isNew.length > 0);
  setTimeout(celebrate, seats.length > 1 ? NEXT_MS : HIT_MS);
}

function drawHits(isNew) {
  for (const key of large.keys()) if (standingHits.has(key)) large.set(key, standingHits.get(key)); // its step may be another
  const hits = [...large.values()];
  const seat = known.placard.seats.find((each) => each.seat === hits[0].at[2]);
  const small = (said) => (said ? el("div", hits.length > 1 ? "staff turns" : "staff", ...words(said)) : null);
  const amounts = hits.map((hit) => el("div", "amount", hit.amount));
  $("hit").style.setProperty("--ems", Math.max(1, ...hits.map((hit) => ems(hit.amount ?? ""))));
  $("hit").style.setProperty("--hits", hits.length);
  $("hit").replaceChildren(
    el("div", "what", ...words(hits[0].title)),
    el("div", "who", el("span", "", ...words(hits[0].seat)), seat?.k9.length ? el("span", "k9", ...seat.k9.map(suitSign)) : null),
    el("div", "each", ...hits.map((hit, place) => el("div", "one",
      el("div", "tier turns", ...words(hit.tier)), hit.amount ? amounts[place] : null, small(hit.waits), small(hit.earlier)))));
  if (isNew && !STILL) hits.forEach((hit, place) => countUp(amounts[place], hit));
}

function countUp(where, { cents, amount }) {
  // From nothing to what is paid, and never above that.
  const began = performance.now();
  const step = (now) => {
    const part = Math.min(1, (now - began) / COUNT_MS);
    where.textContent = part < 1 ? money(Math.floor(cents * (1 - (1 - part) ** 3))) : amount;
    if (part < 1 && where.isConnected) requestAnimationFrame(step);
  };
  if (cents) requestAnimationFrame(step);
}
