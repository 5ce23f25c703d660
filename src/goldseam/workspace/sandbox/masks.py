"""Which places of a machine commands must not see: names, and which of them are there."""

import os
from collections.abc import Iterable
from pathlib import Path

SCRATCH = ("/tmp", "/run", "/var/run", "/var/tmp")  # noqa: S108 - places to mask, not to write
"""Shared places: sockets, other programs' files. Inside they are empty, writable and gone after."""

_OF_THE_MACHINE = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/etc/docker",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/spool/cron",
)

_BENEATH_HOME = (
    # keys and tokens
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".boto",
    ".s3cfg",
    ".config",
    ".docker",
    ".kube",
    ".minikube",
    ".terraform.d",
    ".terraformrc",
    ".vault-token",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".gitconfig",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pip",
    ".condarc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".bundle/config",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".sbt/credentials",
    ".ivy2/.credentials",
    ".nuget/NuGet",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".dbt",
    ".snowsql",
    ".databrickscfg",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token",
    ".oci",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".pki",
    ".mozilla",
    ".thunderbird",
    "snap",
    # what was typed
    ".bash_history",
    ".zsh_history",
    ".history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".lesshst",
    ".viminfo",
    ".local/share/fish",
    # other agents
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".cursor",
    ".aider",
    ".goose",
    ".continue",
    ".local/share/opencode",
)


def masked_places(home: Path, hidden: Iterable[Path]) -> tuple[str, ...]:
    """Return the secret places there are on this machine, links followed, outermost alone.

    `hidden` are the caller's own; none of the result lies beneath another or beneath `SCRATCH`.
    """
    named = [Path(place) for place in _OF_THE_MACHINE]
    named += [*(home / name for name in _BENEATH_HOME), *hidden]
    there = sorted({os.path.realpath(place) for place in named if os.path.lexists(place)})
    kept: list[str] = []
    for place in there:
        if not lies_beneath(place, (*kept, *scratch_places())):
            kept.append(place)
    return tuple(kept)


def scratch_places() -> tuple[str, ...]:
    """Return `SCRATCH` as far as it is there, links followed, each once."""
    there = (os.path.realpath(place) for place in SCRATCH if Path(place).is_dir())
    return tuple(dict.fromkeys(there))


def lies_beneath(place: str, folders: Iterable[str]) -> bool:
    """Return whether `place` lies truly within one of `folders`; compares whole components."""
    return any(place != folder and Path(place).is_relative_to(folder) for folder in folders)
