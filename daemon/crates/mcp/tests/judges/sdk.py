"""The official Python SDK as a judge of `cairn mcp`.

    sdk.py PROGRAM URL KEY

Every result is checked against the models that the SDK has for each revision of the protocol; then the
SDK's own client works with the server, in the older way, in the stateless one, and asking a person.
"""

import asyncio
import json
import os
import subprocess
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult
from mcp_types.methods import validate_server_result

PROGRAM, URL, KEY = sys.argv[1:4]
ENVIRONMENT = {
    "SERVICE_API_KEY": KEY,
    "SERVICE_API_URL": URL,
    "CAIRN_MCP_SYNC": "off",
    "PATH": os.environ["PATH"],
    "HOME": os.environ.get("HOME", "/"),
}
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
INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "judge", "version": "1"}}


class Raw:
    """A session in lines, each of them looked at."""

    def __init__(self, version):
        self.version = version
        self.id = 0
        self.process = subprocess.Popen(
            [PROGRAM, "mcp"], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        if self.version >= "2026-07-28":
            meta = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": INITIALIZE["clientInfo"],
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": meta}
        self.send({"id": self.id, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.id and answer["jsonrpc"] == "2.0", answer
        assert "result" in answer, f"{method} in {self.version}: {answer}"
        validate_server_result(method, self.version, answer["result"])
        return answer["result"]

    def end(self):
        self.process.stdin.close()
        assert self.process.stdout.read() == ""
        assert self.process.wait(timeout=10) == 0


def every_revision():
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]:
        raw = Raw(version)
        if version >= "2026-07-28":
            raw.ask("server/discover", {})
        else:
            raw.ask("initialize", {"protocolVersion": version, **INITIALIZE})
            raw.send({"method": "notifications/initialized"})
            raw.ask("ping", {})
        for method, params in REQUESTS:
            # Templates, completion and the like came with later revisions; all of ours know them.
            raw.ask(method, params)
        raw.end()
        print(f"lines of {version}: good")


async def through_the_client(mode):
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=ENVIRONMENT)
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 104, len(tools)
        total = await client.call_tool("compute", {"operation": "sum", "values": [1, 2, 3]})
        assert json.loads(total.content[0].text)["result"] == 6, total
        made = await client.call_tool("create_folder", {"name": f"judged {mode}"})
        assert not made.is_error, made
        wrong = await client.call_tool("get_file_info", {"file_uuid": "x"})
        assert wrong.is_error and "error" in json.loads(wrong.content[0].text), wrong
        emptied = await client.call_tool("empty_trash", {})
        assert not emptied.is_error and len(asked) == 1, (emptied, asked)
        assert (await client.list_resources()).resources
        files = await client.read_resource("service://files")
        assert json.loads(files.contents[0].text)["pageSize"] == 50
        assert len((await client.list_prompts()).prompts) == 5
        assert (await client.get_prompt("share_summary")).messages
    print(f"the SDK's client ({mode}): good")


every_revision()
for way in ["legacy", "auto", "2026-07-28"]:
    asyncio.run(through_the_client(way))
