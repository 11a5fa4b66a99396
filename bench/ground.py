"""What every benchmark stands on: release builds in a folder of its own, the demo servers, and their end.

The folder lies under the user's cache folder, because codex refuses to run its helper programs under the temporary one.
MCPROCTOR_BENCH_PROGRAMS names a folder with programs that are built already, to compare two versions for example.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Ground:
    """Built programs and started servers; all is ended and removed with it."""

    def __init__(self, packages):
        self.packages = packages
        self.servers = []

    def __enter__(self):
        built = os.environ.get("MCPROCTOR_BENCH_PROGRAMS") or build(self.packages)
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        cache.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mcproctor-bench-", dir=cache))
        (self.folder / "bin").mkdir()
        for name in self.packages:
            shutil.copy2(pathlib.Path(built) / name, self.folder / "bin" / name)
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            try:
                server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name):
        """The path of a built program."""
        return str(self.folder / "bin" / name)

    def serve(self, name, *args):
        """Starts a server on a free port and gives the URL that it prints."""
        server = subprocess.Popen(
            [self.program(name), "--port=0", *args],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.servers.append(server)
        line = server.stderr.readline()
        found = re.search(r"http://\S+", line)
        if not found:
            raise SystemExit(f"{name} did not start: {line}")
        return found.group()

    def load(self):
        """Says how busy the machine is, because a figure of a busy machine is none."""
        one, five, _ = os.getloadavg()
        print(f"load of the machine: {one:.1f} over one minute, {five:.1f} over five, {os.cpu_count()} cores")


def build(packages):
    """Builds the packages and gives the folder of their programs."""
    names = [f"--package={name}" for name in packages]
    subprocess.run(["cargo", "build", "--release", "--quiet", *names], cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version=1", "--no-deps"]
    known = json.loads(subprocess.run(metadata, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return pathlib.Path(known["target_directory"]) / "release"


def write_json(path, value):
    """YAML is a superset of JSON, so this also writes configs, test cases and scenarios."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
