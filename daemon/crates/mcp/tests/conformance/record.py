"""A whole session with `cairn mcp`, done by the official Python SDK and written down as Markdown.

    record.py PROGRAM URL KEY [--check FILE]

The session organises a folder, shares a file, audits the links, and undoes it all; every step is checked.
Ids, times and secrets are replaced by what they stand for, so that two recordings are equal: with --check
the recording is compared with a file and nothing is printed. The service has to be fresh.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

PROGRAM, URL, KEY = sys.argv[1:4]
FILES = {
    "IMG_0001.jpg": "not really a picture",
    "IMG_0002.jpg": "not really one either",
    "budget final (2).txt": "rent 900\nfood 400\n",
    "notes.txt": "call the plumber\n",
}
INTRODUCTION = """# A recorded session

An assistant works with a new account through `cairn mcp`: it organises a folder, shares a file with a
password and an expiry, audits the links, and undoes all of it. A script did this with the official Python
SDK and wrote it down; `daemon/crates/mcp/tests/conformance/record.py` is the script, and the third-party checks repeat it and
compare. Ids, times and secrets are replaced by what they stand for; fields that are empty are left out.
"""


class Recorder:
    def __init__(self, client, folder):
        self.client = client
        self.folder = str(folder)
        self.lines = [INTRODUCTION]
        self.names = {}

    def chapter(self, title, words):
        self.lines.append(f"\n## {title}\n\n{words}\n")

    def call_it(self, secret, name):
        """From now on this id or secret is written as a name."""
        self.names[secret] = f"<{name}>"

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        value = json.loads(result.content[0].text)
        assert not result.is_error, f"{tool}: {value}"
        for item in [value, *value.get("content", []), *value.get("folders", [])]:
            if isinstance(item, dict) and "id" in item and "name" in item:
                self.names.setdefault(item["id"], f"<id of {item['name']}>")
        self.step(f"{tool} {json.dumps(arguments, ensure_ascii=False)}", value)
        return value

    def step(self, asked, value):
        shown = json.dumps(tidy(value), indent=2, ensure_ascii=False)
        self.lines.append(f"\n```\n> {asked}\n{shown}\n```\n")

    def text(self):
        text = "".join(self.lines).replace(self.folder, "/home/me")
        for secret, name in self.names.items():
            text = text.replace(secret, name)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", text)
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>", text)
        return text.replace(URL, "https://storage.example")


def tidy(value):
    """Without what says nothing here."""
    left_out = {"device_id", "space_id", "seq", "version", "name_format", "pageSize", "totalPages", "page"}
    if isinstance(value, dict):
        kept = {name: tidy(field) for name, field in value.items() if name not in left_out}
        return {name: field for name, field in kept.items() if field not in (None, "", {}, [])}
    return [tidy(item) for item in value] if isinstance(value, list) else value


async def listed(recorder, folder):
    page = await recorder.call("list_files", folder_uuid=folder, sort_by="name")
    return {item["name"]: item["id"] for item in page["content"]}


async def session(recorder, asked):
    call = recorder.call
    recorder.chapter("Organise a folder", "The folder goes up as it is; then its files get their places.")
    up = await call("upload_folder", local_path=f"{recorder.folder}/stuff")
    assert (up["files_uploaded"], up["failed"]) == (len(FILES), 0), up
    top = up["folder_uuid"]
    recorder.call_it(top, "id of stuff")
    before = await listed(recorder, top)
    assert sorted(before) == sorted(FILES), before
    photos = (await call("create_nested_folders", path="photos/2026", parent_uuid=top))["leaf_folder_uuid"]
    money = (await call("create_folder", name="money", parent_uuid=top))["id"]
    for picture in ["IMG_0001.jpg", "IMG_0002.jpg"]:
        await call("move_file", file_uuid=before[picture], target_folder_uuid=photos)
    budget = before["budget final (2).txt"]
    await call("move_file", file_uuid=budget, target_folder_uuid=money)
    await call("rename_file", file_uuid=budget, new_name="budget.txt")
    assert sorted(await listed(recorder, top)) == ["money", "notes.txt", "photos"]
    read = await call("read_file_content", file_uuid=budget)
    assert read["content"] == FILES["budget final (2).txt"], read

    recorder.chapter("Share a file", "With a password and for a week. The address holds the secret that opens it.")
    link = await call("create_share_link", file_uuid=budget, password="open sesame", expiry_days=7)
    assert link["has_password"] and link["expires_at"] and "#" in link["url"], link
    recorder.call_it(link["url"].partition("#")[2], "secret of the link")
    recorder.call_it(link["short_code"], "short code")
    assert len(asked) == 1, asked
    recorder.lines.append(f"\nA link takes content out, so the person was asked, and agreed:\n\n> {asked[0]}\n")

    recorder.chapter("Audit the links", "Which there are, whether they work, and who was there.")
    links = await call("list_share_links")
    assert links["totalElements"] == 1 and links["content"][0]["has_password"], links
    health = await call("check_share_link_health", short_code=link["short_code"])
    assert health["status"] == "healthy", health
    audit = await call("get_share_audit_log", short_code=link["short_code"])
    assert audit["summary"]["total_accesses"] == 0, audit

    recorder.chapter("Undo it all", "A link that is deleted stays so: a person is asked first.")
    await call("delete_share_link", short_code=link["short_code"])
    assert len(asked) == 2, asked
    recorder.lines.append(f"\nThe person was asked, and agreed:\n\n> {asked[1]}\n")
    await call("rename_file", file_uuid=budget, new_name="budget final (2).txt")
    for name, node in before.items():
        if name != "notes.txt":
            await call("move_file", file_uuid=node, target_folder_uuid=top)
    made = await listed(recorder, top)
    for name in ["photos", "money"]:
        await call("delete_file", file_uuid=made[name])
    assert await listed(recorder, top) == before, "everything is where it was"
    assert (await call("list_share_links"))["totalElements"] == 0


async def main():
    asked = []

    async def agree(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    with tempfile.TemporaryDirectory() as folder:
        stuff = Path(folder, "stuff")
        stuff.mkdir()
        for name, content in FILES.items():
            stuff.joinpath(name).write_text(content)
        environment = {
            "SERVICE_API_KEY": KEY,
            "SERVICE_API_URL": URL,
            "SERVICE_PASSPHRASE": "correct horse battery staple",
            "CAIRN_MCP_SYNC": "off",
            "PATH": os.environ["PATH"],
            "HOME": folder,
        }
        server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=environment)
        async with Client(server, elicitation_callback=agree) as client:
            recorder = Recorder(client, folder)
            await session(recorder, asked)
    return recorder.text()


text = asyncio.run(main())
if sys.argv[4:5] == ["--check"]:
    written = Path(sys.argv[5]).read_text()
    assert text == written, f"{sys.argv[5]} is not what happens now: record it again"
    print("the recorded session: good")
else:
    print(text, end="")
