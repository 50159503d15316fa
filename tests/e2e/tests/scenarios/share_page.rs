//! Share links from the command line to a real browser, with nothing but the address in between.

use anyhow::{Context, Result, ensure};
use cairn_e2e::chromium::Chromium;
use cairn_e2e::dev::Fault;
use cairn_e2e::device::Options;
use cairn_e2e::server::OWNER_KEY;
use cairn_e2e::{Device, Server, Storage};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

const OPEN: &str = "!document.getElementById('content').hidden";

/// An owner with a command line, and a stranger with a browser.
struct World {
    browser: Chromium,
    owner: Device,
    server: Server,
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let server = Server::start(Storage::Memory, dir.path().join("server.log"))?;
        let owner = Device::new(dir.path(), "owner", Options::default())?;
        owner.login(&server.url(), OWNER_KEY)?;
        Ok(Self {
            browser: Chromium::start(dir.path())?,
            owner,
            server,
            dir,
        })
    }

    fn upload(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.file(name, content)?;
        self.owner.must(&["upload", &path])?;
        Ok(())
    }

    fn file(&self, name: &str, content: &[u8]) -> Result<String> {
        let path: PathBuf = self.dir.path().join("local").join(name);
        fs::create_dir_all(path.parent().context("a file without a folder")?)?;
        fs::write(&path, content)?;
        Ok(path.display().to_string())
    }

    /// Makes a link and gives its whole address.
    fn share(&self, args: &[&str]) -> Result<String> {
        let args: Vec<&str> = ["share", "create"].iter().chain(args).copied().collect();
        let link = self.owner.must(&args)?.json()?;
        let address = link["address"]
            .as_str()
            .context("a link without an address")?;
        ensure!(
            address.starts_with(&format!("{}/s/", self.server.url())),
            "{address}"
        );
        Ok(address.to_owned())
    }

    fn says(&mut self) -> Result<String> {
        let text = self.browser.evaluate("document.body.innerText")?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }
}

fn bytes(length: usize) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"share page");
    let mut out = vec![0; length];
    hasher.finalize_xof().fill(&mut out);
    out
}

#[test]
fn a_file_is_opened_and_downloaded_with_its_address_alone() -> Result<()> {
    let mut world = World::new()?;
    let content = bytes(6 * 1024 * 1024 + 77);
    world.upload("big.bin", &content)?;
    let address = world.share(&["/big.bin"])?;
    let secret = address
        .split('#')
        .nth(1)
        .context("an address without a secret")?
        .to_owned();
    world.browser.open(&address)?;
    world.browser.until(OPEN)?;
    let text = world.says()?;
    ensure!(text.matches("6.0 MiB").count() == 1, "{text}");
    ensure!(text.matches("big.bin").count() == 1, "{text}");
    world
        .browser
        .evaluate("document.querySelector('#files button').click()")?;
    let (name, got) = world.browser.wait_for_download()?;
    ensure!(
        name == "big.bin" && got == content,
        "{name}: {} bytes",
        got.len()
    );
    ensure!(
        world.browser.complaints().is_empty(),
        "{:?}",
        world.browser.complaints()
    );

    // No bit of the secret is on the wire, neither from the browser nor from the command line.
    ensure!(!world.browser.sent_text().contains(&secret));
    let requests = world.server.dev().requests()?;
    ensure!(!format!("{requests:?}").contains(&secret));
    let listed = world.owner.must(&["share", "list"])?.json()?;
    ensure!(listed["links"][0]["address"] == json!(address));
    ensure!(listed["links"][0]["download_count"] == 1);

    // Without it, or with another one, nothing opens.
    let bare = address.split('#').next().unwrap_or_default().to_owned();
    world.browser.open(&bare)?;
    world
        .browser
        .until("document.body.innerText.includes('incomplete')")?;
    world.browser.open(&format!("{bare}#{}", "ab".repeat(32)))?;
    world
        .browser
        .until("document.body.innerText.includes('does not belong to this link')")?;
    Ok(())
}

