"""Server on FastMCP 4: `fastmcp_v4.py stdio`, `fastmcp_v4.py http PORT` with Streamable HTTP at /mcp, or
`fastmcp_v4.py sse PORT` with HTTP+SSE at /sse."""

import asyncio
import base64
import sys
from dataclasses import dataclass

import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.event_store import EventStore
from fastmcp.tools import ToolResult
from pydantic import TypeAdapter

import harbour
from harbour import DATA

icons = [types.Icon(**icon) for icon in harbour.ICONS]
server = FastMCP("fastmcp-v4", version="1.0.0", icons=icons, list_page_size=DATA["pageSize"], cache_ttl=60)
blocks = TypeAdapter(list[types.ContentBlock])


@server.tool(annotations={"readOnlyHint": True}, icons=icons)
def add(a: float, b: float) -> dict[str, float]:
    """Adds two numbers."""
    content, structured, _ = harbour.simple("add", {"a": a, "b": b})
    return ToolResult(content=blocks.validate_python(content), structured_content=structured)


@server.tool
def fail(reason: str) -> str:
    """Always fails."""
    raise ToolError(f"It did not work: {reason}.")


@server.tool
def show_everything() -> ToolResult:
    """Returns every kind of content."""
    return ToolResult(content=blocks.validate_python(harbour.everything()))


@server.tool
async def slow_report(ctx: Context, seconds: float = 1, steps: int = 4) -> str:
    """Runs for a while and reports its progress."""
    try:
        for step in range(1, steps + 1):
            await asyncio.sleep(seconds / steps)
            await ctx.report_progress(step, steps, f"Page {step} of {steps}")
    except asyncio.CancelledError:
        print(f"slow_report was cancelled before step {step} of {steps}", file=sys.stderr, flush=True)
        raise
    return f"The report has {steps} pages."


@server.tool
async def log_something(ctx: Context, text: str) -> str:
    """Logs a warning."""
    await ctx.warning(text, logger_name="harbour")
    return "Logged."


@server.tool
async def add_tool(ctx: Context, name: str) -> str:
    """Adds a tool, so that the list changes."""

    def added() -> str:
        return f"{name} does nothing."

    server.tool(added, name=name)
    await ctx.send_notification(types.ToolListChangedNotification())
    return f"There is a new tool: {name}"


@server.tool
def write_note(name: str, text: str) -> str:
    """Writes a note."""
    harbour.notes[name] = text
    return f"Written: note:///{name}"


@server.tool
async def nap(ctx: Context) -> str:
    """Closes the stream of its response, and responds on the resumed stream."""
    await ctx.close_sse_stream()
    await asyncio.sleep(0.3)
    return "Awake again."


@dataclass
class Form:
    captain: str


def is_modern(ctx):
    return ctx.request_context.protocol_version >= "2026"


def answer(ctx):
    return (ctx.input_responses or {}).get("answer")


def required(question):
    return types.InputRequiredResult(input_requests={"answer": question}, request_state="asked")


@server.tool
async def ask_user(ctx: Context) -> str | types.InputRequiredResult:
    """Shows a form."""
    if not is_modern(ctx):
        form = await ctx.elicit(DATA["formMessage"], Form)
        return f"form: {form.action} {form.data.captain if form.action == 'accept' else ''}"
    form = answer(ctx)
    if form is None:
        params = types.ElicitRequestFormParams(message=DATA["formMessage"], requested_schema=DATA["form"])
        return required(types.ElicitRequest(params=params))
    return f"form: {form.action} {(form.content or {}).get('captain', '')}"


@server.tool
async def ask_url(ctx: Context) -> str | types.InputRequiredResult:
    """Requests to open a web page."""
    url = answer(ctx)
    if not is_modern(ctx):
        url = await ctx.session.elicit_url(DATA["urlMessage"], DATA["url"], "permit", related_request_id=ctx.request_id)
    elif url is None:
        params = types.ElicitRequestURLParams(message=DATA["urlMessage"], url=DATA["url"])
        return required(types.ElicitRequest(params=params))
    return f"url: {url.action}"


@server.tool
async def ask_model(ctx: Context) -> str | types.InputRequiredResult:
    """Sends a sampling request."""
    said = answer(ctx)
    messages = [types.SamplingMessage(role="user", content=types.TextContent(type="text", text=DATA["question"]))]
    if not is_modern(ctx):
        said = await ctx.session.create_message(messages, max_tokens=100, related_request_id=ctx.request_id)
    elif said is None:
        params = types.CreateMessageRequestParams(messages=messages, max_tokens=100)
        return required(types.CreateMessageRequest(params=params))
    content = said.content[0] if isinstance(said.content, list) else said.content
    return f"model: {content.text}"


@server.tool
async def list_folders(ctx: Context) -> str | types.InputRequiredResult:
    """Requests the roots."""
    listed = answer(ctx)
    if not is_modern(ctx):
        listed = await ctx.session.list_roots()
    elif listed is None:
        return required(types.ListRootsRequest())
    return "folders: " + " ".join(str(root.uri) for root in listed.roots)


@server.prompt(icons=icons)
def greet_ship(harbour: str, ship: str) -> str:
    """Greets a ship."""
    return f"Greet the {ship} in {harbour}."


@server.prompt
def safety_check() -> str:
    """Before casting off."""
    return "Go through the safety check."


@server.resource("harbour:///welcome.txt", name="welcome.txt", mime_type="text/plain", icons=icons)
def welcome() -> str:
    return harbour.contents("harbour:///welcome.txt")["text"]


@server.resource("harbour:///chart.png", name="chart.png", mime_type="image/png")
def chart() -> bytes:
    return base64.b64decode(DATA["chart"])


@server.resource("note:///{name}", name="note", mime_type="text/plain")
def note(name: str) -> str:
    return harbour.notes[name]


@server.completion
def complete(ref, argument, context):
    return harbour.complete(argument.name, argument.value, (context and context.arguments) or {})


async def serve_http(transport):
    streams = {"event_store": EventStore(), "retry_interval": 100} if transport == "http" else {}
    app = server.http_app(transport=transport, **streams)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=0)
    await uvicorn.Server(config).serve(sockets=[harbour.listening_socket()])


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    asyncio.run(serve_http(sys.argv[1]))
