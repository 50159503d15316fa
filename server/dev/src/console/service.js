// Nodes and webhooks: what the account of the token has.

import { act, ask, at, button, filled, row, say } from "./api.js";

/** The folders from the top to the one that is shown. */
const way = [];
/** The webhook whose deliveries are shown. */
let shown = null;

const nodes = () =>
  act("", async () => {
    const folder = way.at(-1);
    const parent = folder ? `&parent_id=${folder.id}` : "";
    const page = await ask("GET", `/api/v1/nodes/?page_size=100${parent}`);
    at("place").textContent = `/${way.map((folder) => folder.name).join("/")} (${page.totalElements})`;
    at("nodes").replaceChildren(...page.content.map(nodeRow));
  });

function nodeRow(node) {
  const enter = () => {
    way.push(node);
    nodes();
  };
  const name = node.kind === "folder" ? button(node.name, enter) : node.name;
  return row(name, node.kind, node.size, node.version, node.updated_at);
}

const webhooks = () =>
  act("", async () => {
    const page = await ask("GET", "/api/v1/webhooks/?status=all&page_size=100");
    at("webhooks").replaceChildren(...page.content.map(webhookRow));
    shown = page.content.find((webhook) => webhook.id === shown)?.id ?? page.content.at(-1)?.id ?? null;
    await deliveries();
  });

function webhookRow(webhook) {
  const place = `/api/v1/webhooks/${webhook.id}`;
  const doing = (what, method, path) => () =>
    act(what, async () => {
      shown = webhook.id;
      await ask(method, path);
      await webhooks();
    });
  const show = () => {
    shown = webhook.id;
    act("", deliveries);
  };
  const active = webhook.status === "active";
  return row(webhook.url, webhook.events.join(", "), webhook.status, [
    button("Send test event", doing("A test event is on its way.", "POST", `${place}/test`)),
    button(active ? "Disable" : "Enable", doing("", "POST", `${place}/${active ? "disable" : "enable"}`)),
    button("Deliveries", show),
    button("Delete", doing("The webhook is gone.", "DELETE", place)),
  ]);
}

async function deliveries() {
  const page = shown ? await ask("GET", `/api/v1/webhooks/${shown}/deliveries?page_size=50`) : { content: [] };
  at("deliveries").replaceChildren(...page.content.map(deliveryRow));
}

function deliveryRow(delivery) {
  const attempts = delivery.attempts.map((one) => `${one.status ?? one.error} (${one.latency_ms} ms)`).join(", ");
  const retry = () =>
    act("The delivery is attempted once more.", async () => {
      await ask("POST", `/api/v1/webhooks/${delivery.webhook_id}/deliveries/${delivery.id}/retry`);
      await deliveries();
    });
  return row(
    delivery.event,
    delivery.state,
    delivery.created_at,
    delivery.next_attempt_at,
    attempts,
    delivery.state === "failed" ? button("Retry", retry) : "",
  );
}

at("add-webhook").addEventListener("submit", (event) => {
  event.preventDefault();
  const { url, events } = filled(event.target);
  act("The webhook is registered.", async () => {
    const list = events.split(",").map((name) => name.trim()).filter(Boolean);
    const made = await ask("POST", "/api/v1/webhooks/", { url, events: list });
    at("secret").textContent = made.secret;
    shown = made.id;
    await webhooks();
  });
});
at("up").addEventListener("click", () => {
  way.pop();
  nodes();
});
at("nodes-again").addEventListener("click", nodes);
at("deliveries-again").addEventListener("click", () => act("", deliveries));

function everything() {
  say("");
  way.length = 0;
  at("secret").textContent = "–";
  nodes();
  webhooks();
}
at("token").addEventListener("change", everything);
document.addEventListener("clock-moved", everything);
everything();
