"""Server on version 2 of the Python SDK, for stateful and stateless revisions: `python_v2.py stdio`, or
`python_v2.py http PORT` with Streamable HTTP at /mcp and HTTP+SSE at /sse."""

import asyncio
import sys
import warnings
from collections import Counter

import anyio
import mcp_types as types
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
from starlette.responses import Response
from starlette.routing import Mount, Route

import harbour
from harbour import DATA

bus = InMemorySubscriptionBus()
# Number of sessions that are subscribed to each resource. All sessions share this process.
subscribed = Counter()


def is_modern(ctx):
    return ctx.protocol_version >= "2026"


async def list_tools(ctx, params):
    items, cursor = harbour.page("tools", params and params.cursor)
    return types.ListToolsResult(tools=items, next_cursor=cursor)


async def list_prompts(ctx, params):
    items, cursor = harbour.page("prompts", params and params.cursor)
    return types.ListPromptsResult(prompts=items, next_cursor=cursor)


async def list_resources(ctx, params):
    items, cursor = harbour.page("resources", params and params.cursor)
    return types.ListResourcesResult(resources=items, next_cursor=cursor)


async def list_templates(ctx, params):
    items, cursor = harbour.page("resourceTemplates", params and params.cursor)
    return types.ListResourceTemplatesResult(resource_templates=items, next_cursor=cursor)


def found(what, name):
    if what is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no {name}")
    return what


async def get_prompt(ctx, params):
    words = found(harbour.prompt(params.name, params.arguments or {}), params.name)
    return types.GetPromptResult(messages=[{"role": "user", "content": {"type": "text", "text": words}}])


async def read_resource(ctx, params):
    return types.ReadResourceResult(contents=[found(harbour.contents(str(params.uri)), params.uri)])


async def subscribe(ctx, params):
    subscribed[str(params.uri)] += 1
    return types.EmptyResult()


async def unsubscribe(ctx, params):
    subscribed[str(params.uri)] -= 1
    return types.EmptyResult()


async def complete(ctx, params):
    earlier = (params.context and params.context.arguments) or {}
    values = harbour.complete(params.argument.name, params.argument.value, earlier)
    return types.CompleteResult(completion={"values": values, "total": len(values), "hasMore": False})


async def set_level(ctx, params):
    return types.EmptyResult()


async def call_tool(ctx, params):
    name, arguments = params.name, params.arguments or {}
    if name.startswith("ask_") or name == "list_folders":
        return await ask(ctx, name, (params.input_responses or {}).get("answer"))
    simple = harbour.simple(name, arguments)
    if simple is not None:
        content, structured, failed = simple
        return types.CallToolResult(content=content, structured_content=structured, is_error=failed)
    return types.CallToolResult(content=harbour.text_content(await do(ctx, name, arguments)))


async def do(ctx, name, arguments):
    if name == "slow_report":
        steps = arguments.get("steps", 4)
        try:
            for step in range(1, steps + 1):
                await anyio.sleep(arguments.get("seconds", 1) / steps)
                await ctx.session.report_progress(step, steps, f"Page {step} of {steps}")
        except anyio.get_cancelled_exc_class():
            print(f"slow_report was cancelled before step {step} of {steps}", file=sys.stderr, flush=True)
            raise
        return f"The report has {steps} pages."
    if name == "log_something":
        await ctx.session.send_log_message("warning", arguments["text"], "harbour", related_request_id=ctx.request_id)
        return "Logged."
    if name == "add_tool":
        harbour.add_tool(arguments["name"])
        await (bus.publish(ToolsListChanged()) if is_modern(ctx) else ctx.session.send_tool_list_changed())
        return f"There is a new tool: {arguments['name']}"
    if name == "write_note":
        harbour.notes[arguments["name"]] = arguments["text"]
        uri = f"note:///{arguments['name']}"
        if is_modern(ctx):
            await bus.publish(ResourceUpdated(uri=uri))
        elif subscribed[uri] > 0:
            await ctx.session.send_resource_updated(uri)
        return f"Written: {uri}"
    if name == "nap":
        if ctx.close_sse_stream:
            await ctx.close_sse_stream()
        await anyio.sleep(0.3)
        return "Awake again."
    return f"{name} does nothing."


QUESTIONS = {
    "ask_user": types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=DATA["formMessage"], requested_schema=DATA["form"])
    ),
    "ask_model": types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[{"role": "user", "content": {"type": "text", "text": DATA["question"]}}], max_tokens=100
        )
    ),
    "list_folders": types.ListRootsRequest(),
}


async def ask(ctx, name, answer):
    if answer is None and is_modern(ctx):
        url = types.ElicitRequest(params=types.ElicitRequestURLParams(message=DATA["urlMessage"], url=DATA["url"]))
        question = url if name == "ask_url" else QUESTIONS[name]
        return types.InputRequiredResult(input_requests={"answer": question}, request_state="asked")
    if answer is None:
        answer = await ask_in_session(ctx, name)
    if name == "ask_model":
        content = answer.content[0] if isinstance(answer.content, list) else answer.content
        said = f"model: {content.text}"
    elif name == "list_folders":
        said = "folders: " + " ".join(str(root.uri) for root in answer.roots)
    elif name == "ask_user":
        said = f"form: {answer.action} {(answer.content or {}).get('captain', '')}"
    else:
        said = f"url: {answer.action}"
    return types.CallToolResult(content=harbour.text_content(said))


async def ask_in_session(ctx, name):
    session, question = ctx.session, QUESTIONS.get(name)
    if name == "ask_user":
        return await session.elicit_form(DATA["formMessage"], DATA["form"], related_request_id=ctx.request_id)
    if name == "ask_url":
        return await session.elicit_url(DATA["urlMessage"], DATA["url"], "permit", related_request_id=ctx.request_id)
    if name == "ask_model":
        params = question.params
        return await session.create_message(params.messages, max_tokens=100, related_request_id=ctx.request_id)
    return await session.list_roots()


class HarbourServer(Server):
    def create_initialization_options(self, notification_options=None, **more):
        changes = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changes, **more)


class Events(EventStore):
    """Stores the events of streams, so that clients can resume them."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        stream = self.events[int(last_event_id) - 1][0]
        for at, (of, message) in enumerate(self.events[int(last_event_id) :], int(last_event_id) + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream


warnings.simplefilter("ignore")
server = HarbourServer(
    "python-v2",
    version="1.0.0",
    icons=harbour.ICONS,
    cache_hints=dict.fromkeys(["resources/templates/list", "resources/read"], CacheHint(ttl_ms=60_000)),
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_subscriptions_listen=ListenHandler(bus),
    on_completion=complete,
    on_set_logging_level=set_level,
)


async def serve_stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http():
    sse = SseServerTransport("/messages/")

    async def handle_sse(request):
        async with sse.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    routes = [Route("/sse", endpoint=handle_sse, methods=["GET"]), Mount("/messages/", app=sse.handle_post_message)]
    app = server.streamable_http_app(event_store=Events(), retry_interval=100, custom_starlette_routes=routes)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=0)
    await uvicorn.Server(config).serve(sockets=[harbour.listening_socket()])


asyncio.run(serve_stdio() if sys.argv[1] == "stdio" else serve_http())
