"use strict";
// The page of the code alone: what it shows is renewed where the table has a newer checkpoint. Nobody loses his place.
// An old code never stands where nobody answers, for a film of the page is a witness.

const RENEW_MS = 5000, PATIENCE_MS = 4000;
const UNHEARD = document.createElement("main");
UNHEARD.append(Object.assign(document.createElement("h1"), { textContent: "No checkpoint: the screen or the table is not heard." }));

async function told() {
  const answer = await fetch(location.href, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main") : null;
}

async function renew() {
  const [here, now] = [document.querySelector("main"), (await told().catch(() => null)) ?? UNHEARD];
  if (now.innerHTML !== here.innerHTML) here.replaceWith(now);
}

async function keepRenewing() {
  await renew();
  setTimeout(keepRenewing, RENEW_MS);
}

setTimeout(keepRenewing, RENEW_MS);
