"""Tool `edit_file`: texts replaced, all or none, or an error that shows what is there instead."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from goldseam.kernel.json_text import Json
from goldseam.tools.arguments import RelativePath
from goldseam.tools.context import ToolContext
from goldseam.tools.text_files import bytes_to_change, fresh_lines, there_now, write_bytes
from goldseam.tools.tool import Output, Tool, ToolFailure, described_beside
from goldseam.workspace.edit_series import (
    Replacement,
    Series,
    SeriesRefusedError,
    edit_in_turn,
)

OldText = Annotated[
    str,
    Meta(
        min_length=1,
        description="The exact text that is there now, once in the file.",
        examples=["return a - b"],
    ),
]
NewText = Annotated[
    str, Meta(description="The text to stand in its place.", examples=["return a + b"])
]
Everywhere = Annotated[bool, Meta(description="Whether to replace it wherever it stands.")]


class OneEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of several edits."""

    old_text: OldText
    new_text: NewText
    replace_all: Everywhere = False


class EditFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `edit_file`."""

    example: ClassVar[Json] = {
        "path": "src/app.py",
        "old_text": "return a - b",
        "new_text": "return a + b",
    }

    path: RelativePath
    old_text: OldText | UnsetType = UNSET
    new_text: NewText | UnsetType = UNSET
    replace_all: Everywhere = False
    edits: Annotated[
        tuple[OneEdit, ...],
        Meta(max_length=100, description="Several edits, in order; all are made or none."),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse what is neither one edit nor several."""
        is_one = self.old_text is not UNSET, self.new_text is not UNSET
        if self.edits and any((*is_one, self.replace_all)):
            raise ValueError("give either old_text and new_text, or edits")
        if not self.edits and not all(is_one):
            missing = [
                name
                for name, there in zip(("old_text", "new_text"), is_one, strict=True)
                if not there
            ]
            raise ValueError(
                f"{' and '.join(missing)} missing; give old_text and new_text, or edits"
            )

    @property
    def replacements(self) -> tuple[Replacement, ...]:
        """The edits as they are to be made."""
        if self.old_text is not UNSET and self.new_text is not UNSET:
            one = Replacement(old=self.old_text, new=self.new_text, everywhere=self.replace_all)
            return (one,)
        return tuple(
            Replacement(old=edit.old_text, new=edit.new_text, everywhere=edit.replace_all)
            for edit in self.edits
        )


async def edit_file(given: EditFile, context: ToolContext) -> Output:
    """Replace the texts and return the lines as they are now."""
    file = bytes_to_change(given.path, context)
    replacements = given.replacements
    try:
        series = edit_in_turn(file.content, replacements)
    except SeriesRefusedError as refusal:
        raise ToolFailure(_refused(file.path, refusal, count=len(replacements))) from refusal
    if series.content == file.content:
        raise ToolFailure(f"{file.path} is unchanged: the edits undo each other.")
    write_bytes(file.path, series.content, context)
    return Output(
        text="\n".join((fresh_lines(file.path, series.content, series.regions), *_notes(series)))
    )


def _notes(series: Series) -> list[str]:
    notes: list[str] = []
    if sum(series.times) > len(series.times):
        notes.append(f"[{sum(series.times)} places were replaced]")
    if series.loose:
        which = "" if len(series.times) == 1 else f" of edit {', '.join(map(str, series.loose))}"
        notes.append(
            f"[old_text{which} was not there exactly; the only place that fits but for white space "
            "was edited, in the file's own indentation: check the lines above]"
        )
    return notes


def _refused(path: str, refusal: SeriesRefusedError, *, count: int) -> str:
    which = "" if count == 1 else f"edit {refusal.number} of {count}: "
    told = f"{path} is unchanged: {which}{refusal.message}."
    hint = there_now(refusal.content, refusal.lines)
    if hint and refusal.number > 1:
        hint = hint.replace("There now:", "There, once the edits before it are made:", 1)
    return "\n".join(filter(None, (told, hint)))


EDIT_FILE = Tool(
    name="edit_file",
    arguments=EditFile,
    run=edit_file,
    description=described_beside(__name__),
)
