"""A server of outside tools that fails as FOLDER/way says, which is read at each message; it needs no library.

`python -S -P broken_server.py FOLDER`. Ways: "" for none, die:METHOD, half:METHOD, hang:METHOD, flood:KIND, wrong:KIND,
change, ask, slow, deaf, child.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
MEGABYTES = 10
changes: list[str] = []


def way() -> str:
    """How it fails now."""
    path = FOLDER / "way"
    return path.read_text("utf-8") if path.exists() else ""


def say(text: str) -> None:
    """One line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def send(**body: Any) -> None:
    """One message."""
    say(json.dumps({"jsonrpc": "2.0", **body}))


def tools() -> list[dict[str, Any]]:
    """What it offers."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    about = "Says something else" if changes else "Says it again"
    count = FOLDER / "count"
    more = int(count.read_text("utf-8")) if count.exists() else 0
    return [
        *({"name": f"tool{number}", "description": f"Tool {number}", "inputSchema": schema} for number in range(more)),
        {"name": "echo", "description": about, "inputSchema": schema, "annotations": {"readOnlyHint": True}},
        {"name": "put", "description": "Puts it there", "inputSchema": schema},
    ]


def flood(kind: str) -> None:
    """Ten megabytes, or without end."""
    piece = "x" * 65_536
    if kind == "notes":
        note = {"level": "info", "data": "x" * 1_000}
        for _ in range(MEGABYTES * 1_000):
            send(method="notifications/message", params=note)
        return
    stream = sys.stderr if kind == "errors" else sys.stdout
    count = MEGABYTES * 16 if kind != "endless" else 1 << 40
    for _ in range(count):
        stream.write(piece)
    stream.write("\n")
    stream.flush()


def wrong(kind: str, number: object) -> bool:
    """An answer that is none; whether a right one follows."""
    match kind:
        case "json":
            say('{"jsonrpc": "2.0", "id": ')
        case "text":
            say("Listening on port 8080 …")
            return True
        case "bytes":
            sys.stdout.buffer.write(b"\xff\xfe\x00\n")
            sys.stdout.buffer.flush()
            return True
        case "deep":
            say("[" * 100_000)
            return True
        case "id":
            send(id="other", result={"content": []})
        case "shape":
            send(id=number, result={"content": "text", "isError": 7})
            return False
        case "null":
            send(id=number, result=None)
        case "both":
            send(id=number, result={"content": []}, error={"code": 1, "message": "x"})
    return False


def ask(number: object) -> str:
    """Have the client's model, person and folders asked; what came back."""
    wanted = {"messages": [{"role": "user", "content": {"type": "text", "text": "say all"}}], "maxTokens": 9}
    send(id="a", method="sampling/createMessage", params=wanted)
    send(id="b", method="elicitation/create", params={"message": "password?", "requestedSchema": {"type": "object"}})
    send(id="c", method="roots/list")
    back: list[str] = []
    while len(back) < 3:
        answer = json.loads(sys.stdin.readline())
        back.append("refused" if "error" in answer else json.dumps(answer["result"]))
    return ",".join(back)


def answer(message: dict[str, Any]) -> None:
    """See to one message."""
    method, number, (kind, _, which) = message.get("method", ""), message.get("id"), way().partition(":")
    if kind in ("die", "half") and which == method:
        if kind == "half":
            sys.stdout.write('{"jsonrpc": "2.0", "id"')
            sys.stdout.flush()
        sys.exit(3)
    if kind == "hang" and which == method:
        time.sleep(600)
    if number is None:
        return
    match method:
        case "initialize":
            version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}}
            send(id=number, result={**version, "serverInfo": {"name": "broken", "version": "1"}})
        case "tools/list":
            send(id=number, result={"tools": tools()})
        case "tools/call":
            with (FOLDER / "calls.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([message["params"]["name"], message["params"].get("arguments")]) + "\n")
            if kind == "flood":
                flood(which)
            if kind == "wrong" and not wrong(which, number):
                return
            text = ask(number) if kind == "ask" else str(message["params"].get("arguments", {}).get("text"))
            if kind == "change" and not changes:
                changes.append(which)
                send(method="notifications/tools/list_changed")
            send(id=number, result={"content": [{"type": "text", "text": text}]})
        case _:
            send(id=number, error={"code": -32601, "message": "no such method"})


if __name__ == "__main__":
    (FOLDER / "pids").open("a").write(f"{os.getpid()}\n")
    if way() in ("slow", "deaf"):
        time.sleep(600)
    if way() == "child":
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
        (FOLDER / "pids").open("a").write(f"{child.pid}\n")
    for line in sys.stdin:
        answer(json.loads(line))
