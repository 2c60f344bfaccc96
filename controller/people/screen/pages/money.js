"use strict";
// An amount in the house's currency, as the server writes it too: its minor units in, "$1,234.50" out.

const MONEY = JSON.parse(document.documentElement.dataset.money);

function money(cents) {
  const { sign, before, group, point, digits } = MONEY;
  const text = String(Math.abs(Math.trunc(cents))).padStart(digits + 1, "0");
  const units = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, group);
  const minor = digits ? point + text.slice(-digits) : "";
  return `${cents < 0 ? "-" : ""}${before ? sign : ""}${units}${minor}${before ? "" : sign}`;
}
