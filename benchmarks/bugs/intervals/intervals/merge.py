"""Join spans and find the gaps between them."""


def merge(spans):
    """Return the spans as few blocks as possible, in order."""
    blocks = []
    for start, end in sorted(spans):
        if start > end:
            raise ValueError(f"a span cannot end before it starts: {start}-{end}")
        if blocks and start < blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(blocks[-1][1], end))
        else:
            blocks.append((start, end))
    return blocks


def free(spans, opens, closes):
    """Return the gaps between `opens` and `closes` that no span covers."""
    gaps = []
    at = opens
    for start, end in merge(spans):
        if start > at:
            gaps.append((at, min(start, closes)))
        at = max(at, end)
        if at >= closes:
            break
    if at < closes:
        gaps.append((at, closes))
    return gaps
