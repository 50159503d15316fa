//! Lets Tauri read its configuration, and makes sure that there is a page to embed.
//!
//! `ui/dist` is built by `npm run build` in `ui/`. Checks of the Rust side alone work without it.

fn main() {
    let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/dist");
    if !dist.join("index.html").exists() {
        let page = "<!doctype html><title>Cairn</title><p>Built without its window: run `npm ci && npm run build` in ui/ and build again.</p>";
        std::fs::create_dir_all(&dist).expect("ui/dist can be made");
        std::fs::write(dist.join("index.html"), page).expect("ui/dist can be written");
    }
    tauri_build::build();
}
