# LiteLLM's proxy: it speaks OpenAI's chat completions and Responses, Anthropic's Messages and Gemini, and translates each into what
# the provider behind it speaks, which is the address in UPSTREAM (OpenAI's wire), or mocks an answer.
#
# Prints one line of JSON, `{"url": URL}`, and ends with its input. SERVER_KEY is the key that it takes, and the one of the provider.

import asyncio
import json
import os
import socket
import sys
import tempfile

# It writes a banner to standard output, which here goes where its log goes.
SAYS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

KEY, UPSTREAM = os.environ["SERVER_KEY"], os.environ["UPSTREAM"]

# Nothing is fetched: the prices are those that it brings along.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_MODE"] = "PRODUCTION"


def through(name):
    """A model that is asked at the provider behind."""
    return {"model_name": name, "litellm_params": {"model": "openai/gpt-4o", "api_base": UPSTREAM, "api_key": KEY}}


def mocked(name, answer):
    """A model whose answer is made here."""
    return {"model_name": name, "litellm_params": {"model": "openai/gpt-4o", "api_key": KEY, "mock_response": answer}}


CONFIG = {
    "model_list": [
        *map(through, ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash")),
        mocked("mocked", "Hello from the proxy itself."),
        mocked("throttled", "litellm.RateLimitError"),
        mocked("breaks", "Exception: mock_streaming_error"),
        # Fails, and is answered by another.
        mocked("falls-back", "litellm.InternalServerError"),
    ],
    "litellm_settings": {"num_retries": 0, "drop_params": True, "telemetry": False},
    "router_settings": {"num_retries": 0, "disable_cooldowns": True, "fallbacks": [{"falls-back": ["mocked"]}]},
    "general_settings": {"master_key": KEY},
}


async def serve():
    import uvicorn
    from litellm.proxy.proxy_server import app

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.05)
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), file=SAYS, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
    # JSON is YAML.
    json.dump(CONFIG, config)
    config.flush()
    os.environ["CONFIG_FILE_PATH"] = config.name
    asyncio.run(serve())
os._exit(0)
