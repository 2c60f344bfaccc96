"use strict";
// The time of day on a page, in hours and minutes, by the clock and the time zone of the machine that shows the page.

function tellTime() {
  const shown = document.getElementById("clock");
  const now = new Date();
  const text = [now.getHours(), now.getMinutes()].map((each) => String(each).padStart(2, "0")).join(":");
  if (shown.textContent !== text) shown.textContent = shown.dateTime = text;
}

tellTime();
setInterval(tellTime, 1000);
