// Where a download goes: straight into a file that the visitor picks, where the browser can and it
// is worth asking; otherwise through memory that the browser keeps on its disk.

// From here on, in bytes, it is worth asking for a file.
const LARGE = 512 * 1024 * 1024;

/** A sink for a download: `write` its bytes in order, then `close`, or `abort`. */
export async function sink(name, size) {
  if (size >= LARGE && window.showSaveFilePicker) {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    const file = await handle.createWritable();
    return { write: (bytes) => file.write(bytes), close: () => file.close(), abort: () => file.abort() };
  }
  let parts = [];
  return {
    // A Blob of its own: large ones leave the page's memory.
    write: async (bytes) => void parts.push(new Blob([bytes])),
    close: async () => offer(name, new Blob(parts, { type: "application/octet-stream" })),
    abort: async () => void (parts = []),
  };
}

function offer(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken the address over by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
