"""What two recordings of the same conversation differ in. Pure: recordings in, rows of a table out."""

import json
import re

COMPLETIONS = ("/v1/messages", "/v1/responses")

# They differ between any two runs, or belong to one connection only.
VOLATILE = {"host", "content-length", "connection", "transfer-encoding", "upgrade"}
SECRET = {"authorization", "x-api-key"}

MASKS = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"(/[\w.+-]+)*/attempt-[\w.-]+"), "<seat>"),
    (re.compile(r"-[\w.-]*-attempt-\w+-work"), "<seat>"),
    (re.compile(r"\bcch=[0-9a-f]+"), "cch=<hash>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
    (re.compile(r"\b\d{10,}(\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+\.\d+ seconds"), "<seconds>"),
]


def rows(stock, relay):
    """Pairs of a label with the two sides, for what differs; and what both have in common where that is the point."""
    sides = [Side(stock), Side(relay)]
    table = [("endpoints", *(side.endpoints() for side in sides))]
    table.append(("requests to the model", *(side.transport() for side in sides)))
    table.append(("tools at first", *(side.tools() for side in sides)))
    table.append(("tools found later", *(sorted(side.found()) or "none" for side in sides)))
    only_one = [side.tool_names() for side in sides]
    if only_one[0] != only_one[1]:
        table.append(("tools on one side only", *exclusive(*only_one)))
    table += differing("header", *(side.headers() for side in sides))
    table += differing("body", *(side.body() for side in sides))
    texts = [side.texts() for side in sides]
    if texts[0] != texts[1]:
        table.append(("text", *exclusive(*texts)))
    return table


def exclusive(one, other):
    """What each has that the other has not."""
    return tuple([item for item in mine if item not in theirs] or "none" for mine, theirs in ((one, other), (other, one)))


def differing(label, one, other):
    for name in sorted({*one, *other}):
        mine, theirs = one.get(name, "absent"), other.get(name, "absent")
        if mine == theirs:
            continue
        if "absent" not in (mine, theirs):
            mine, theirs = exclusive(*(value.strip("{}").replace(", ", ",").split(",") for value in (mine, theirs)))
        yield f"{label} {name}", mine, theirs


class Side:
    """One recording."""

    def __init__(self, seen):
        self.requests = seen["requests"]
        self.completions = [
            request
            for request in self.requests
            if request["path"].split("?")[0] in COMPLETIONS and isinstance(request["body"], dict)
        ]
        # Codex warms a websocket up with a request that asks for nothing, and goes on from it.
        first = next((request for request in self.completions if request["body"].get("generate") is not False), None)
        before = self.completions[: self.completions.index(first)] if first else []
        self.first = first["body"] if first else {}
        self.input = [item for request in [*before, *filter(None, [first])] for item in request["body"].get("input", [])]

    def endpoints(self):
        return sorted({f"{it['method']} {it['host']}{it['path'].split('?')[0]}" for it in self.requests if it["method"] != "WS"})

    def transport(self):
        count = len(self.completions)
        if any(request["method"] == "WS" for request in self.completions):
            return f"{count} over a websocket"
        return f"{count} over HTTP, " + ("streamed" if self.first.get("stream") else "whole")

    def offered(self):
        return [*self.first.get("tools", []), *(tool for item in self.input for tool in item.get("tools") or [])]

    def tool_names(self):
        return sorted(name for tool in self.offered() for name in names(tool))

    def tools(self):
        all_names = self.tool_names()
        servers = [name for name in all_names if name.startswith("mcp__")]
        search = [name for name in all_names if name.lower().replace("_", "") == "toolsearch"]
        text = f"{len(servers)} of the server, {len(all_names) - len(servers)} of its own"
        return f"{text}, with {search[0]}" if search else text

    def found(self):
        at_first = set(self.tool_names())
        later = [request["body"] for request in self.completions]
        tools = [tool for body in later for tool in body.get("tools", [])]
        items = [item for body in later for item in body.get("input", [])]
        tools += [tool for item in items for tool in item.get("tools") or []]
        return {name for tool in tools for name in names(tool)} - at_first

    def headers(self):
        seen = {}
        asked = [it for it in self.requests if it["path"].split("?")[0] in COMPLETIONS and it["headers"]]
        # Those of a websocket's beginning only where nothing was sent without one.
        asked.sort(key=lambda request: request["body"] is None)
        for name, value in asked[0]["headers"] if asked else []:
            name = name.lower()
            if name not in VOLATILE and not name.startswith("sec-websocket-"):
                seen[name] = "present" if name in SECRET else shape(value)
        return seen

    def body(self):
        left_out = {"messages", "input", "system", "tools", "instructions"}
        plain = {key: value for key, value in self.first.items() if key not in left_out}
        seen = {key: shape(value if isinstance(value, str) else json.dumps(value)) for key, value in plain.items()}
        for item in self.input:
            for key in set(item) - {"type", "role", "content", "tools", "name"}:
                seen[f"input[].{key}"] = "present"
        return seen

    def texts(self):
        """Every line that the model reads before it does anything."""
        body = self.first
        messages = [*body.get("messages", [])[:2], *self.input]
        parts = [body.get("system"), body.get("instructions"), *(message.get("content") for message in messages)]
        return [line for part in parts for line in lines(part)]


def names(tool):
    if tool.get("type") == "namespace":
        return [f"{tool['name']}.{name}" for inner in tool.get("tools", []) for name in names(inner)]
    return [tool.get("name") or tool.get("type", "?")]


def lines(part):
    if isinstance(part, str):
        return [masked(line) for line in part.splitlines() if line.strip()]
    blocks = part if isinstance(part, list) else []
    return [line for block in blocks if isinstance(block, dict) for line in lines(block.get("text"))]


def masked(text):
    for pattern, mark in MASKS:
        text = pattern.sub(mark, text)
    return text


def shape(text):
    """A value whose parts that differ between any two runs are masked; of an object only its keys."""
    try:
        value = json.loads(text)
    except ValueError:
        return masked(text)
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(value)) + "}"
    return masked(text)
