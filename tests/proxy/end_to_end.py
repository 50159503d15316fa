"""The server behind nginx and behind Caddy, with the configurations that the project hands out.

Two devices sync through each proxy over HTTPS, with a file that is larger than a proxy's default limit;
the stream of changes is not held back; what the server says of its own address is the proxy's. Fails at
the first thing that is not as it has to be. Only the standard library, openssl, nginx and Caddy.

Usage: end_to_end.py CAIRN CAIRN_SERVER NGINX CADDY EXAMPLES
"""

import json
import os
import pathlib
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

NAME = "cairn.example.com"

cairn, server_program, nginx_program, caddy_program = sys.argv[1:5]
examples = pathlib.Path(sys.argv[5])
place = tempfile.TemporaryDirectory(prefix="cairn-proxy-")
root = pathlib.Path(place.name)
# The passphrase that a person would type.
passphrase = root / "passphrase"
passphrase.write_text("correct horse battery staple")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def make_certificate():
    """A certificate for this machine, which clients are told to trust."""
    certificate, key = root / "cert.pem", root / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        + ["-addext", "basicConstraints=critical,CA:FALSE"]
        + ["-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    return certificate, key


certificate, key = make_certificate()
environment = {**os.environ, "SSL_CERT_FILE": str(certificate), "CAIRN_LOG": "error"}
trust = ssl.create_default_context(cafile=certificate)


def wait_for(what, check, seconds=60):
    """Polls, because no proxy tells when it is ready."""
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """The server as an administrator runs it: not for development, with the address of the proxy."""

    def __init__(self, name, public_url):
        self.place = root / f"server-{name}"
        self.place.mkdir()
        config = self.place / "config.toml"
        config.write_text(f'public_url = "{public_url}"\nbehind_proxy = true\n')
        self.words = ["--data", self.place / "data", "--config", config]
        self.process = subprocess.Popen(
            [server_program, "serve", "--listen", "127.0.0.1:0", *self.words],
            stdout=subprocess.PIPE,
            stderr=(self.place / "log").open("w"),
            text=True,
        )
        self.address = self.process.stdout.readline().split()[-1].removeprefix("http://")

    def admin(self, *words, given=None):
        done = subprocess.run(
            [server_program, *words, *self.words], input=given, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout.strip()


def nginx(port, upstream):
    """The example with another port, certificate and server; as a process of its own."""
    text = (examples / "nginx.conf").read_text()
    for old, new in [
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:8787", upstream),
        (NAME + ";", "localhost;"),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(certificate)),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(key)),
        ("proxy_set_header Host $host;", "proxy_set_header Host $http_host;"),
    ]:
        assert old in text, f"the example has no {old}"
        text = text.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {root}/nginx-{kind};\n"
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    )
    config = root / "nginx.conf"
    config.write_text(
        f"pid {root}/nginx.pid;\nerror_log {root}/nginx.log;\ndaemon off;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )
    return [nginx_program, "-c", str(config), "-e", f"{root}/nginx.log"]


def caddy(port, upstream):
    text = (examples / "Caddyfile").read_text()
    for old, new in [
        (f"{NAME} {{", f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {certificate} {key}"),
        ("127.0.0.1:8787", upstream),
    ]:
        assert old in text, f"the example has no {old}"
        text = text.replace(old, new)
    config = root / "Caddyfile"
    config.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text)
    return [caddy_program, "run", "--config", str(config), "--adapter", "caddyfile"]


class Device:
    """A home of the command line with one synced folder."""

    def __init__(self, name, url, api_key):
        self.home = root / name
        self.folder = root / f"{name}-folder"
        self.folder.mkdir()
        words = ["--server", url, "--api-key", api_key, "--passphrase-file", passphrase]
        self.run("login", *words, "--device-name", name, "--secrets", "file")
        self.run("add", self.folder, "--remote", "/Shared")
        self.run("start")

    def run(self, *words):
        done = subprocess.run(
            [cairn, "--home", self.home, "--json", *words], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, f"cairn {words}: {done.stdout}{done.stderr}"
        return done.stdout


def ask(url, path, api_key, body=None):
    request = urllib.request.Request(url + path, method="GET" if body is None else "POST")
    request.add_header("Authorization", f"Bearer {api_key}")
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    return urllib.request.urlopen(request, data, timeout=20, context=trust)


def check_stream(url, api_key):
    """An event has to arrive while the stream is open, not when a buffer is full."""
    stream = ask(url, "/api/v1/changes/stream", api_key)
    ask(url, "/api/v1/nodes/", api_key, {"kind": "folder", "name": f"made {secrets.token_hex(4)}"}).close()
    while True:
        line = stream.readline()
        assert line, "the stream ended without an event"
        if line.startswith(b"data:"):
            break
    stream.close()


def check_addresses(url):
    found = json.load(urllib.request.urlopen(url + "/.well-known/openid-configuration", context=trust))
    assert found["issuer"].rstrip("/") == url, found["issuer"]


def check(name, proxy):
    port = free_port()
    url = f"https://localhost:{port}"
    server = Server(name, url)
    running = [server.process]
    homes = []
    try:
        words = proxy(port, server.address)
        log = (root / f"{name}.out").open("w")
        running.append(subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, "HOME": str(root)}))
        wait_for(f"{name} listens", lambda: listens(port) or running[-1].poll() is not None)
        assert running[-1].poll() is None, (root / f"{name}.out").read_text()
        server.admin("user", "add", "ada@example.com", "--password-stdin", given="a long password\n")
        api_key = server.admin("apikey", "ada@example.com")
        check_addresses(url)
        check_stream(url, api_key)
        first = Device(f"{name}-first", url, api_key)
        homes.append(first)
        second = Device(f"{name}-second", url, api_key)
        homes.append(second)
        content = secrets.token_bytes(20_000_000)
        (first.folder / "large.bin").write_bytes(content)
        (first.folder / "note.txt").write_text("through a proxy")
        for path, wanted in [("note.txt", b"through a proxy"), ("large.bin", content)]:
            file = second.folder / path
            wait_for(f"{path} through {name}", lambda: file.is_file() and file.read_bytes() == wanted)
        print(f"{name}: addresses, stream, and 20 MB from one device to another")
    finally:
        for device in homes:
            subprocess.run([cairn, "--home", device.home, "stop"], capture_output=True, env=environment)
        for process in reversed(running):
            process.terminate()
            process.wait()


check("nginx", nginx)
check("caddy", caddy)