#[test]
fn a_password_is_asked_for_and_a_wrong_one_opens_nothing() -> Result<()> {
    let mut world = World::new()?;
    world.upload("note.txt", b"behind a password")?;
    let password = world.file("password", "pässword 1\n".as_bytes())?;
    let address = world.share(&["/note.txt", "--password-file", &password, "--limit", "2"])?;
    world.browser.open(&address)?;
    world
        .browser
        .until("!document.getElementById('gate').hidden")?;
    let enter = |password: &str| {
        format!(
            "document.getElementById('password').value = {password:?}; document.querySelector('#gate button').click()"
        )
    };
    world.browser.evaluate(&enter("wrong"))?;
    world
        .browser
        .until("document.body.innerText.includes('password is wrong')")?;
    // Typed on a keyboard that composes its letters another way.
    world.browser.evaluate(&enter("pa\u{308}ssword 1"))?;
    world.browser.until(OPEN)?;
    world
        .browser
        .evaluate("document.querySelector('#files button').click()")?;
    ensure!(world.browser.wait_for_download()?.1 == b"behind a password");
    ensure!(
        !world.browser.sent_text().contains("ssword 1"),
        "a password never travels"
    );

    let new = world.file("password2", b"other\n")?;
    let code = address.split('#').next().unwrap_or_default().to_owned();
    world
        .owner
        .must(&["share", "password", &code, "--password-file", &new])?;
    world.browser.open(&address)?;
    world
        .browser
        .until("!document.getElementById('gate').hidden")?;
    world.browser.evaluate(&enter("other"))?;
    world.browser.until(OPEN)?;
    world
        .browser
        .evaluate("document.querySelector('#files button').click()")?;
    ensure!(world.browser.wait_for_download()?.1 == b"behind a password");
    world.browser.open(&address)?;
    world
        .browser
        .until("document.body.innerText.includes('download limit is reached')")?;
    Ok(())
}

#[test]
fn a_folder_comes_as_one_archive_and_grows_when_it_is_refreshed() -> Result<()> {
    let mut world = World::new()?;
    let big = bytes(1_500_000);
    let mut wanted = BTreeMap::new();
    for (path, content) in [
        ("trip/notes.txt", &b"day one"[..]),
        ("trip/empty", &[]),
        ("trip/photos/été 1.jpg", &big),
        ("trip/photos/deep/er.txt", b"x"),
    ] {
        world.file(path, content)?;
        wanted.insert(path["trip/".len()..].to_owned(), content.to_vec());
    }
    // Some systems take a backslash for a folder: the archive has a character that looks like it.
    world.file("trip/odd\\name", b"one file")?;
    wanted.insert("odd\u{ff3c}name".to_owned(), b"one file".to_vec());
    let local = world.dir.path().join("local/trip").display().to_string();
    world.owner.must(&["upload", &local, "--recursive"])?;
    let address = world.share(&["/trip"])?;
    let download = |world: &mut World| -> Result<BTreeMap<String, Vec<u8>>> {
        world.browser.open(&address)?;
        world.browser.until(OPEN)?;
        world
            .browser
            .evaluate("document.getElementById('download-all').click()")?;
        let (name, archive) = world.browser.wait_for_download()?;
        ensure!(name == "trip.zip");
        unzip(&archive)
    };
    ensure!(download(&mut world)? == wanted);
    let late = world.file("late.txt", b"came later")?;
    world.owner.must(&["upload", &late, "--to", "/trip"])?;
    ensure!(
        download(&mut world)? == wanted,
        "a link carries what it carried"
    );
    world.owner.must(&["share", "refresh", &address])?;
    wanted.insert("late.txt".to_owned(), b"came later".to_vec());
    ensure!(download(&mut world)? == wanted);
    Ok(())
}

#[test]
fn a_view_only_link_shows_text_images_and_pdf_and_offers_no_download() -> Result<()> {
    let mut world = World::new()?;
    // One red pixel.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
    let pdf = b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>";
    for (name, content) in [
        ("a.txt", &b"<b>plain</b> text"[..]),
        ("a.png", png),
        ("a.pdf", pdf),
    ] {
        world.upload(name, content)?;
    }
    for (name, shown) in [
        (
            "/a.txt",
            "document.querySelector('#preview pre')?.textContent === '<b>plain</b> text'",
        ),
        (
            "/a.png",
            "document.querySelector('#preview img')?.naturalWidth === 1",
        ),
        (
            "/a.pdf",
            "document.querySelector('#preview iframe')?.src.startsWith('blob:')",
        ),
    ] {
        let address = world.share(&[name, "--view-only"])?;
        world.browser.open(&address)?;
        world.browser.until(shown)?;
        let buttons = world.browser.evaluate("[...document.querySelectorAll('#content button')].filter((b) => !b.hidden).map((b) => b.textContent).join()")?;
        ensure!(buttons == "View", "{name}: {buttons}");
        ensure!(
            world.browser.complaints().is_empty(),
            "{name}: {:?}",
            world.browser.complaints()
        );
    }
    Ok(())
}

#[test]
fn what_a_server_alters_is_refused_and_not_saved() -> Result<()> {
    let mut world = World::new()?;
    world.upload("note.txt", b"as it was")?;
    let address = world.share(&["/note.txt"])?;
    world.browser.open(&address)?;
    world.browser.until(OPEN)?;
    let dev = world.server.dev();
    dev.fault(&Fault::on("/api/v1/public/shares/*/chunks/*").corrupt())?;
    world
        .browser
        .evaluate("document.querySelectorAll('#files button')[1].click()")?;
    world
        .browser
        .until("document.body.innerText.includes('does not belong to this link')")?;
    dev.clear_faults()?;
    world
        .browser
        .evaluate("document.querySelectorAll('#files button')[1].click()")?;
    ensure!(world.browser.wait_for_download()?.1 == b"as it was");
    Ok(())
}

