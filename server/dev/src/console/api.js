// What both halves of the console need: requests, and rows of tables. Text from the server only ever
// becomes text.

export const at = (id) => document.getElementById(id);

export function say(text, bad = false) {
  at("said").textContent = text;
  at("said").className = bad ? "bad" : "";
}

/** Asks the server; requests outside `/_dev` carry the token of the field. */
export async function ask(method, path, body) {
  const headers = path.startsWith("/_dev") ? {} : { authorization: `Bearer ${at("token").value}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  const value = text ? JSON.parse(text) : null;
  if (!answer.ok) throw new Error(value?.message ?? `the server answered ${answer.status}`);
  return value;
}

/** Does something and says how it went. */
export async function act(what, work) {
  try {
    await work();
    if (what) say(what);
  } catch (error) {
    say(error.message, true);
  }
}

export function button(label, work) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", work);
  return made;
}

/** A table row of texts and elements. */
export function row(...cells) {
  const made = document.createElement("tr");
  for (const cell of cells) {
    const td = document.createElement("td");
    td.append(...(Array.isArray(cell) ? cell : [cell ?? ""]).map((part) => (part instanceof Node ? part : String(part))));
    made.append(td);
  }
  return made;
}

/** The values of a form's filled fields, numbers as numbers. */
export function filled(form) {
  const fields = [...form.elements].filter((field) => field.name && field.value !== "");
  return Object.fromEntries(fields.map((field) => [field.name, field.type === "number" ? Number(field.value) : field.value]));
}
