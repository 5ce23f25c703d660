"""All built-in tools, as one value for a toolbox."""

from goldseam.tools.builtin.apply_patch import APPLY_PATCH
from goldseam.tools.builtin.edit_file import EDIT_FILE
from goldseam.tools.builtin.glob import GLOB
from goldseam.tools.builtin.jobs import JOBS
from goldseam.tools.builtin.list_dir import LIST_DIR
from goldseam.tools.builtin.read_file import READ_FILE
from goldseam.tools.builtin.run_command import RUN_COMMAND
from goldseam.tools.builtin.run_tests import RUN_TESTS
from goldseam.tools.builtin.search import SEARCH
from goldseam.tools.builtin.try_edits import TRY_EDITS
from goldseam.tools.builtin.write_file import WRITE_FILE
from goldseam.tools.tool import AnyTool


def builtin_tools() -> tuple[AnyTool, ...]:
    """Return the built-in tools."""
    return (
        APPLY_PATCH,
        EDIT_FILE,
        GLOB,
        JOBS,
        LIST_DIR,
        READ_FILE,
        RUN_COMMAND,
        RUN_TESTS,
        SEARCH,
        TRY_EDITS,
        WRITE_FILE,
    )
