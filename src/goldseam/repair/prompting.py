"""The texts that the model is told: one Markdown file each in `prompts/`, `{names}` filled in."""

from importlib.resources import files


def fill(name: str, **values: str) -> str:
    """Return the text `name`, its `{names}` filled in; a value's own braces stay as they are."""
    text = (files("goldseam.repair.prompts") / f"{name}.md").read_text(encoding="utf-8").strip()
    return text.format(**values)
