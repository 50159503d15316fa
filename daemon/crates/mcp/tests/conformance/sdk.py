"""The official Python SDK as a client of `cairn mcp`.

    sdk.py PROGRAM URL KEY [SCHEMAS]

Every line on stdout is checked against the models that the SDK has for each revision of the protocol, and
against the published JSON schemas if they are there: results, errors, progress, and what the server asks.
Then the SDK's own client works with the server, in the older way, in the stateless one, and asking a person.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult
from mcp_types.jsonrpc import ErrorData
from mcp_types.methods import parse_server_notification, parse_server_request, validate_server_result
from wire import Wire

PROGRAM, URL, KEY = sys.argv[1:4]
ENVIRONMENT = {
    "SERVICE_API_KEY": KEY,
    "SERVICE_API_URL": URL,
    "CAIRN_MCP_SYNC": "off",
    "PATH": os.environ["PATH"],
    "HOME": os.environ.get("HOME", "/"),
}
CATALOGUE = {
    tool["name"] for tool in json.loads(Path(__file__).parents[5].joinpath("tests/contract/tests/contract/mcp/catalogue.json").read_text())
}
# There is none of the first revision.
SCHEMAS = json.loads(Path(sys.argv[4]).read_text()) if sys.argv[4:] else {}
NOBODY = "00000000-0000-4000-8000-000000000000"
REQUESTS = [
    ("tools/list", {}),
    ("tools/call", {"name": "compute", "arguments": {"operation": "sum", "values": [1, 2]}}),
    ("tools/call", {"name": "compute", "arguments": {"operation": "sum", "values": ["x"]}}),
    ("tools/call", {"name": "list_files", "arguments": {}}),
    ("tools/call", {"name": "get_file_info", "arguments": {"file_uuid": NOBODY}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "service://files"}),
    ("resources/read", {"uri": "service://files/nonsense"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "storage_audit"}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "service://files/{uuid}"},
            "argument": {"name": "uuid", "value": ""},
        },
    ),
]
# What has to be refused by the protocol itself, and how.
REFUSED = [
    ("no/such/method", {}, -32601),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}, -32602),
    ("tools/call", {}, -32602),
    ("tools/list", {"cursor": "made up"}, -32602),
    ("prompts/get", {"name": "no_such_prompt"}, -32602),
]
INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}


class Raw:
    """A session in lines, each of them looked at."""

    def __init__(self, version, capabilities=None):
        self.version = version
        self.capabilities = capabilities or {}
        self.wire = Wire(SCHEMAS[version]) if version in SCHEMAS else None
        self.told = []
        self.asked = {}
        self.id = 0
        self.process = subprocess.Popen(
            [PROGRAM, "mcp"],
            env=ENVIRONMENT | {"SERVICE_PASSPHRASE": "correct horse battery staple"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def line(self):
        """The next answer; notifications before it are checked and kept, questions agreed to."""
        while True:
            line = json.loads(self.process.stdout.readline())
            if self.wire:
                self.wire.check(line, self.asked.get(line.get("id")))
            assert line.pop("jsonrpc") == "2.0", line
            if "method" not in line:
                return line
            if "id" in line:
                assert set(line) == {"id", "method", "params"}, line
                parse_server_request(line["method"], self.version, line["params"])
                agreed = {"action": "accept", "content": {"confirm": True}}
                self.send({"id": line["id"], "result": agreed})
            else:
                assert set(line) == {"method", "params"}, line
                parse_server_notification(line["method"], self.version, line["params"])
            self.told.append(line)

    def answer(self, method, params):
        self.id += 1
        self.asked[self.id] = method
        if self.version >= "2026-07-28":
            meta = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": INITIALIZE["clientInfo"],
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
            params = {**params, "_meta": meta | params.get("_meta", {})}
        self.send({"id": self.id, "method": method, "params": params})
        answer = self.line()
        assert answer.pop("id") == self.id, answer
        return answer

    def ask(self, method, params):
        answer = self.answer(method, params)
        assert set(answer) == {"result"}, f"{method} in {self.version}: {answer}"
        validate_server_result(method, self.version, answer["result"])
        return answer["result"]

    def refused(self, method, params, code):
        answer = self.answer(method, params)
        assert set(answer) == {"error"}, f"{method} in {self.version}: {answer}"
        error = ErrorData.model_validate(answer["error"])
        assert error.code == code and error.message, f"{method} in {self.version}: {answer}"

    def unreadable(self):
        """What can't be read has no id, so the answer has none either."""
        self.process.stdin.write("rubbish\n")
        self.process.stdin.flush()
        answer = self.line()
        assert set(answer) == {"error"}, answer
        assert ErrorData.model_validate(answer["error"]).code == -32700, answer

    def begin(self):
        if self.version >= "2026-07-28":
            return self.ask("server/discover", {})
        hello = {"protocolVersion": self.version, **INITIALIZE, "capabilities": self.capabilities}
        said = self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})
        self.ask("ping", {})
        return said

    def end(self):
        self.process.stdin.close()
        assert self.process.stdout.read() == ""
        assert self.process.wait(timeout=10) == 0