#[test]
fn the_page_opens_the_same_vectors_as_the_client() -> Result<()> {
    let mut world = World::new()?;
    world.upload("note.txt", b"x")?;
    let address = world.share(&["/note.txt"])?;
    world.browser.open(&address)?;
    world.browser.until(OPEN)?;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors/crypto/listing.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let cases = vectors["cases"].as_array().context("no cases")?;
    ensure!(cases.len() >= 20);
    for case in cases {
        let mut input = vectors["base"].clone();
        for (field, value) in case["set"].as_object().into_iter().flatten() {
            input[field] = value.clone();
        }
        let script = format!(
            "(async () => {{ const L = await import('/s/assets/link.js'); const i = {input}; try {{ \
             const s = L.parseSecret(i.fragment); \
             const kdf = {{iterations: i.kdf_iterations, salt: btoa(String.fromCharCode(...L.fromHex(i.kdf_salt)))}}; \
             const key = i.password ? (await L.linkKeyWithPassword(s, i.password, kdf)).key : await L.linkKey(s); \
             const f = await L.openFile(key, i.share, i.node, L.fromHex(i.listing)); \
             const plain = await L.openChunk(f.chunks[0], L.fromHex(i.sealed_chunk)); \
             return {{path: f.path, size: f.size, chunks: f.chunks.length, plain: L.toHex(plain)}}; \
             }} catch (e) {{ if (!(e instanceof L.NotGenuine)) throw e; return null; }} }})()"
        );
        let got = world.browser.evaluate(&script)?;
        let expected = if case["expect"] == "ok" {
            &case["output"]
        } else {
            &Value::Null
        };
        ensure!(
            got == *expected,
            "{}: {got}, expected {expected}",
            case["name"]
        );
    }
    Ok(())
}

#[test]
fn the_page_hashes_as_everybody_does() -> Result<()> {
    let mut world = World::new()?;
    world.upload("note.txt", b"x")?;
    let address = world.share(&["/note.txt"])?;
    world.browser.open(&address)?;
    world.browser.until(OPEN)?;
    // The lengths of the published vectors: around blocks, chunks and subtrees; then a large chunk.
    let mut lengths = vec![0, 1, 8, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025];
    lengths.extend((2..=8).flat_map(|chunks| [chunks * 1024, chunks * 1024 + 1]));
    lengths.extend([16_384, 31_744, 102_400, 4 * 1024 * 1024 + 44]);
    let key = [7_u8; 32];
    for length in lengths {
        let got = world.browser.evaluate(&format!(
            "(async () => {{ const B = await import('/s/assets/blake3.js'), L = await import('/s/assets/link.js'); \
             const input = Uint8Array.from({{length: {length}}}, (_, i) => i % 251); \
             return [L.toHex(B.hash(input)), L.toHex(B.keyedHash(new Uint8Array(32).fill(7), input))]; }})()"
        ))?;
        let input: Vec<u8> = (0..=250).cycle().take(length).collect();
        let expected = json!([
            blake3::hash(&input).to_hex().as_str(),
            blake3::keyed_hash(&key, &input).to_hex().as_str()
        ]);
        ensure!(got == expected, "{length} bytes: {got}, not {expected}");
    }
    Ok(())
}

/// The stored files of an archive, read by its directory at the end and checked as it says.
fn unzip(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>> {
    let two = |at: usize| u16::from_le_bytes([archive[at], archive[at + 1]]) as usize;
    let four = |at: usize| two(at) | (two(at + 2) << 16);
    let end = archive.len() - 22;
    ensure!(four(end) == 0x0605_4b50, "no end of an archive");
    let mut files = BTreeMap::new();
    let mut at = four(end + 16);
    for _ in 0..two(end + 10) {
        ensure!(
            four(at) == 0x0201_4b50 && two(at + 10) == 0,
            "no stored file at {at}"
        );
        let (size, name, local) = (four(at + 24), two(at + 28), four(at + 42));
        ensure!(four(local) == 0x0403_4b50, "no file at {local}");
        let from = local + 30 + two(local + 26) + two(local + 28);
        let path = String::from_utf8(archive[at + 46..at + 46 + name].to_vec())?;
        let content = &archive[from..from + size];
        ensure!(
            crc32fast::hash(content) as usize == four(at + 16),
            "the checksum of {path} is wrong"
        );
        files.insert(path, content.to_vec());
        at += 46 + name + two(at + 30);
    }
    ensure!(at == end, "something follows the directory");
    Ok(files)
}
