"""The tokens of one reply, from the counts of any host (OAI-26). Missing is unknown, never 0."""

from goldseam.kernel.request import TokenUsage
from goldseam.models.dialect import Body
from goldseam.models.json_paths import inner_count


def usage_of(counts: Body) -> TokenUsage:
    """Return what `counts` say; fresh input leaves out what the cache gave and took.

    Some hosts count thoughts outside the answer's tokens: what the total leaves over is output.
    """
    prompt, completion = (
        inner_count(counts, "prompt_tokens"),
        inner_count(counts, "completion_tokens"),
    )
    total = inner_count(counts, "total_tokens")
    reads = (
        inner_count(counts, "prompt_tokens_details", "cached_tokens"),
        inner_count(counts, "prompt_cache_hit_tokens"),  # DSK-4
        inner_count(counts, "cached_tokens"),
    )
    read = next((count for count in reads if count is not None), None)
    written = inner_count(counts, "prompt_tokens_details", "cache_write_tokens")
    if completion is not None and prompt is not None and total is not None:
        completion = max(completion, total - prompt)
    fresh = None if prompt is None else max(prompt - (read or 0) - (written or 0), 0)
    return TokenUsage(
        input=fresh,
        output=completion,
        cache_read=read,
        cache_write=written,
        reasoning=inner_count(counts, "completion_tokens_details", "reasoning_tokens"),
    )
