"""The usage of a turn or a session in words: tokens, cost, time, context, retries."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:  # `status` is to start fast
    from chorus.model.api.json_api import SessionJson, TokensJson, TurnJson


def describe_use(use: TurnJson | SessionJson) -> list[str]:
    parts = []
    if tokens := use.get("tokens"):
        parts.append(describe_tokens(tokens))
    if (cost := use.get("cost_usd")) is not None:
        parts.append(f"${cost:.4f}")
    if (duration := use.get("duration_ms")) is not None:
        parts.append(f"{duration / 1000:.1f} s")
    if (context := use.get("context")) is not None:
        window = use.get("window")
        parts.append(f"context {context}" + (f" of {window}" if window else ""))
    if retries := use.get("retries"):
        parts.append(f"{retries} retries" if retries > 1 else "1 retry")
    return parts


def describe_tokens(tokens: TokensJson) -> str:
    read = tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
    cached = f" ({tokens['cache_read']} cached)" if tokens["cache_read"] else ""
    return f"{read} tokens in{cached}, {tokens['output']} out"
