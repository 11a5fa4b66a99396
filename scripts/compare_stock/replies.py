"""What the stand-ins of the model makers answer: one call of the reference server's `echo`, found by a search where it has
to be, then a text. Pure: a request's JSON in, events out."""

import json

TOOL = "echo"
ARGUMENTS = {"message": "hello"}


def anthropic(request):
    """Anthropic Messages: the events of a stream, and the same as one message."""
    step = next_step_anthropic(request)
    usage = {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model"),
        "content": [step],
        "stop_reason": "tool_use" if step["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {**message, "content": [], "stop_reason": None}
    if step["type"] == "tool_use":
        empty, delta = {**step, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
    else:
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step["text"]}
    events = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 10},
        },
        {"type": "message_stop"},
    ]
    return message, events


def next_step_anthropic(request):
    called, found = set(), set()
    for block in blocks(request):
        if block.get("type") == "tool_use":
            called.add(block.get("name"))
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            found.update(part.get("tool_name") for part in block["content"] if part.get("type") == "tool_reference")
    offered = [tool.get("name", "") for tool in request.get("tools", []) if not tool.get("defer_loading")]
    echo = next((name for name in [*offered, *filter(None, found)] if name.endswith(f"__{TOOL}")), None)
    deferred = next(
        (tool["name"] for tool in request.get("tools", []) if tool.get("name", "").endswith(f"__{TOOL}")),
        f"mcp__everything__{TOOL}",
    )
    if echo and echo not in called:
        return {"type": "tool_use", "id": "toolu_echo", "name": echo, "input": ARGUMENTS}
    if not echo and "ToolSearch" in offered and "ToolSearch" not in called:
        query = {"query": f"select:{deferred}", "max_results": 5}
        return {"type": "tool_use", "id": "toolu_search", "name": "ToolSearch", "input": query}
    return {"type": "text", "text": "done"}


def blocks(request):
    for message in request.get("messages", []):
        content = message.get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))


def openai(request, identity):
    """OpenAI Responses: the events of a stream, over HTTP or a websocket."""
    item = next_item_openai(request)
    tokens = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    }
    response = {
        "id": f"resp_{identity}",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "model": request.get("model"),
        "output": [],
        "usage": None,
    }
    ended = {**response, "status": "completed", "output": [item] if item else [], "usage": tokens}
    events = [{"type": "response.created", "response": response}]
    if item:
        events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": ended})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def next_item_openai(request):
    if request.get("generate") is False:
        return None
    items = [item for item in request.get("input", []) if isinstance(item, dict)]
    kinds = {item.get("type") for item in items}
    if kinds & {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}:
        return {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        }
    # What an item brings along may be called, whatever it says of itself.
    brought = [{**tool, "brought": True} for item in items for tool in item.get("tools") or []]
    tools = [*request.get("tools", []), *brought]
    for tool in tools:
        inside = tool.get("tools", []) if tool.get("type") == "namespace" else []
        for inner in inside:
            if inner.get("name") == TOOL and (tool.get("brought") or not inner.get("defer_loading")):
                return function_call(TOOL, tool["name"])
        if tool.get("type") == "function" and tool.get("name", "").endswith(TOOL):
            return function_call(tool["name"], None)
        if (tool.get("type"), tool.get("name")) == ("custom", "exec"):
            return script_call(None)
        if any((inner.get("type"), inner.get("name")) == ("custom", "exec") for inner in inside):
            return script_call(tool["name"])
    if any(tool.get("type") == "tool_search" for tool in tools):
        if "tool_search_call" not in kinds:
            return {
                "type": "tool_search_call",
                "id": "tsc_1",
                "call_id": "call_search",
                "execution": "client",
                "status": "completed",
                "arguments": {"query": "echo", "limit": 5},
            }
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }


def function_call(name, namespace):
    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_echo",
        "status": "completed",
        "name": name,
        "arguments": json.dumps(ARGUMENTS),
    }
    return {**item, "namespace": namespace} if namespace else item


def script_call(namespace):
    source = f"""const found = ALL_TOOLS.map((tool) => tool.name).find((name) => name.endsWith("__{TOOL}"));
const result = await tools[found]({json.dumps(ARGUMENTS)});
text(result?.structuredContent ?? result);
"""
    item = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_echo",
        "status": "completed",
        "name": "exec",
        "input": source,
    }
    return {**item, "namespace": namespace} if namespace else item
