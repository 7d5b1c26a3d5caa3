"""Example data of a harbour that the Python servers offer, and its changes. Independent of the SDK."""

import json
import os
import socket
import sys
import threading
from pathlib import Path

DATA = json.loads((Path(__file__).parent / "harbour.json").read_text(encoding="utf-8"))

notes = {"log": "Nothing happened."}

# Icon with the chart, for the server and for the first entry of each list.
ICONS = [{"src": f"data:image/png;base64,{DATA['chart']}", "mimeType": "image/png"}]
for _list in ("tools", "prompts", "resources"):
    DATA[_list][0]["icons"] = ICONS


def add_tool(name):
    tool = {"name": name, "description": "Added while the server runs.", "inputSchema": {"type": "object", "properties": {}}}
    DATA["tools"].append(tool)


def page(name, cursor):
    """Returns one page of a list, and the cursor of the next page."""
    everything, start = DATA[name], int(cursor or 0)
    end = start + DATA["pageSize"]
    return everything[start:end], str(end) if end < len(everything) else None


def contents(uri):
    """Returns the contents of a resource, or None if it does not exist."""
    if uri == "harbour:///welcome.txt":
        return {"uri": uri, "mimeType": "text/plain", "text": "Welcome to the harbour."}
    if uri == "harbour:///chart.png":
        return {"uri": uri, "mimeType": "image/png", "blob": DATA["chart"]}
    text = notes.get(uri.removeprefix("note:///")) if uri.startswith("note:///") else None
    return None if text is None else {"uri": uri, "mimeType": "text/plain", "text": text}


def prompt(name, arguments):
    """Returns the text of a prompt, or None if it does not exist."""
    if name == "greet_ship":
        return f"Greet the {arguments['ship']} in {arguments['harbour']}."
    return "Go through the safety check." if name == "safety_check" else None


def complete(argument, typed, earlier):
    """Returns the completions of an argument. Names of ships depend on the selected harbour."""
    harbours = DATA["harbours"]
    ships = [ship for name in harbours for ship in harbours[name] if earlier.get("harbour") in (None, name)]
    known = {"harbour": list(harbours), "ship": ships, "name": list(notes)}.get(argument, [])
    return [value for value in known if value.lower().startswith(typed.lower())]


def everything(with_newer_kinds=True):
    """Returns one content block of each kind."""
    basic = [
        {"type": "text", "text": "Everything:"},
        {"type": "image", "data": DATA["chart"], "mimeType": "image/png"},
        {"type": "resource", "resource": contents("harbour:///welcome.txt")},
    ]
    newer = [
        {"type": "audio", "data": DATA["bell"], "mimeType": "audio/wav"},
        {"type": "resource_link", **DATA["resources"][0]},
    ]
    return basic + newer if with_newer_kinds else basic


def simple(name, arguments):
    """Calls a tool that depends only on its arguments. Returns its content, its structured content, and True for an error.
    Returns None for other tools."""
    if name == "add":
        total = arguments["a"] + arguments["b"]
        return text_content(f"{arguments['a']} + {arguments['b']} = {total}"), {"sum": total}, False
    if name == "fail":
        return text_content(f"It did not work: {arguments['reason']}."), None, True
    if name == "show_everything":
        return everything(), None, False
    return None


def text_content(text):
    return [{"type": "text", "text": text}]


def listening_socket():
    """Listens on the port in the last command line argument, 0 for any free port, and prints the URL."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(sys.argv[-1])))
    listening.listen()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    return listening


def _exit_with_parent():
    sys.stdin.read()
    os._exit(0)
