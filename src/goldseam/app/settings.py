"""The person's settings: one TOML file, strictly read; a repository's files are never settings.

Found at `GOLDSEAM_SETTINGS`, else `settings.toml` in the platform's configuration folder.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from platformdirs import user_config_path

from goldseam.kernel.budget import Limits
from goldseam.kernel.errors import UsageError
from goldseam.models.catalog import BadRowError, Catalog, read_catalog
from goldseam.models.router.patience import Patience
from goldseam.tools.policy import Rule


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person may settle once for all runs; each has an option that wins over it."""

    model: str | None = None
    test: str | None = None
    require_sandbox: bool = False
    test_limit_s: float = 300.0
    limits: Limits = field(default_factory=Limits)
    rules: tuple[Rule, ...] = ()
    hosts: dict[str, dict[str, Any]] = {}
    """Rows for the catalog of hosts: new ones, or fields that replace those of a row."""
    chains: dict[str, tuple[str, ...]] = {}
    """Names for several models, asked in their order; `--model NAME` means such a chain."""
    patience: Patience = Patience()


def settings_path(environ: Mapping[str, str]) -> Path:
    """Return where the settings file is, whether it is there or not."""
    given = environ.get("GOLDSEAM_SETTINGS", "").strip()
    if given:
        return Path(given).expanduser().absolute()
    return user_config_path("goldseam", appauthor=False) / "settings.toml"


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings; those of a missing file are the defaults, unless it was named.

    Raises:
        UsageError: unreadable, not TOML, an unknown name, or a value of the wrong kind.
    """
    path = settings_path(environ)
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        if environ.get("GOLDSEAM_SETTINGS", "").strip():
            raise UsageError(f"no settings file {path} (named by GOLDSEAM_SETTINGS)") from error
        return Settings()
    except OSError as error:
        raise UsageError(f"cannot read the settings {path}: {error.strerror}") from error
    try:
        return msgspec.convert(tomllib.loads(content.decode("utf-8")), Settings)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"broken settings {path}: {_one_line(error)}") from error


def hosts_of(settings: Settings) -> Catalog:
    """Return every host that can be asked, with the person's own.

    Raises:
        UsageError: a row of the settings is not as it must be.
    """
    try:
        return read_catalog(settings.hosts)
    except BadRowError as error:
        raise UsageError(f"broken settings: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
