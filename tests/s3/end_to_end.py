"""Sealed chunks in an S3-compatible store: the server against a double of S3 that others wrote (moto).

Uploads with the command line, kills the server, downloads from a new one, takes the store away, deletes
everything. Fails at the first thing that is not as it has to be.

Usage: end_to_end.py CAIRN CAIRN_SERVER
"""

import json
import logging
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "cairn-test"
PREFIX = "some/where/"
KEY = "ck_dev_owner"
MARK = b"this stands in every file, and in no object"

cairn, server_program = sys.argv[1:3]
place = tempfile.TemporaryDirectory(prefix="cairn-s3-")
root = pathlib.Path(place.name)
environment = {
    **os.environ,
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "CAIRN_LOG": "error",
}


class Store:
    """The double. What it holds lives as long as this process."""

    def __init__(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        self.client = boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.client.create_bucket(Bucket=BUCKET)

    def objects(self):
        """Name and bytes of everything in the bucket."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        names = [found["Key"] for page in pages for found in page.get("Contents", [])]
        return {name: self.client.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names}


class Server:
    """The service, with its metadata in a folder and its objects in the store."""

    def __init__(self, bucket=BUCKET):
        config = root / "server.toml"
        config.write_text(
            f'[objects]\nurl = "s3://{bucket}/{PREFIX}"\nendpoint = "{store.url}"\n'
            'region = "us-east-1"\nallow_http = true\n'
        )
        words = ["serve", "--dev", "--listen", "127.0.0.1:0", "--data", root / "data", "--config", config]
        self.process = subprocess.Popen(
            [server_program, *words],
            stdout=subprocess.PIPE,
            # That a bucket is missing is an error to the server, and what is wanted here.
            stderr=(root / "server.log").open("a"),
            text=True,
            env=environment,
        )
        self.url = self.process.stdout.readline().split()[-1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"Bearer {KEY}")
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data) as answer:
            text = answer.read()
        return json.loads(text) if text else None


class Device:
    """A home of the command line."""

    def __init__(self, name, url):
        self.home = root / name
        passphrase = root / "passphrase"
        passphrase.write_text("correct horse battery staple")
        words = ["--server", url, "--api-key", KEY, "--passphrase-file", passphrase]
        self.run("login", *words, "--device-name", name, "--secrets", "file")

    def attempt(self, *words):
        return subprocess.run(
            [cairn, "--home", self.home, "--json", *words], capture_output=True, text=True, env=environment
        )

    def run(self, *words):
        done = self.attempt(*words)
        assert done.returncode == 0, f"cairn {words}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout) if done.stdout else None


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def make(folder):
    """Small files that share an object, one of many chunks, and an empty one."""
    (folder / "deep/er").mkdir(parents=True)
    for number in range(300):
        (folder / f"deep/{number}.txt").write_bytes(MARK + b" %d" % number)
    (folder / "deep/er/large.bin").write_bytes(MARK + secrets.token_bytes(20_000_000))
    (folder / "empty").write_bytes(b"")


store = Store()
try:
    files = root / "files"
    make(files)

    server = Server()
    first = Device("first", server.url)
    first.run("upload", files, "--recursive")
    objects = store.objects()
    assert len(objects) > 10, f"only {len(objects)} objects"
    assert all(name.startswith(PREFIX) for name in objects), list(objects)[:3]
    assert not any(MARK in content for content in objects.values()), "plaintext in the store"
    print(f"uploaded: {len(objects)} objects, {sum(map(len, objects.values()))} bytes, no plaintext")

    server.kill()
    server = Server()
    second = Device("second", server.url)
    second.run("download-folder", "/files", "--out", root / "again")
    found = tree(root / "again" / "files") or tree(root / "again")
    assert found == tree(files), "what came back differs"
    print("downloaded by another device from a server that was killed and started anew: equal")

    server.kill()
    server = Server(bucket="not-there")
    second = Device("third", server.url)
    refused = second.attempt("upload", files / "deep/1.txt", "--name", "refused.txt")
    assert refused.returncode != 0, "an upload without a store succeeded"
    listed = second.run("list", "/")
    assert "refused.txt" not in json.dumps(listed), "a file without its bytes"
    print(f"without its bucket: refused with {refused.returncode}, nothing half there")

    server.kill()
    server = Server()
    first = Device("fourth", server.url)
    first.run("upload", files / "deep/1.txt", "--name", "refused.txt")
    for node in server.ask("GET", "/api/v1/nodes/?page_size=100")["content"]:
        server.ask("DELETE", f"/api/v1/nodes/{node['id']}")
    server.ask("DELETE", "/api/v1/trash")
    # What nothing knows any more is swept once it is old enough to be no upload on its way.
    server.ask("POST", "/_dev/clock/advance", {"ms": 8 * 24 * 3600 * 1000})
    left = store.objects()
    assert not left, f"{len(left)} objects are left: {list(left)[:3]}"
    print("deleted for good: the bucket is empty")
    server.kill()
finally:
    store.server.stop()
    if "server" in globals():
        server.kill()
    place.cleanup()
