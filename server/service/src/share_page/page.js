// The page itself: gate, list, download, preview. The secret behind the # stays in this page.

import { NotGenuine, fromBase64, linkKey, linkKeyWithPassword, openChunk, openFile, parseSecret } from "./link.js";
import { kindOf, show } from "./preview.js";
import { sink } from "./save.js";
import { Refused, service } from "./service.js";
import { Zip } from "./zip.js";

const $ = (id) => document.getElementById(id);
const code = decodeURIComponent(location.pathname.split("/").at(-1));
const link = service(code);
// From this number of files on, there is a field to filter them.
const FILTERED = 20;
// Chunks on their way at once.
const AHEAD = 4;

let share, opened, files;
// Files of the link that did not open.
let refused = 0;

function say(text, failed = false) {
  $("status").textContent = text;
  $("status").classList.toggle("failed", failed);
  $("status").hidden = text === "";
}

function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

function dress(theme) {
  const root = document.documentElement;
  if (/^theme-[a-z]+$/.test(theme.css_class)) root.classList.add(theme.css_class);
  if (theme.accent_color) root.style.setProperty("--accent", theme.accent_color);
  if (theme.background_color) root.style.setProperty("--background", theme.background_color);
  $("owner-name").textContent = theme.display_name;
  $("owner-bio").textContent = theme.bio;
  if (theme.logo_url) {
    $("logo").src = theme.logo_url;
    $("logo").hidden = false;
  }
  $("owner").hidden = !(theme.display_name || theme.bio || theme.logo_url);
}

// The bytes of a file, chunk by chunk, with a few always on their way.
async function* content(file, access, done) {
  const waiting = [];
  let next = 0;
  const more = () => {
    while (next < file.chunks.length && waiting.length < AHEAD) {
      const chunk = file.chunks[next++];
      const coming = link.chunk(access, file.node, chunk.id).then((sealed) => openChunk(chunk, sealed));
      // Waited for below, in order; until then its failure is nobody's.
      coming.catch(() => {});
      waiting.push(coming);
    }
  };
  for (more(); waiting.length > 0; more()) {
    const plain = await waiting.shift();
    done?.(plain.length);
    yield plain;
  }
}

function follow(total) {
  const bar = $("progress");
  let got = 0;
  bar.value = 0;
  bar.hidden = false;
  return (bytes) => (bar.value = total ? (got += bytes) / total : 1);
}

function fail(error) {
  $("progress").hidden = true;
  if (error?.name === "AbortError") return say("");
  const told = error instanceof Refused || error instanceof NotGenuine;
  say(told ? `Something went wrong: ${error.message}.` : "Something went wrong: the browser could not finish it.", true);
  if (!told) console.error(error);
}

