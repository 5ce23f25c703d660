"""Write a result for people: `report.md`. Pure."""

from goldseam.journal.visible import visible
from goldseam.repair.result import (
    CandidateSection,
    FileSection,
    OutcomeCounts,
    Result,
    SwitchSection,
    TestsSection,
)

_MOST_NAMES = 50


def report_of(result: Result, diff: str) -> str:
    """Return the report of a repair as Markdown."""
    sections = [
        f"# {result.verdict}: {visible(result.issue)}".rstrip(": "),
        result.message,
        _facts(result),
        _models(result.models, result.switches),
        _answer(result.answer),
        _tests(result.tests),
        _files(result.files),
        _warnings(result.warnings),
        _patch(diff),
    ]
    return _seen("\n\n".join(section for section in sections if section) + "\n")


def _seen(text: str) -> str:
    """Write out what could act on a terminal or hide from the eye, in whatever a stranger wrote."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def _facts(result: Result) -> str:
    sandbox = result.sandbox.removeprefix("sandbox: ")
    rows = [f"- Run: `{result.run_id}`", f"- Model: {result.model}", f"- Sandbox: {sandbox}"]
    usage = result.usage
    if usage is not None:
        total = usage.tokens.total
        tokens = "unknown" if total is None else str(total)
        held = f" (and {usage.held_tokens} held as unknown)" if usage.held_tokens else ""
        rows.append(
            f"- Used: {usage.model_calls} model calls, {usage.action_steps} steps, "
            f"{tokens} tokens{held}, {usage.seconds:.1f} s; "
            f"{usage.failed_tool_calls} tool calls failed"
        )
    return "\n".join(rows)


def _models(models: tuple[CandidateSection, ...], switches: tuple[SwitchSection, ...]) -> str:
    """Tell what each model took, and each change from one to another."""
    if not any(model.calls for model in models):
        return ""
    rows = [
        "## Models",
        "",
        "| | calls | failed | useless | tokens in | from cache | tokens out | dollars | waited |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_model_row, models),
    ]
    for switch in switches:
        rows += ["", f"From {switch.before} to {switch.after}: {visible(switch.why)}"]
        rows += [f"- {visible(loss)}" for loss in switch.losses[:_MOST_NAMES]]
    return "\n".join(rows)


def _model_row(model: CandidateSection) -> str:
    share = "" if model.cache_share is None else f"{model.cache_share:.0%}"
    dollars = "unknown" if model.dollars is None else f"{model.dollars:.4f}"
    fresh = model.fresh_tokens + model.cached_tokens
    return (
        f"| {visible(model.name)} | {model.calls} | {model.failures} | {model.useless} | {fresh} "
        f"| {share} | {model.output_tokens} | {dollars} | {model.waited_seconds:.1f} s |"
    )


def _answer(answer: str) -> str:
    return f"## What the model says\n\n{_quoted(answer)}" if answer.strip() else ""


def _tests(tests: TestsSection | None) -> str:
    if tests is None:
        return ""
    lines = [
        "## Tests",
        "",
        f"Command: `{tests.command}`",
        "",
        "| | passed | failed | errors | skipped | |",
        "|---|---|---|---|---|---|",
        _row("without the patch", tests.before),
    ]
    if tests.after is not None:
        lines.append(_row("with the patch", tests.after))
    lists = [
        _names("Fail without the patch, pass with it", tests.fixed),
        _names("Broken by the patch", tests.broken),
        _names("Failed before, still fail", tests.still_failing),
        _names("Flaky, counted neither way", tests.flaky),
    ]
    return "\n".join(lines) + "".join(lists)


def _row(title: str, counts: OutcomeCounts) -> str:
    remark = "timed out" if counts.timed_out else f"{counts.seconds:.1f} s"
    return (
        f"| {title} | {counts.passed} | {counts.failed} | {counts.errors} "
        f"| {counts.skipped} | {remark} |"
    )


def _names(title: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    rows = "".join(f"\n- `{visible(name)}`" for name in names[:_MOST_NAMES])
    more = f"\n- … and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"\n\n{title}:\n{rows}{more}"


def _files(files: tuple[FileSection, ...]) -> str:
    if not files:
        return ""
    rows = [f"- `{visible(file.path)}` {file.status}{_lines(file)}" for file in files]
    text = "## Files\n\n" + "\n".join(rows)
    existing = [visible(file.path) for file in files if file.is_existing_test]
    if existing:
        names = ", ".join(f"`{path}`" for path in existing)
        text += f"\n\n**The patch changes existing tests: {names}. Read those changes first.**"
    return text


def _lines(file: FileSection) -> str:
    return "" if file.added is None else f" (+{file.added} -{file.removed})"


def _warnings(warnings: tuple[str, ...]) -> str:
    return "## Warnings\n\n" + "\n".join(f"- {text}" for text in warnings) if warnings else ""


def _patch(diff: str) -> str:
    if not diff:
        return ""
    fence = "`" * max(3, _longest_run_of_backticks(diff) + 1)
    return f"## Patch\n\n{fence}diff\n{diff.rstrip()}\n{fence}"


def _longest_run_of_backticks(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
