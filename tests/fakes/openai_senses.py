"""What a strict server refuses of requests about pictures and recordings. It sees and hears nothing."""

import base64
import binascii
import json
import re
from collections.abc import Mapping

from tests.fakes.openai_rules import Violation, check_fields, list_of, mapping
from tests.fakes.openai_script import Reply

SOUNDS = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "oga", "opus", "wav", "webm")
SOUND_TYPES = {"opus": "audio/ogg", "mp3": "audio/mpeg"}
MOST_INPUT = 4_096
"""Characters that OpenAI takes at once."""

STARTS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_URL = re.compile(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/=]+)")


def has_picture(body: Mapping[str, object]) -> bool:
    """Whether the last message has a part that is no text."""
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    parts = last.get("content") if isinstance(last, dict) else None
    return isinstance(parts, list) and any(isinstance(part, dict) and part.get("type") != "text" for part in parts)


def check_picture(body: Mapping[str, object]) -> None:
    """Raise Violation unless this is one question about one picture."""
    check_fields(body)
    _need("tools" not in body, "a question about a picture brings no tools")
    messages = list_of(body.get("messages"))
    _need([message.get("role") for message in messages] == ["user"], "expected one user message")
    parts = list_of(messages[0].get("content"))
    _need([part.get("type") for part in parts] == ["text", "image_url"], "expected a text and a picture")
    _need(isinstance(parts[0].get("text"), str) and parts[0]["text"] != "", "a text part without a text")
    found = _URL.fullmatch(str(mapping(parts[1].get("image_url")).get("url")))
    if found is None or found[1] not in STARTS:
        raise Violation("image_url must be a data URL of a png, jpeg, gif or webp")
    try:
        data = base64.b64decode(found[2], validate=True)
    except binascii.Error as error:
        raise Violation("the picture is no base64") from error
    _need(data.startswith(STARTS[found[1]]), f"the picture is no {found[1]}")


def recording(headers: Mapping[str, str], raw: bytes) -> dict[str, object]:
    """The model and file name of a transcription request, as the body of a chat; Violation unless it is a right one."""
    kind = headers.get("content-type", "")
    boundary = re.search(r"multipart/form-data; *boundary=([^;]+)", kind)
    if boundary is None:
        raise Violation(f"expected multipart/form-data with a boundary, got {kind!r}")
    fields: dict[str, str] = {}
    for part in raw.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, content = part.strip(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'\bname="([^"]*)"', head)
        file = re.search(rb'\bfilename="([^"]*)"', head)
        _need(name is not None, "a part without a name")
        assert name is not None
        if name[1] == b"file":
            _need(file is not None and bool(content), "file must be a file that is not empty")
        fields[name[1].decode()] = (file[1] if file else content).decode("utf-8", "replace")
    _need(fields.keys() == {"model", "file", "response_format"}, f"wrong fields: {sorted(fields)}")
    _need(fields["file"].rpartition(".")[2] in SOUNDS, f"unsupported file {fields['file']!r}")
    _need(fields["response_format"] == "json", "response_format must be json")
    return {"model": fields["model"], "messages": [{"role": "user", "content": fields["file"]}]}


def speech(raw: bytes) -> dict[str, object]:
    """A request for speech, as the body of a chat; Violation unless it is a right one."""
    body = dict(mapping(json.loads(raw)))
    _need(body.keys() == {"model", "voice", "input", "response_format"}, f"wrong fields: {sorted(body)}")
    _need(all(isinstance(each, str) and each for each in body.values()), "every field must be a text")
    _need(len(str(body["input"])) <= MOST_INPUT, f"input is longer than {MOST_INPUT} characters")
    _need(body["response_format"] in SOUND_TYPES, f"unsupported format {body['response_format']!r}")
    return {**body, "messages": [{"role": "user", "content": body["input"]}]}


def drawing(raw: bytes) -> dict[str, object]:
    """A request for a picture, as the body of a chat; Violation unless it is a right one of its kind of model."""
    body = dict(mapping(json.loads(raw)))
    gives_itself = str(body.get("model")).startswith("gpt-image")
    wanted = {"model", "prompt", "size", "n"} | (set() if gives_itself else {"response_format"})
    _need(body.keys() == wanted, f"wrong fields: {sorted(body)}")
    _need(isinstance(body["prompt"], str) and body["prompt"] != "", "a prompt without a text")
    _need(body["n"] == 1 and re.fullmatch(r"auto|[0-9]+x[0-9]+", str(body["size"])) is not None, "wrong n or size")
    _need(gives_itself or body["response_format"] == "b64_json", "response_format must be b64_json")
    return {**body, "messages": [{"role": "user", "content": body["prompt"]}]}


def pictures(reply: Reply) -> str:
    """The answer to a request for a picture: the reply's text in base64, or an address if it is one."""
    if reply.text.startswith("http"):
        return json.dumps({"created": 1, "data": [{"url": reply.text}]})
    coded = base64.b64encode(reply.text.encode("latin-1")).decode()
    return json.dumps({"created": 1, "data": [{"b64_json": coded}]})


def transcription(reply: Reply) -> str:
    """The answer to a recording."""
    return json.dumps({"text": reply.text, "usage": {"type": "duration", "seconds": 3}})


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Violation(rule)
