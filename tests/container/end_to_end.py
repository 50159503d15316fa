"""The server's image, and the examples of its use.

Reads the archive as the OCI specification describes it, unpacks its layer, and runs the program in that root
as the image's user, who can write to nothing but the data. Checks that the Compose and Kubernetes examples name
what the image has: user, port, paths, arguments, probes. Fails at the first thing that is not as it has to be.
Only PyYAML beside the standard library; root, or user namespaces.

Usage: end_to_end.py ARCHIVE PACKAGING
"""

import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

import yaml

archive, packaging = map(pathlib.Path, sys.argv[1:3])
place = tempfile.TemporaryDirectory(prefix="cairn-container-")
root = pathlib.Path(place.name) / "root"
LOADED = re.compile(r"cairn-server listening on http://(\S+)")


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r} instead of {wanted!r}")


class Image:
    """An OCI image in an archive."""

    def __init__(self, file):
        self.files = tarfile.open(file)
        expect(self.read_json("oci-layout"), {"imageLayoutVersion": "1.0.0"}, "the layout")
        [entry] = self.read_json("index.json")["manifests"]
        manifest = json.loads(self.blob(entry))
        self.config = json.loads(self.blob(manifest["config"]))
        [layer] = manifest["layers"]
        self.layer = self.blob(layer)
        [for_docker] = self.read_json("manifest.json")
        expect(for_docker["Config"], self.path(manifest["config"]), "the configuration for Docker")
        expect(for_docker["Layers"], [self.path(layer)], "the layers for Docker")
        [self.name] = for_docker["RepoTags"]

    def read(self, name):
        return self.files.extractfile(name).read()

    def read_json(self, name):
        return json.loads(self.read(name))

    def path(self, descriptor):
        return "blobs/" + descriptor["digest"].replace(":", "/")

    def blob(self, descriptor):
        content = self.read(self.path(descriptor))
        expect(len(content), descriptor["size"], "the size of a blob")
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        expect(digest, descriptor["digest"], "the digest of a blob")
        return content

    def unpack(self, to):
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as layer:
            names = {member.name.removeprefix("./"): member for member in layer}
            is_root = os.geteuid() == 0
            for member in names.values():
                writable = member.mode & 0o022 and not member.issym()
                if writable or member.isdev() or member.mode & 0o6000:
                    sys.exit(f"{member.name} is open to others, or special")
            data = names["data"]
            expect((data.uid, data.gid, data.mode), (65532, 65532, 0o700), "the data directory")
            owners = {member.uid for name, member in names.items() if name != "data"}
            expect(owners, {0}, "the owners of everything else")
            # Older versions of Python have no filters.
            trust = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
            layer.extractall(to, numeric_owner=is_root, **trust)
        plain = subprocess.run(["gzip", "-dc"], input=self.layer, capture_output=True, check=True)
        digest = "sha256:" + hashlib.sha256(plain.stdout).hexdigest()
        expect(self.config["rootfs"]["diff_ids"], [digest], "the digest of the layer's content")


def inside(arguments):
    """A command in the root of the image, as its user where this is allowed."""
    # Found before the image's own PATH holds: it has no other program.
    chroot = shutil.which("chroot", path=os.defpath + ":/usr/sbin:/sbin")
    if os.geteuid() == 0:
        enter = [chroot, "--userspec=65532:65532", "--groups=", str(root)]
    else:
        enter = [shutil.which("unshare"), "--user", "--map-root-user", chroot, str(root)]
    return ["env", "-i", *image.config["config"]["Env"], *enter, *arguments]


def run(arguments):
    return subprocess.run(
        inside(arguments), check=True, capture_output=True, text=True, timeout=60
    ).stdout


