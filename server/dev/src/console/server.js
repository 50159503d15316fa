// The clock, the fault rules and the requests as they come: what `/_dev` has, which asks for no token.

import { act, ask, at, button, filled, row } from "./api.js";

/** Milliseconds between two looks; requests to `/_dev` are not recorded. */
const EVERY = 1000;
/** Requests that are shown. */
const MOST = 200;
/** The latest request that is shown. */
let latest = 0;

const moved = () => document.dispatchEvent(new Event("clock-moved"));

async function clock() {
  at("now").textContent = (await ask("GET", "/_dev/clock")).now;
}

async function faults() {
  const { faults } = await ask("GET", "/_dev/faults");
  at("faults").replaceChildren(...faults.map(faultRow));
}

function faultRow({ id, hits, matched, ...rule }) {
  const set = Object.entries(rule).filter(([, value]) => {
    const empty = value === null || value === false || value === 0 || value === "";
    return !empty && !(typeof value === "object" && Object.keys(value).length === 0);
  });
  const text = set.map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  const remove = () =>
    act("The rule is gone.", async () => {
      await ask("DELETE", `/_dev/faults/${id}`);
      await faults();
    });
  return row(text.join(", "), matched, hits, button("Remove", remove));
}

async function requests() {
  const { requests } = await ask("GET", `/_dev/requests?after=${latest}`);
  for (const one of requests) {
    // One that is on its way is shown when it has been answered.
    if (one.status === 0) break;
    latest = one.id;
    const path = one.query ? `${one.path}?${one.query}` : one.path;
    at("requests").prepend(row(one.at, one.method, path, one.status, one.request_bytes, one.response_bytes, one.fault));
  }
  while (at("requests").rows.length > MOST) at("requests").deleteRow(-1);
  at("sum").textContent = `${at("requests").rows.length} shown`;
}

function forgetRequests() {
  latest = 0;
  at("requests").replaceChildren();
}

at("advance").addEventListener("click", (event) => {
  const ms = Number(event.target.dataset.ms);
  if (!ms) return;
  act("The clock went forward.", async () => {
    await ask("POST", "/_dev/clock/advance", { ms });
    await clock();
    moved();
  });
});
at("reset").addEventListener("click", () => {
  if (!confirm("Delete everything on this server and begin anew?")) return;
  act("Everything is as after the first start.", async () => {
    await ask("POST", "/_dev/reset");
    forgetRequests();
    moved();
  });
});
at("forget").addEventListener("click", () =>
  act("", async () => {
    await ask("DELETE", "/_dev/requests");
    forgetRequests();
  }),
);
at("add-fault").addEventListener("submit", (event) => {
  event.preventDefault();
  act("The rule holds.", async () => {
    await ask("POST", "/_dev/faults", filled(event.target));
    await faults();
  });
});

async function look() {
  await act("", async () => {
    await Promise.all([clock(), faults(), requests()]);
  });
  setTimeout(look, EVERY);
}
look();
