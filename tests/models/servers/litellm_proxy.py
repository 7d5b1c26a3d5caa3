# LiteLLM's proxy with the APIs of OpenAI (Chat Completions and Responses), Anthropic (Messages) and Gemini. Forwards requests to the
# provider at the address UPSTREAM, which has OpenAI's API, or mocks a response.
#
# Prints one line of JSON, `{"url": URL}`, and exits when its input ends. SERVER_KEY is the key of the proxy and of the provider.

import asyncio
import json
import os
import socket
import sys
import tempfile

# LiteLLM writes a banner to standard output, which is therefore redirected to standard error.
OUTPUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

KEY, UPSTREAM = os.environ["SERVER_KEY"], os.environ["UPSTREAM"]

# Uses the bundled prices, so that nothing is downloaded.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_MODE"] = "PRODUCTION"


def through(name):
    """Returns a model whose requests are forwarded to the provider."""
    return {"model_name": name, "litellm_params": {"model": "openai/gpt-4o", "api_base": UPSTREAM, "api_key": KEY}}


def mocked(name, answer):
    """Returns a model with a mocked response."""
    return {"model_name": name, "litellm_params": {"model": "openai/gpt-4o", "api_key": KEY, "mock_response": answer}}


CONFIG = {
    "model_list": [
        *map(through, ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash")),
        mocked("mocked", "Hello from the proxy itself."),
        mocked("throttled", "litellm.RateLimitError"),
        mocked("breaks", "Exception: mock_streaming_error"),
        # Fails, so that the proxy falls back to another model.
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
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), file=OUTPUT, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
    # LiteLLM reads YAML, of which JSON is a subset.
    json.dump(CONFIG, config)
    config.flush()
    os.environ["CONFIG_FILE_PATH"] = config.name
    asyncio.run(serve())
os._exit(0)
