"""Types of arguments that several tools share: one wording, one range, one example each."""

from typing import Annotated, TypeAlias

from msgspec import Meta

RelativePath: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        description="Path relative to the workspace's root.",
        examples=["src/app.py"],
    ),
]
Folder: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        description="Folder relative to the workspace's root; `.` is the root itself.",
        examples=["."],
    ),
]
LineNumber: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000, examples=[1])]
Seconds: TypeAlias = Annotated[
    float,
    Meta(ge=1, le=600, description="Seconds after which it is stopped.", examples=[120]),
]
TestNames: TypeAlias = tuple[Annotated[str, Meta(min_length=1)], ...]