async function busy(work) {
  const buttons = document.querySelectorAll("#content button");
  buttons.forEach((button) => (button.disabled = true));
  say("");
  try {
    await work();
  } catch (error) {
    fail(error);
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

async function download(which, name, fill) {
  const total = which.reduce((sum, file) => sum + file.size, 0);
  const target = await sink(name, total);
  try {
    const access = await link.begin(opened.access, which.length === 1 ? which[0].node : null);
    await fill(target, access, follow(total));
    await target.close();
  } catch (error) {
    await target.abort();
    throw error;
  }
  $("progress").hidden = true;
  say(`${name} was downloaded and verified.`);
}

const downloadFile = (file) =>
  download([file], file.name, async (target, access, done) => {
    for await (const part of content(file, access, done)) await target.write(part);
  });

const downloadAll = () =>
  download(files, `${opened.name}.zip`, async (target, access, done) => {
    const zip = new Zip((bytes) => target.write(bytes)), now = new Date();
    for (const file of files) await zip.add(file.path, now, file.size, content(file, access, done));
    await zip.finish();
  });

async function preview(file) {
  const parts = [];
  for await (const part of content(file, opened.access, follow(file.size))) parts.push(part);
  $("progress").hidden = true;
  show($("preview"), file, parts);
}

function button(text, label, work, plain = false) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", label);
  element.classList.toggle("plain", plain);
  element.addEventListener("click", () => busy(work));
  return element;
}

function list() {
  const mayDownload = share.access_mode === "download";
  const folder = share.storage_type === "VR_FOLDER";
  $("name").textContent = folder ? opened.name : (files[0]?.name ?? opened.name);
  document.title = $("name").textContent;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  $("summary").textContent = folder ? `${count}, ${size(total)}` : size(total);
  if (!mayDownload) $("summary").textContent += " · for viewing";
  if (refused > 0) $("summary").textContent += ` · ${refused} more can't be opened: what the server sent does not belong to this link`;
  for (const file of files) {
    const row = document.createElement("li");
    // The heading and the summary have the name and the size of a single file.
    const single = !folder && files.length === 1;
    row.classList.toggle("single", single);
    const path = document.createElement("span");
    path.className = "path";
    path.textContent = file.path;
    const length = document.createElement("span");
    length.className = "size";
    length.textContent = size(file.size);
    if (!single) row.append(path, length);
    if (opened.may_view && kindOf(file)) row.append(button("View", `View ${file.path}`, () => preview(file), true));
    if (mayDownload) row.append(button("Download", `Download ${file.path}`, () => downloadFile(file)));
    $("files").append(row);
  }
  $("filter-field").hidden = files.length < FILTERED;
  const all = $("download-all");
  all.hidden = !(mayDownload && folder && files.length > 0);
  all.textContent = "Download all as zip";
  all.addEventListener("click", () => busy(downloadAll));
  $("content").hidden = false;
  say(files.length === 0 ? "The owner has not added any files to this link yet." : "", files.length === 0);
  // One file that is only to be looked at needs no click.
  if (!mayDownload && files.length === 1 && kindOf(files[0])) busy(() => preview(files[0]));
}

// Some systems take a backslash for a folder: names are written with a character that looks like it.
const portable = (text) => text.replaceAll("\\", "\uff3c");

// One file that does not open keeps nobody from the others; if none does, it is the link.
async function openAll(key, listed) {
  const open = async (file) => openFile(key, share.id, file.node_id, fromBase64(file.sealed));
  const results = await Promise.allSettled(listed.map(open));
  const failed = results.filter((result) => result.status === "rejected").map((result) => result.reason);
  const other = failed.find((reason) => !(reason instanceof NotGenuine));
  if (other) throw other;
  if (failed.length > 0 && failed.length === results.length) throw failed[0];
  refused = failed.length;
  const whole = results.filter((result) => result.status === "fulfilled").map((result) => result.value);
  return whole.map((file) => ({ ...file, path: portable(file.path), name: portable(file.name) }));
}

/** Opens the link, or shows the field for the code that was sent to the visitor's address. */
async function pass(secret, password, email, code) {
  let key, gate;
  if (share.has_password && share.kdf) ({ key, gate } = await linkKeyWithPassword(secret, password, share.kdf));
  else {
    key = await linkKey(secret);
    gate = share.has_password ? password : undefined;
  }
  opened = await link.open(gate, email || undefined, code || undefined);
  if (opened.code_sent_to) return askForCode(opened.code_sent_to);
  files = await openAll(key, opened.files);
  files.sort((a, b) => a.path.localeCompare(b.path));
  $("gate").hidden = true;
  list();
}

function askForCode(address) {
  $("code-field").hidden = false;
  $("code").focus();
  say(`If this link is for ${address}, a code is on its way there.`);
}

function askAtGate(secret) {
  $("password-field").hidden = !share.has_password;
  $("email-field").hidden = !share.asks_email;
  $("unverified").hidden = share.verifies_email;
  $("gate").hidden = false;
  say(share.has_password ? "This link is protected with a password." : "This link is for certain people.");
  (share.asks_email ? $("email") : $("password")).focus();
  $("gate").addEventListener("submit", async (event) => {
    event.preventDefault();
    const submit = $("gate").querySelector("button");
    submit.disabled = true;
    say("Opening…");
    try {
      await pass(secret, $("password").value, $("email").value, $("code").value);
    } catch (error) {
      // Without a code, the next attempt asks for another one.
      $("code").value = "";
      fail(error);
    } finally {
      submit.disabled = false;
    }
  });
}

async function start() {
  share = await link.look();
  dress(share.theme);
  const secret = parseSecret(location.hash.slice(1));
  if (!secret) return say("This link is incomplete: copy the full link, including the part after the #.", true);
  if (!crypto.subtle) return say("Your browser can decrypt only over https: open the link with https.", true);
  if (share.has_password || share.asks_email) askAtGate(secret);
  else await pass(secret);
}

$("filter").addEventListener("input", () => {
  const wanted = $("filter").value.trim().toLowerCase();
  for (const row of $("files").children) {
    row.hidden = !row.querySelector(".path").textContent.toLowerCase().includes(wanted);
  }
});
window.addEventListener("hashchange", () => location.reload());
start().catch(fail);
