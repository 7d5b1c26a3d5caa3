# The server of llama.cpp, as part of the PyPI package `xllamacpp`, with a tiny generated model: random weights, but a working
# tokenizer and chat template. Its output is random text, or a call of an offered tool with random arguments.
#
# Prints one line of JSON, `{"url": URL}`, and exits when its input ends. SERVER_KEY is the accepted API key.

import array
import json
import os
import random
import struct
import sys
import tempfile
from collections import Counter

import xllamacpp

CONTEXT = 8192
WIDTH, INNER, HEADS, LAYERS = 64, 128, 4, 1
MERGES = 120
SPECIAL = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
END = "<|im_end|>"

# Training text of the tokenizer.
TEXT = """The harbour opens at nine and the boats leave before noon. Ask for the weather in the city first: how many days it
rains, and what the wind is like. {"name": "weather__forecast", "arguments": {"city": "Oslo", "days": 3}} A user asks and the
assistant answers, with the tools that are there or without them."""

TEMPLATE = """{%- if tools %}<|im_start|>system
{%- if messages[0].role == 'system' %}
{{ messages[0].content }}
{%- endif %}

You may call these functions:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}

Answer each call as JSON between tags:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == 'assistant' and message.tool_calls %}<|im_start|>assistant
{%- if message.content %}
{{ message.content }}
{%- endif %}
{%- for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif not (message.role == 'system' and tools) %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{%- if tools and messages[-1].role == 'user' %}{{ "\t" }}{% else %}{{ "\n" }}{% endif %}
{%- endif %}"""


def byte_symbols():
    """Returns a printable character for each byte, as in byte-level tokenizers: itself, or the next unused character."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    odd = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + place) for place, byte in enumerate(odd)}


def tokenizer():
    """Returns the tokens and the merges of a byte-pair encoding."""
    symbols = byte_symbols()
    words = [[symbols[byte] for byte in f" {word}".encode()] for word in TEXT.split()]
    tokens, merges = list(symbols.values()), []
    for _ in range(MERGES):
        pairs = Counter(pair for word in words for pair in zip(word, word[1:]))
        left, right = max(pairs, key=lambda pair: (pairs[pair], pair))
        tokens.append(left + right)
        merges.append(f"{left} {right}")
        for word in words:
            place = 0
            while place + 1 < len(word):
                if (word[place], word[place + 1]) == (left, right):
                    word[place : place + 2] = [left + right]
                place += 1
    return tokens + SPECIAL, merges


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def member(name, value):
    """Encodes a key and its value in GGUF: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>."""
    if isinstance(value, bool):
        return text(name) + struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return text(name) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value[0], int):
        return text(name) + struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))


def shapes(vocabulary):
    yield "token_embd.weight", (WIDTH, vocabulary)
    yield "output_norm.weight", (WIDTH,)
    yield "output.weight", (WIDTH, vocabulary)
    for layer in range(LAYERS):
        of_layer = f"blk.{layer}."
        yield of_layer + "attn_norm.weight", (WIDTH,)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"{of_layer}{name}.weight", (WIDTH, WIDTH)
        yield of_layer + "ffn_norm.weight", (WIDTH,)
        yield of_layer + "ffn_gate.weight", (WIDTH, INNER)
        yield of_layer + "ffn_up.weight", (WIDTH, INNER)
        yield of_layer + "ffn_down.weight", (INNER, WIDTH)


# What follows some tokens of the model, by weights that are not random: the template adds a tab if the model may call a
# tool. llama.cpp then lets it write nothing but a call that fits the tool's schema.
NEXT = {"\t": "<tool_call>", "<tool_call>": "\n", "}": "</tool_call>", "</tool_call>": END}


def steer(name, values, tokens):
    """Sets the few weights that are not random, so that the tokens in NEXT follow each other, calls begin only there, and
    the text is printable. The layers do not change the first members of a hidden vector: one for each token in
    NEXT, and one that all tokens have."""
    symbols = byte_symbols()
    index = {symbol: tokens.index(symbols[ord(symbol)]) for symbol in "\t\n}"}
    index |= {token: tokens.index(token) for token in SPECIAL}
    same = len(NEXT)
    if name == "token_embd.weight":
        for token in range(len(tokens)):
            values[token * WIDTH : token * WIDTH + same + 1] = [0.0] * same + [0.4]
        for member, token in enumerate(NEXT):
            values[index[token] * WIDTH + member] = 4.0
    elif name == "output.weight":
        values[index["<tool_call>"] * WIDTH + same] = -8.0
        for byte in [*range(0x20), *range(0x7F, 0x100)]:
            values[tokens.index(symbols[byte]) * WIDTH + same] = -8.0
        for member, token in enumerate(NEXT.values()):
            values[index[token] * WIDTH + member] = 8.0
    elif name.endswith(("attn_output.weight", "ffn_down.weight")):
        inputs = len(values) // WIDTH
        values[: (same + 1) * inputs] = [0.0] * ((same + 1) * inputs)


def model():
    """Returns the bytes of the model file."""
    tokens, merges = tokenizer()
    members = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        # Token types of llama.cpp: 1 is normal, 3 a control token, 4 a user-defined token that is also output as text.
        "tokenizer.ggml.token_type": [
            1 if token not in SPECIAL else 4 if "tool" in token else 3 for token in tokens
        ],
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": tokens.index(END),
        "tokenizer.ggml.eos_token_id": tokens.index(END),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }
    weights, described, offset = [], [], 0
    chance = random.Random(7)
    for name, shape in shapes(len(tokens)):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [1.0] * count if len(shape) == 1 else [chance.gauss(0, 0.05) for _ in range(count)]
        steer(name, values, tokens)
        data = array.array("f", values).tobytes()
        described.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset))
        weights.append(data + bytes(-len(data) % 32))
        offset += len(weights[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(described), len(members))
    head += b"".join(member(*own) for own in members.items()) + b"".join(described)
    return head + bytes(-len(head) % 32) + b"".join(weights)


def main():
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(model())
        file.flush()
        params = xllamacpp.CommonParams()
        params.model.path = file.name
        params.model_alias = {"tiny"}
        params.n_ctx = CONTEXT
        params.n_parallel = 1
        params.cpuparams.n_threads = 1
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [os.environ["SERVER_KEY"]]
        params.use_jinja = True
        server = xllamacpp.Server(params)
        print(json.dumps({"url": server.listening_address}), flush=True)
        sys.stdin.read()
    os._exit(0)


main()
