"""Mail: the server against a mail server that others wrote (aiosmtpd).

Invites somebody who then logs in with the command line, replaces a forgotten password, opens a link for one address,
and meets a mail server that is busy, one that refuses, and one that is away. Fails at the first thing that is not as
it has to be.

Usage: end_to_end.py CAIRN_SERVER
"""

import email
import email.policy
import html
import json
import pathlib
import queue
import re
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

from aiosmtpd.controller import Controller

KEY = "ck_dev_owner"
WAIT_S = 30

(server_program,) = sys.argv[1:]
place = tempfile.TemporaryDirectory(prefix="cairn-mail-")
root = pathlib.Path(place.name)


class Mailbox:
    """Takes mails, or answers RCPT with what stands in `refusals` first."""

    def __init__(self):
        self.mails = queue.Queue()
        self.attempts = queue.Queue()
        self.refusals = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.attempts.put(address)
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.mails.put(mail)
        return "250 taken"

    def next(self, to):
        mail = self.mails.get(timeout=WAIT_S)
        assert mail["To"] == to, mail["To"]
        assert mail["From"] == "Cairn <cairn@example.com>", mail["From"]
        return mail


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, port, mail_port):
        self.url = f"http://127.0.0.1:{port}"
        self.config = root / "server.toml"
        self.config.write_text(
            f'public_url = "{self.url}"\n[mail]\nurl = "smtp://127.0.0.1:{mail_port}"\n'
            'from = "Cairn <cairn@example.com>"\n'
        )
        self.process = subprocess.Popen(
            [server_program, "serve", "--dev", "--listen", f"127.0.0.1:{port}", *self.place()],
            stdout=subprocess.PIPE,
            stderr=(root / "server.log").open("a"),
            text=True,
        )
        self.process.stdout.readline()

    def place(self):
        return ["--data", root / "data", "--config", self.config]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"Bearer {KEY}")
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data) as response:
                text = response.read()
                return response.status, json.loads(text) if text else None
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def mails(self):
        return self.ask("GET", "/_dev/mail")[1]["mails"]

    def invite(self, address):
        words = [server_program, "user", "invite", address, "--json", *self.place()]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        invited = json.loads(done.stdout)
        # The running server looks at least once a minute; putting its clock makes it look now.
        self.ask("POST", "/_dev/clock/advance", {"ms": 1})
        return invited


class Browser:
    """Pages, forms and cookies, as a person's browser has them."""

    def __init__(self):
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, url, fields=None):
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        try:
            with self.opener.open(url, data) as response:
                self.status, self.page = response.status, response.read().decode()
        except urllib.error.HTTPError as refused:
            self.status, self.page = refused.code, refused.read().decode()
        self.url = url

    def submit(self, **fields):
        action = re.search(r'action="([^"]+)"', self.page)[1]
        hidden = re.search(r'name="form" value="([^"]+)"', self.page)[1]
        self.open(urllib.parse.urljoin(self.url, action), {"form": html.unescape(hidden), **fields})


def link_in(mail):
    return re.search(r"http://\S+/oauth/password\S+", mail.get_content())[0]


box = Mailbox()
smtp = Controller(box, hostname="127.0.0.1", port=free_port())
smtp.start()
try:
    server = Server(free_port(), smtp.port)

    invited = server.invite("new@example.com")
    assert invited["mailed"], invited
    mail = box.next("new@example.com")
    assert invited["link"] is None, "the link is for who reads the mail"
    browser = Browser()
    browser.open(link_in(mail))
    browser.submit(password="first password", again="first password")
    assert browser.status == 200, browser.page
    shown = subprocess.run(
        [server_program, "user", "show", "new@example.com", "--json", *server.place()], capture_output=True, text=True
    )
    assert json.loads(shown.stdout)["email_verified"], shown.stdout
    print("invited by mail: an account with a proved address")

    browser.open(f"{server.url}/oauth/forgotten")
    browser.submit(email="new@example.com")
    browser.open(link_in(box.next("new@example.com")))
    browser.submit(password="second password", again="second password")
    assert browser.status == 200, browser.page
    notice = box.next("new@example.com")
    assert "password was changed" in notice["Subject"], notice["Subject"]
    print("a forgotten password was replaced, and its owner was told")

    status, folder = server.ask("POST", "/api/v1/nodes", {"kind": "folder", "name": "für Ada — 2026", "parent_id": None})
    assert status in (200, 201), folder
    status, made = server.ask("POST", "/api/v1/shares/email", {"file_id": folder["id"], "email": "ada@example.com"})
    assert status == 201 and made["email_sent"], made
    mail = box.next("ada@example.com")
    assert "für Ada — 2026" in mail["Subject"], mail["Subject"]
    link = f"/api/v1/public/shares/{made['share']['short_code']}/open"
    status, sent = server.ask("POST", link, {"email": "ada@example.com"})
    assert (status, sent) == (202, {"code_sent_to": "ada@example.com"}), sent
    code = re.search(r"\d{8}", box.next("ada@example.com").get_content())[0]
    status, opened = server.ask("POST", link, {"email": "ada@example.com", "email_code": code})
    assert status == 200 and opened["access"], opened
    print("a link for one address opened with the code that was sent there")

    while not box.attempts.empty():
        box.attempts.get()
    box.refusals = ["451 busy, try again later"]
    server.invite("busy@example.com")
    assert box.attempts.get(timeout=WAIT_S) == "busy@example.com"
    while server.mails()[-1].get("error") is None:
        pass
    assert server.mails()[-1]["state"] == "waiting"
    server.ask("POST", "/_dev/clock/advance", {"ms": 31_000})
    box.next("busy@example.com")
    print("a busy mail server got it at the second attempt")

    box.refusals = ["550 no such mailbox"]
    server.invite("gone@example.com")
    while server.mails()[-1]["state"] == "waiting":
        pass
    failed = server.mails()[-1]
    assert failed["state"] == "failed" and "550" in failed["error"], failed
    print("a refusal is final, and says why")

    smtp.stop()
    server.invite("later@example.com")
    while server.mails()[-1].get("error") is None:
        pass
    # Killed with a mail that waits, and started anew when the mail server is back.
    server.kill()
    smtp = Controller(box, hostname="127.0.0.1", port=free_port())
    smtp.start()
    server = Server(free_port(), smtp.port)
    # The clock that was put forward is forgotten with the process.
    server.ask("POST", "/_dev/clock/advance", {"ms": 3_600_000})
    box.next("later@example.com")
    print("a mail that waited survived the end of both servers")
    server.kill()
finally:
    smtp.stop()
    if "server" in globals():
        server.kill()
    place.cleanup()
