"""An agent that does exactly what its scenario says, and prints what Claude Code prints.

Each turn is a list of steps in a file of the folder that PLAYER_SCENARIOS names.
"""
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

if "--version" in sys.argv:
    print("2.1.197 (a player)")
    sys.exit()


def say(**line):
    print(json.dumps(line), flush=True)


prompt = sys.stdin.read()
state = os.path.join(os.environ["HOME"], "played.json")
if os.path.exists(state):
    with open(state) as file:
        scenario, turn = json.load(file)
else:
    scenario, turn = re.search(r"\[([a-z0-9-]+)\]", prompt).group(1), 0
with open(state, "w") as file:
    json.dump([scenario, turn + 1], file)
with open(os.path.join(os.environ["PLAYER_SCENARIOS"], scenario + ".json")) as file:
    turns = json.load(file)
steps = turns[turn] if turn < len(turns) else [{"reply": "There is nothing more to say."}]
with open(sys.argv[sys.argv.index("--mcp-config") + 1]) as file:
    servers = json.load(file)["mcpServers"]
(name, server), = servers.items()
url = server["url"] + "?scenario=" + scenario
last_id = 0


def ask(method, params, notification=False):
    global last_id
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if not notification:
        last_id += 1
        message["id"] = last_id
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read() or b"null")
    except (OSError, ValueError) as error:
        return {"error": {"message": str(error)}}


def use(number, tool, arguments, result):
    block = {"type": "tool_use", "id": f"t{turn}-{number}", "name": tool, "input": arguments}
    say(type="assistant", message={"content": [block], "model": "scripted-1"})
    content = [{"type": "tool_result", "tool_use_id": block["id"], "content": json.dumps(result)}]
    say(type="user", message={"content": content})


start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "player", "version": "1"}}
ask("initialize", start)
ask("notifications/initialized", {}, notification=True)
ask("tools/list", {})
say(type="system", subtype="init", session_id="s-1", model="scripted-1",
    mcp_servers=[{"name": name, "status": "connected"}])
reply, usage, cost = "", {"input_tokens": 100, "output_tokens": 20}, None
for number, step in enumerate(steps):
    if "call" in step:
        arguments = step.get("arguments", {})
        answer = ask("tools/call", {"name": step["call"], "arguments": arguments})
        use(number, f"mcp__{name}__{step['call']}", arguments, answer)
    elif "read" in step:
        use(number, "ReadMcpResourceTool", {"uri": step["read"]}, ask("resources/read", {"uri": step["read"]}))
    elif "prompt" in step:
        ask("prompts/get", {"name": step["prompt"]})
    elif "shell" in step:
        use(number, "Bash", {"command": step["shell"]}, "done")
    elif "web" in step:
        use(number, "WebFetch", {"url": step["web"]}, "a page")
    elif "file" in step:
        use(number, "Read", {"file_path": step["file"]}, "text")
    elif "other" in step:
        use(number, step["other"], {}, "done")
    elif "claims" in step:
        # It says that it called the server, and did not.
        use(number, f"mcp__{name}__{step['claims']}", {}, "done")
    elif "tokens" in step:
        usage = {"input_tokens": step["tokens"], "output_tokens": 0}
    elif "costUsd" in step:
        cost = step["costUsd"]
    elif "seconds" in step:
        time.sleep(step["seconds"])
    elif "error" in step:
        say(type="result", subtype="error_during_execution", is_error=True, errors=[step["error"]], session_id="s-1")
        sys.exit(1)
    elif "cut" in step:
        print('{"type":"result","subtype":"succ', end="")
        sys.exit()
    elif "silence" in step:
        sys.exit()
    elif "exit" in step:
        print("gone", file=sys.stderr)
        sys.exit(step["exit"])
    elif "reply" in step:
        reply = step["reply"]
        say(type="assistant", message={"content": [{"type": "text", "text": reply}], "model": "scripted-1"})
    else:
        sys.exit(f"no such step: {step}")
say(type="result", subtype="success", is_error=False, result=reply, session_id="s-1", usage=usage, total_cost_usd=cost)
