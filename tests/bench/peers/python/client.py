"""Client of the Python SDK, measured like Drawbridge: client.py SCENARIO (--server PATH | --url URL)."""

import argparse
import json
import re
import resource
import time
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

WARM_UP = 200
OPERATIONS = {
    "stdio-seq": 5_000,
    "stdio-64": 20_000,
    "stdio-list-5000": 20,
    "stdio-big-10MB": 5,
    "stdio-progress-10000": 1,
    "http-seq-json": 2_000,
    "http-seq-sse": 2_000,
    "http-64": 5_000,
    "idle-200": 200,
}
IN_FLIGHT = 64
IMAGE_BYTES = 10 * 1024 * 1024
ROLLUP = "/proc/self/smaps_rollup"


def kilobytes(file: str, word: str) -> int:
    return int(re.search(rf"^{word}:\s+(\d+) kB", Path(file).read_text(), re.M).group(1))


def processor_seconds() -> tuple[float, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime, usage.ru_stime


async def open_session(stack: AsyncExitStack, scenario: str, server: str | None, url: str | None) -> ClientSession:
    if url:
        streams = await stack.enter_async_context(streamable_http_client(url))
    else:
        tools = "5000" if scenario == "stdio-list-5000" else "3"
        parameters = StdioServerParameters(command=server, args=["stdio", "--tools", tools])
        streams = await stack.enter_async_context(stdio_client(parameters))
    session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
    await session.initialize()
    return session


async def echo(session: ClientSession) -> None:
    await session.call_tool("echo", {"text": "hello"})


async def run(session: ClientSession, scenario: str, n: int) -> int | None:
    if scenario == "stdio-list-5000":
        for _ in range(n):
            tools = len((await session.list_tools()).tools)
            assert tools == 5_000, f"the list has {tools} tools"
    elif scenario == "stdio-big-10MB":
        for _ in range(n):
            await session.call_tool("big", {"bytes": IMAGE_BYTES})
    elif scenario == "stdio-progress-10000":
        counted = 0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal counted
            counted += 1

        await session.call_tool("progress", {"count": 10_000}, progress_callback=on_progress)
        return counted
    elif scenario in ("stdio-64", "http-64"):
        calls = iter(range(n))

        async def caller() -> None:
            for _ in calls:
                await echo(session)

        async with anyio.create_task_group() as callers:
            for _ in range(IN_FLIGHT):
                callers.start_soon(caller)
    else:
        for _ in range(n):
            await echo(session)
    return None


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=OPERATIONS)
    parser.add_argument("--server")
    parser.add_argument("--url")
    arguments = parser.parse_args()
    scenario, n = arguments.scenario, OPERATIONS[arguments.scenario]
    extra = {}
    async with AsyncExitStack() as stack:
        session = await open_session(stack, scenario, arguments.server, arguments.url)
        for _ in range(WARM_UP):
            await echo(session)
        if scenario == "idle-200":
            await anyio.sleep(1)
            before = kilobytes(ROLLUP, "Rss"), kilobytes(ROLLUP, "Pss")
        used, began = processor_seconds(), time.perf_counter()
        if scenario == "idle-200":
            for _ in range(n - 1):
                await open_session(stack, scenario, arguments.server, arguments.url)
        else:
            counted = await run(session, scenario, n)
            if counted is not None:
                extra["counted"] = counted
        seconds, after = time.perf_counter() - began, processor_seconds()
        if scenario == "idle-200":
            await anyio.sleep(1)
            extra["rss_per_session_kb"] = (kilobytes(ROLLUP, "Rss") - before[0]) / (n - 1)
            extra["pss_per_session_kb"] = (kilobytes(ROLLUP, "Pss") - before[1]) / (n - 1)
        report = {
            "scenario": scenario,
            "n": n,
            "seconds": seconds,
            "user_cpu_s": after[0] - used[0],
            "sys_cpu_s": after[1] - used[1],
            "max_rss_kb": kilobytes("/proc/self/status", "VmHWM"),
        }
        print(json.dumps(report | extra), flush=True)


anyio.run(main)