def every_revision(folder):
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]:
        raw = Raw(version)
        raw.begin()
        for method, params in REQUESTS:
            # Templates, completion and the like came with later revisions; all of ours know them.
            raw.ask(method, params)
        for method, params, code in REFUSED:
            raw.refused(method, params, code)
        # Before the stateless protocol, what is not there had a code of its own.
        nothing = -32602 if version >= "2026-07-28" else -32002
        raw.refused("resources/read", {"uri": "service://nothing"}, nothing)
        if version >= "2025-11-25":
            # Before, the schemas wanted an id in every error.
            raw.unreadable()
        large = os.path.join(folder, f"large {version}")
        with open(large, "wb") as file:
            file.write(os.urandom(16 * 1024 * 1024))
        call = {"name": "upload_file", "arguments": {"local_path": large}, "_meta": {"progressToken": "t"}}
        assert not raw.ask("tools/call", call).get("isError"), "it uploads"
        assert {line["method"] for line in raw.told} == {"notifications/progress"}, raw.told
        raw.end()
        print(f"lines of {version}: good")


def asking(version):
    raw = Raw(version, {"elicitation": {}})
    raw.begin()
    # An empty trash is not asked about.
    made = raw.ask("tools/call", {"name": "create_folder", "arguments": {"name": f"trashed in {version}"}})
    trashed = {"file_uuid": json.loads(made["content"][0]["text"])["id"]}
    raw.ask("tools/call", {"name": "delete_file", "arguments": trashed})
    emptied = raw.ask("tools/call", {"name": "empty_trash", "arguments": {}})
    if version >= "2026-07-28":
        assert emptied["resultType"] == "input_required", emptied
    else:
        assert [line["method"] for line in raw.told] == ["elicitation/create"], raw.told
    raw.end()
    print(f"questions in {version}: good")


async def through_the_client(mode):
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=ENVIRONMENT)
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == CATALOGUE, tools
        total = await client.call_tool("compute", {"operation": "sum", "values": [1, 2, 3]})
        assert json.loads(total.content[0].text)["result"] == 6, total
        made = await client.call_tool("create_folder", {"name": f"checked {mode}"})
        assert not made.is_error, made
        wrong = await client.call_tool("get_file_info", {"file_uuid": "x"})
        assert wrong.is_error and "error" in json.loads(wrong.content[0].text), wrong
        trashed = {"file_uuid": json.loads(made.content[0].text)["id"]}
        assert not (await client.call_tool("delete_file", trashed)).is_error
        emptied = await client.call_tool("empty_trash", {})
        assert not emptied.is_error and len(asked) == 1, (emptied, asked)
        assert (await client.list_resources()).resources
        files = await client.read_resource("service://files")
        assert json.loads(files.contents[0].text)["pageSize"] == 50
        assert len((await client.list_prompts()).prompts) == 5
        assert (await client.get_prompt("share_summary")).messages
    print(f"the SDK's client ({mode}): good")


with tempfile.TemporaryDirectory() as directory:
    every_revision(directory)
for revision in ["2025-06-18", "2025-11-25", "2026-07-28"]:
    asking(revision)
for way in ["legacy", "auto", "2026-07-28"]:
    asyncio.run(through_the_client(way))
