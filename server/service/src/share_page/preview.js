// Looking at a file without keeping it: text, images, PDF.

// Bytes; a preview is held in memory.
const MAX_TEXT = 2 * 1024 * 1024, MAX_BINARY = 64 * 1024 * 1024;

const IMAGES = {
  png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp",
  avif: "image/avif", bmp: "image/bmp", svg: "image/svg+xml",
};
const TEXTS = new Set((
  "txt md markdown csv tsv log json jsonl xml yaml yml toml ini conf html htm css js mjs ts tsx jsx rs py go c h cpp " +
  "hpp java kt swift rb php sh bash zsh sql tex srt vtt diff patch"
).split(" "));

/** The way in which a file can be shown: `text`, `image`, `pdf`, or null. */
export function kindOf(file) {
  const extension = file.name.includes(".") ? file.name.split(".").at(-1).toLowerCase() : "";
  if (TEXTS.has(extension) && file.size <= MAX_TEXT) return "text";
  if (file.size > MAX_BINARY) return null;
  if (extension in IMAGES) return "image";
  return extension === "pdf" ? "pdf" : null;
}

let shown = null;

/** Shows a file's bytes in a place, instead of what was there. */
export function show(place, file, parts) {
  if (shown) URL.revokeObjectURL(shown);
  shown = null;
  const kind = kindOf(file);
  const address = (type) => (shown = URL.createObjectURL(new Blob(parts, { type })));
  let element;
  if (kind === "text") {
    element = document.createElement("pre");
    const decoder = new TextDecoder();
    element.textContent = parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  } else if (kind === "image") {
    // An image never runs scripts, an SVG in it neither.
    element = document.createElement("img");
    element.alt = file.name;
    element.src = address(IMAGES[file.name.split(".").at(-1).toLowerCase()]);
  } else {
    element = document.createElement("iframe");
    element.title = file.name;
    // Without the toolbar, whose buttons offer what a view-only link does not.
    element.src = `${address("application/pdf")}#toolbar=0`;
  }
  place.replaceChildren(element);
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
}
