# Updates `crates/models/src/known.json` from LiteLLM's list of models: context sizes, prices and capabilities of the models that the
# file contains, and of the models in further arguments.
#
#     pip download --no-deps litellm && unzip -p litellm-*.whl '*/model_prices_and_context_window_backup.json' > prices.json
#     python3 tests/models/prices.py prices.json "LiteLLM 1.110.2" 2026-11-24 [openai:MODEL ...]
#
# Values that the list does not have are omitted, and shown as unknown. A model that is missing in the list is an error, and must be
# removed manually.

import json
import sys
from pathlib import Path

TABLE = Path(__file__).parents[2] / "crates/models/src/known.json"
ABILITIES = {
    "images": "supports_vision",
    "audio": "supports_audio_input",
    "files": "supports_pdf_input",
    "tools": "supports_function_calling",
    "thinking": "supports_reasoning",
}


def million(each):
    """Returns the price of a million tokens."""
    cost = round(each * 1_000_000, 6)
    return int(cost) if cost == int(cost) else cost


def long_price(listed):
    """Returns the prices of requests with a longer context, or None if they are the same."""
    name = next((name for name in listed if name.startswith("input_cost_per_token_above_") and name.endswith("k_tokens")), None)
    if name is None:
        return None
    above = name.removeprefix("input_cost_per_token_above_").removesuffix("k_tokens")
    output = listed[f"output_cost_per_token_above_{above}k_tokens"]
    return {"above": int(above) * 1_000, "input": million(listed[name]), "output": million(output)}


def model(kind, name, listing):
    listed = listing[f"gemini/{name}" if kind == "gemini" else name]
    known = {
        "kind": kind,
        "id": name,
        "context": listed["max_input_tokens"],
        "maxOutput": listed["max_output_tokens"],
        "input": million(listed["input_cost_per_token"]),
        "output": million(listed["output_cost_per_token"]),
    }
    for ours, theirs in (("cachedInput", "cache_read_input_token_cost"), ("writtenInput", "cache_creation_input_token_cost")):
        if listed.get(theirs) is not None:
            known[ours] = million(listed[theirs])
    if long := long_price(listed):
        known["long"] = long
    known["takes"] = [ability for ability, name in ABILITIES.items() if listed.get(name)]
    return known


def main(prices, source, as_of, *more):
    listing = json.loads(Path(prices).read_text())
    names = [(known["kind"], known["id"]) for known in json.loads(TABLE.read_text())["models"]]
    names += [tuple(name.split(":", 1)) for name in more]
    lines = ",\n".join("    " + json.dumps(model(*name, listing)) for name in names)
    source = f"the providers' prices as {source} lists them, in USD for a million tokens"
    head = f'{{\n  "asOf": {json.dumps(as_of)},\n  "from": {json.dumps(source)},\n  "models": [\n'
    TABLE.write_text(f"{head}{lines}\n  ]\n}}\n")


main(*sys.argv[1:])