def start(arguments):
    """Starts the server with the arguments of an example, at a free port of this machine."""
    arguments = ["127.0.0.1:0" if text == LISTEN else text for text in arguments]
    server = subprocess.Popen(inside([PROGRAM, *arguments]), stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    found = LOADED.search(line)
    if not found:
        server.kill()
        sys.exit(f"the server said {line!r}")
    return server, found.group(1)


def check_start(arguments, what):
    """The server starts in its root, calls itself healthy, and ends when it is told to."""
    server, address = start(arguments)
    try:
        run([PROGRAM, "health", "--address", address])
    finally:
        server.send_signal(signal.SIGTERM)
    expect(server.wait(30), 0, f"{what}: the server's end")


def put_config(text):
    file = root / "etc/cairn-server/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o644)


def check_image():
    config = image.config["config"]
    expect(config["User"], "65532:65532", "the user")
    expect(config["Volumes"], {"/data": {}}, "the volumes")
    expect(config["ExposedPorts"], {f"{PORT}/tcp": {}}, "the ports")
    expect(config["Healthcheck"]["Test"], ["CMD", PROGRAM, "health"], "the health check")
    # Another name would not be found in the image.
    expect((root / PROGRAM.lstrip("/")).is_file(), True, "the program is there")
    for name in ["etc/passwd", "etc/ssl/certs/ca-certificates.crt"]:
        expect((root / name).stat().st_size > 0, True, name)
    version = run([PROGRAM, "--version"]).strip()
    expect(version.replace(" ", ":"), image.name, "the version")
    check_start(config["Cmd"], "the image")
    # What the first start has made stays for the user alone, and later commands find it.
    expect(run([PROGRAM, "user", "list", "--json"]).strip(), "[]", "the accounts")
    loaded = {file.name for file in (root / "data").iterdir()}
    expect({"cairn.db", "records.key"} <= loaded, True, "the data")


def check_compose():
    compose = yaml.safe_load((packaging / "compose.yaml").read_text())
    service = compose["services"]["server"]
    expect(service["image"], image.name, "the image in compose.yaml")
    expect(service["healthcheck"]["test"], image.config["config"]["Healthcheck"]["Test"], "health")
    expect(service["read_only"], True, "compose: read_only")
    expect(service["cap_drop"], ["ALL"], "compose: cap_drop")
    expect(service["ports"], [f"127.0.0.1:{PORT}:{PORT}"], "compose: ports")
    mounts = dict(volume.split(":")[:2] for volume in service["volumes"])
    expect(mounts["data"], "/data", "compose: the data")
    expect("data" in compose["volumes"], True, "compose: the volume")
    [source] = [source for source in mounts if source != "data"]
    expect(mounts[source], config_of(service["command"]), "compose: the configuration")
    put_config((packaging / source).read_text())
    check_start(service["command"], "compose.yaml")


def config_of(arguments):
    return arguments[arguments.index("--config") + 1]


def check_kubernetes():
    documents = {}
    for file in sorted((packaging / "kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            documents[document["kind"]] = document
    deployment, service = documents["Deployment"]["spec"], documents["Service"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    expect(deployment["selector"]["matchLabels"], labels, "kubernetes: the deployment's selector")
    expect(service["selector"], labels, "kubernetes: the service's selector")
    expect(deployment["replicas"], 1, "kubernetes: replicas")
    expect(deployment["strategy"], {"type": "Recreate"}, "kubernetes: the strategy")
    pod = deployment["template"]["spec"]
    user = "{runAsUser}:{runAsGroup}".format(**pod["securityContext"])
    expect(user, image.config["config"]["User"], "kubernetes: the user")
    expect(pod["securityContext"]["runAsNonRoot"], True, "kubernetes: runAsNonRoot")
    [container] = pod["containers"]
    expect(container["image"], image.name, "kubernetes: the image")
    expect(container["securityContext"]["readOnlyRootFilesystem"], True, "kubernetes: read-only")
    [port] = container["ports"]
    expect(port["containerPort"], PORT, "kubernetes: the port")
    expect(service["ports"][0]["targetPort"], port["name"], "kubernetes: the service's port")
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    expect(set(mounts), set(volumes), "kubernetes: the volumes")
    claim = documents["PersistentVolumeClaim"]["metadata"]["name"]
    expect(volumes["data"]["persistentVolumeClaim"]["claimName"], claim, "kubernetes: the claim")
    secret = documents["Secret"]
    name = volumes["config"]["secret"]["secretName"]
    expect(name, secret["metadata"]["name"], "kubernetes: the secret")
    expect(mounts["data"], "/data", "kubernetes: the data")
    file = config_of(container["args"])
    expect(os.path.dirname(file), mounts["config"], "kubernetes: the configuration")
    put_config(secret["stringData"][os.path.basename(file)])
    check_probes(container, port["name"])
    check_start(container["args"], "deployment.yaml")


def check_probes(container, port):
    """Every path that a probe asks is one that the API's description has."""
    document = json.loads(run([PROGRAM, "openapi"]))
    for kind in ["startupProbe", "livenessProbe", "readinessProbe"]:
        request = container[kind]["httpGet"]
        expect(request["port"], port, f"kubernetes: the port of the {kind}")
        expect(request["path"] in document["paths"], True, f"kubernetes: {request['path']}")


image = Image(archive)
[PROGRAM] = image.config["config"]["Entrypoint"]
LISTEN = image.config["config"]["Cmd"][2]
PORT = int(LISTEN.rsplit(":")[-1])
root.mkdir()
# Everybody may pass through to the image's root: its user is none of this machine's.
os.chmod(place.name, 0o755)
image.unpack(root)
check_image()
check_compose()
check_kubernetes()
print(f"{image.name}: {archive.stat().st_size} bytes; image, Compose and Kubernetes examples fit together")
