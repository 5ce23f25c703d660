"""Search files with Python's own expressions, as a program of its own that can be ended any time.

An expression can take for ever and Python cannot interrupt one, so this runs as a child, by path
and isolated: it imports the standard library alone. It stands in the tree, reads one JSON object
(`pattern`, `ignore_case`, `max_matches`, `paths`) and writes one JSON line per match: path and line
number. It shows no text: who started it reads the lines beneath its own root.
"""

import codecs
import json
import os
import re
import stat
import sys
from typing import TextIO

_SNIFFED_BYTES = 8192
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def main(question: TextIO, answer: TextIO) -> None:
    """Answer the one question."""
    asked = json.load(question)
    fits = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0).search
    left = asked["max_matches"]
    for path in asked["paths"]:
        for number, line in enumerate(_text(path).split("\n"), 1):
            if fits(line.removesuffix("\r")):
                answer.write(json.dumps([path, number]) + "\n")
                answer.flush()
                left -= 1
                if not left:
                    return


def _text(path: str) -> str:
    content = _content(path)
    for mark, wide in _WIDE_MARKS:
        if content.startswith(mark):
            return content.decode(wide, "replace")
    if b"\0" in content[:_SNIFFED_BYTES]:
        return ""
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _content(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""  # gone or replaced since it was listed
    with os.fdopen(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
