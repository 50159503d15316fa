// The server's side of a link: what it asks for, its gate, its sealed chunks.

/** A refusal of the server, with its status and its words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(path, access, body) {
  const headers = {};
  if (access) headers["X-Share-Access"] = access;
  if (body) headers["Content-Type"] = "application/json";
  const how = { method: body ? "POST" : "GET", headers, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };
  if (body) how.body = JSON.stringify(body);
  let response;
  try {
    response = await fetch(path, how);
  } catch {
    throw new Refused(0, "the server can't be reached; check the network and try again");
  }
  if (response.ok) return response;
  const failure = await response.json().catch(() => ({}));
  throw new Refused(response.status, failure.message ?? `the server answered ${response.status}`);
}

/** The requests of one link. */
export function service(code) {
  const base = `/api/v1/public/shares/${encodeURIComponent(code)}`;
  return {
    look: async () => (await call(base)).json(),
    open: async (gate, email, code) =>
      (await call(`${base}/open`, null, { gate, email, email_code: code })).json(),
    begin: async (access, file) => (await (await call(`${base}/downloads`, access, { file_id: file ?? null })).json()).access,
    chunk: async (access, node, chunk) =>
      new Uint8Array(await (await call(`${base}/chunks/${chunk}?node=${node}`, access)).arrayBuffer()),
  };
}
