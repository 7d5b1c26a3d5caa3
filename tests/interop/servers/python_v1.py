"""Server on version 1.2 of the Python SDK, for revision 2024-11-05: `python_v1.py stdio`, or `python_v1.py http PORT` with
HTTP+SSE at /sse."""

import asyncio
import sys

import mcp.types as types
import uvicorn
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

import harbour
from harbour import DATA

server = Server("python-v1", version="1.0.0")
subscribed = set()


def session():
    return server.request_context.session


@server.list_tools()
async def list_tools():
    return [types.Tool(**tool) for tool in DATA["tools"]]


@server.list_prompts()
async def list_prompts():
    return [types.Prompt(**prompt) for prompt in DATA["prompts"]]


@server.list_resources()
async def list_resources():
    return [types.Resource(**resource) for resource in DATA["resources"]]


@server.list_resource_templates()
async def list_templates():
    return [types.ResourceTemplate(**template) for template in DATA["resourceTemplates"]]


@server.get_prompt()
async def get_prompt(name, arguments):
    content = types.TextContent(type="text", text=harbour.prompt(name, arguments or {}))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def read_resource(request):
    return types.ServerResult(types.ReadResourceResult(contents=[harbour.contents(str(request.params.uri))]))


# Not registered with the SDK's decorator, which would give every resource the same type.
server.request_handlers[types.ReadResourceRequest] = read_resource


@server.subscribe_resource()
async def subscribe(uri):
    subscribed.add(str(uri))


@server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed.discard(str(uri))


@server.completion()
async def complete(ref, argument):
    values = harbour.complete(argument.name, argument.value, {})
    return types.Completion(values=values, total=len(values), hasMore=False)


@server.set_logging_level()
async def set_level(level):
    pass


@server.call_tool()
async def call_tool(name, arguments):
    if name == "show_everything":
        kinds = {"text": types.TextContent, "image": types.ImageContent, "resource": types.EmbeddedResource}
        return [kinds[block["type"]](**block) for block in harbour.everything(with_newer_kinds=False)]
    if name == "fail":
        raise ValueError(f"It did not work: {arguments['reason']}.")
    simple = harbour.simple(name, arguments)
    words = simple[0][0]["text"] if simple else await do(name, arguments)
    return [types.TextContent(type="text", text=words)]


async def do(name, arguments):
    if name == "slow_report":
        steps = arguments.get("steps", 4)
        for step in range(1, steps + 1):
            await asyncio.sleep(arguments.get("seconds", 1) / steps)
            token = server.request_context.meta and server.request_context.meta.progressToken
            if token is not None:
                await session().send_progress_notification(token, step, steps)
        return f"The report has {steps} pages."
    if name == "log_something":
        await session().send_log_message("warning", arguments["text"], "harbour")
        return "Logged."
    if name == "add_tool":
        harbour.add_tool(arguments["name"])
        await session().send_tool_list_changed()
        return f"There is a new tool: {arguments['name']}"
    if name == "write_note":
        harbour.notes[arguments["name"]] = arguments["text"]
        uri = f"note:///{arguments['name']}"
        if uri in subscribed:
            await session().send_resource_updated(uri)
        return f"Written: {uri}"
    if name == "ask_model":
        question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=DATA["question"]))
        return f"model: {(await session().create_message([question], max_tokens=100)).content.text}"
    if name == "list_folders":
        return "folders: " + " ".join(str(root.uri) for root in (await session().list_roots()).roots)
    return f"{name} does nothing."


def options():
    return server.create_initialization_options(NotificationOptions(tools_changed=True))


async def serve_stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, options())


async def serve_http():
    sse = SseServerTransport("/messages/")

    async def handle_sse(request):
        async with sse.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, options())
        return Response()

    routes = [Route("/sse", endpoint=handle_sse, methods=["GET"]), Mount("/messages/", app=sse.handle_post_message)]
    config = uvicorn.Config(Starlette(routes=routes), log_level="error", timeout_graceful_shutdown=0)
    await uvicorn.Server(config).serve(sockets=[harbour.listening_socket()])


asyncio.run(serve_stdio() if sys.argv[1] == "stdio" else serve_http())
