"""A run as a vendor's request body: its whole conversation, as that vendor would be sent it."""

import json
from collections.abc import Mapping

from msgspec import Struct

from goldseam.app.models import DIALECTS, JSON_TEXT
from goldseam.journal.asking import whole_request
from goldseam.journal.reading import ReadRecord
from goldseam.kernel.request import Remark
from goldseam.models.catalog import Catalog, DialectName
from goldseam.models.dialect import Profile

VENDOR_FORMATS: Mapping[str, DialectName] = {
    "openai": "openai_chat",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


class Exported(Struct, frozen=True, kw_only=True):
    """The body as JSON text, the model it is written for, and what it cannot say."""

    text: str
    model: str
    losses: tuple[Remark, ...]


def vendor_body(record: ReadRecord, form: str, *, catalog: Catalog) -> Exported:
    """Return the body in `form`, one of `VENDOR_FORMATS`, nothing dropped from it to make room.

    It is written for the run's last model where that speaks this dialect, so that its seals stay;
    else for the first host of the catalog that does.

    Raises:
        JournalError: the record is not whole.
    """
    asked = whole_request(record)
    dialect = DIALECTS[VENDOR_FORMATS[form]]()
    profile = _profile(asked.model, VENDOR_FORMATS[form], catalog)
    written = dialect.write(asked.request, profile)
    return Exported(
        text=json.dumps(written.body, indent=2) + "\n",
        model=f"{profile.host}:{profile.model}",
        losses=tuple(dict.fromkeys(written.losses)),
    )


def _profile(asked: str, dialect: DialectName, catalog: Catalog) -> Profile:
    name, _, model = asked.removeprefix(f"{JSON_TEXT}:").partition(":")
    own = catalog.get(name)
    if own is not None and own.dialect == dialect and model:
        return own.profile(model)
    host = next(host for host in catalog.values() if host.dialect == dialect and host.model)
    return host.profile(host.model)
