"use strict";
// The pit's page: draws what the server sends, and asks it for nothing else. A part comes whole, each time it changes.

const SILENT_MS = 11000; // the server tells its clock every second
const $ = (id) => document.getElementById(id);
const page = document.documentElement;
let ahead = 0; // how far the server's clock is ahead of this one, in ms
let heard = Date.now();

function el(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside.filter((each) => each !== null && each !== undefined));
  return made;
}

function words(said) {
  if (new Set(Object.values(said)).size === 1) return el("span", "", Object.values(said)[0]); // the same in every language
  return el("span", "", ...Object.entries(said).map(([language, text]) => {
    const span = el("span", "", text);
    span.lang = language;
    return span;
  }));
}

// What the page says by itself, in every language: the server sends these words with the page.
const own = Object.fromEntries([...document.querySelectorAll("template")].map((each) => [each.id, each.content]));
const say = (name) => own[name].cloneNode(true);

function ago(ms) {
  if (ms === null) return "";
  const shown = el("time", "");
  shown.dataset.ms = ms;
  tick(shown);
  return shown;
}

function tick(shown) {
  const seconds = Math.max(0, Math.floor((Date.now() + ahead - Number(shown.dataset.ms)) / 1000));
  const text = seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.floor(seconds / 60)} min` : seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
  if (shown.textContent !== text) shown.textContent = text;
}

function well(where, is) {
  where.className = is ? "is-well" : "is-not-well";
}

function list(name, parts) {
  $(`no-${name}`).hidden = parts.length > 0;
  return parts;
}

const draw = {
  now: (ms) => { ahead = ms - Date.now(); },
  pit: (pit) => {
    well($("state"), pit.well);
    $("troubles").replaceChildren(...pit.troubles.map((each) => el("li", "", words(each))));
    $("decide").replaceChildren(say(pit.decide ? "decide-now" : "decide-wait"));
    $("decide").title = pit.why || "";
  },
  meters: (meters) => {
    $("meters-box").hidden = !meters.length;
    $("meters").replaceChildren(...meters.map((each) => el("div", "", words(each.meter), el("b", "", each.level), el("small", "", say("reserve"), ` ${each.reserve}`), each.overflow ? el("small", "", say("overflow"), ` ${each.overflow}`) : "", each.waits ? el("small", "look", say("terms-wait"), ` ${each.waits}`) : "")));
  },
  terms: (digest) => { $("terms").textContent = digest || ""; },
  hits: (hits) => $("hits").replaceChildren(...list("hits", hits).map((hit) => el("li", "",
    el("b", "", hit.amount),
    el("div", "where", `${hit.table}, `, words(hit.seat), el("small", "", words(hit.tier)), el("small", "", words(hit.hand)), el("small", "", hit.award), ...[...hit.waits, ...hit.doubts].map((doubt) => el("small", "look", words(doubt)))),
    el("div", "step", el("span", hit.held ? "look" : "", words(hit.says)), el("small", "", ago(hit.at_ms)))))),
  proposals: (proposals) => $("proposals").replaceChildren(...list("proposals", proposals).map((each) => el("li", "",
    el("b", "", String(each.number)), el("div", "where", each.who, ...each.shown.map((line) => el("small", "", line)))))),
  tables: (tables) => {
    const rows = list("tables", tables).map((each) => el("tr", "",
      el("th", "", each.table),
      el("td", "", el("span", each.link === "online" ? "well" : "look", say(`link-${each.link}`)), el("small", "", ago(each.since_ms)), each.adopted ? null : el("small", "look", say("adopt"))),
      el("td", "", each.plays ? words(each.plays) : "–", each.fault ? el("small", "look", words(each.fault)) : null, each.finds ? el("small", "look", words(each.finds)) : null),
      el("td", "", each.waits === null ? "–" : String(each.waits), each.waits ? el("small", "", ago(each.oldest_ms)) : null),
      el("td", "", each.seq === null ? "–" : each.seq.toLocaleString("en-US"))));
    $("tables").hidden = !tables.length;
    $("tables").tBodies[0].replaceChildren(...rows);
  },
  alarms: (alarms) => $("alarms").replaceChildren(...list("alarms", alarms).map((each) => el("li", "",
    el("small", "", `${each.at.slice(0, 19).replace("T", " ")} · ${each.table || "–"} · ${each.code}`), el("p", "", each.what), el("p", "", each.do)))),
  account: (account) => {
    $("awaited").hidden = account !== null;
    $("account").hidden = account === null;
    if (account === null) return;
    well($("balances"), account.balances);
    $("owed").textContent = account.owed;
    $("paid").textContent = account.paid;
    $("drawn").replaceChildren(ago(account.at_ms));
    $("findings").replaceChildren(...account.findings.map((each) => el("li", "look", each)));
  },
};

const source = new EventSource(`/events?lang=${page.dataset.languages.replace(" ", ",")}`);
for (const [part, drawn] of Object.entries(draw)) {
  source.addEventListener(part, (event) => {
    heard = Date.now();
    drawn(JSON.parse(event.data));
    document.body.classList.remove("waiting");
  });
}
setInterval(() => {
  $("away").hidden = Date.now() - heard < SILENT_MS;
  document.querySelectorAll("time[data-ms]").forEach(tick);
}, 1000);
