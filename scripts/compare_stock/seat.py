"""One run of mcproctor in the namespace, with a wrapper before the agent's program: it writes down how the agent was started and,
for the stock side, takes away what points it to the relay."""

import json
import os
import pathlib
import subprocess
import sys

SERVER = "everything"

CELLS = {
    "claude": {"kind": "claude", "model": "claude-sonnet-4-5"},
    "claude-own-tools": {"kind": "claude", "model": "claude-sonnet-4-5", "builtinTools": "default"},
    "claude-haiku": {"kind": "claude", "model": "claude-haiku-4-5", "builtinTools": "default"},
    "claude-upfront": {
        "kind": "claude",
        "model": "claude-sonnet-4-5",
        "builtinTools": "default",
        "toolLoading": "upfront",
    },
    "claude-deferred": {"kind": "claude", "model": "claude-sonnet-4-5", "toolLoading": "deferred"},
    # The built-in list of models has the second and the third; the third is the default, which calls tools from scripts.
    "codex": {"kind": "codex", "model": "gpt-5.1"},
    "codex-own-tools": {"kind": "codex", "model": "gpt-5.1", "builtinTools": "default"},
    "codex-search": {"kind": "codex", "model": "gpt-5.5"},
    "codex-scripts": {"kind": "codex"},
    "codex-scripts-own-tools": {"kind": "codex", "builtinTools": "default"},
}

WRAPPER = """#!{python}
import json, os, sys

args, env = sys.argv[1:], dict(os.environ)
if {stock} and args != ["--version"]:
    env.pop("ANTHROPIC_BASE_URL", None)
    if "MCPROCTOR_MODEL_KEY" in env:
        env["CODEX_API_KEY"] = env.pop("MCPROCTOR_MODEL_KEY")
    kept, rest = [], iter(args)
    for arg in rest:
        pair = [arg, next(rest)] if arg == "-c" else [arg]
        if not pair[-1].startswith("model_provider"):
            kept += pair
    args = kept
env["NODE_EXTRA_CA_CERTS"] = env["SSL_CERT_FILE"] = {bundle!r}
with open({started!r}, "a") as out:
    print(json.dumps({{"args": args, "env": env}}), file=out)
os.execve({program!r}, [{program!r}, *args], env)
"""


def hold(root, mcproctor, folder, bundle, record, agent, stock):
    """Holds one conversation and gives what the makers were asked, as kept in `folder`."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    kind = agent["kind"]
    wrapper = folder / kind
    wrapper.write_text(
        WRAPPER.format(
            python=sys.executable,
            stock=stock,
            bundle=str(bundle),
            started=str(folder / "started.jsonl"),
            program=str(root / "docker/agents/node_modules/.bin" / kind),
        )
    )
    wrapper.chmod(0o755)
    (folder / "testcases").mkdir()
    (folder / "testcases/echo.yaml").write_text("name: echo\nprompt: Echo hello.\nexpectedTools: [echo]\n")
    server = root / "worker/tests/conformance/node_modules/.bin/mcp-server-everything"
    config = {
        "mcp": {"name": SERVER, "command": str(server), "args": ["stdio"]},
        "testcases": {"source": "filesystem", "path": "./testcases"},
        "run": {
            "iterations": 1,
            "maxAttempts": 1,
            "timeoutSeconds": 60,
            # Only here does the agent reach what stands in for its maker.
            "sandbox": "process",
            "agents": [agent],
        },
        "report": {"outDir": "./reports", "formats": ["json"]},
    }
    (folder / "eval.yaml").write_text(json.dumps(config))
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NO_COLOR": "1",
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "OPENAI_API_KEY": "sk-dummy",
        f"MCPROCTOR_{kind.upper()}": str(wrapper),
    }
    record.take()
    with (folder / "run.log").open("w") as log:
        command = [mcproctor, "run", "-c", str(folder / "eval.yaml"), "--output", "plain"]
        ran = subprocess.run(command, cwd=folder, env=env, stdout=log, stderr=log, timeout=300, check=False)
    requests, names = record.take()
    seen = {"exit": ran.returncode, "names": names, "requests": requests}
    (folder / "requests.json").write_text(json.dumps(seen, indent=1))
    return seen
