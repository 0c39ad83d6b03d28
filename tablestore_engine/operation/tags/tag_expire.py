"""Tag expiration: removes the tags whose time is over, and the files that only they name."""

from __future__ import annotations

from tablestore_engine.errors import TagNotFound
from tablestore_engine.operation.tags.tags import delete_tag
from tablestore_engine.table_state import TableState


def expire_tags(state: TableState, now_millis: int, older_than_millis: int | None = None) -> list[str]:
    """Remove the tags whose time is over, and those made before a time (milliseconds since 1970). Returns their names.

    The age of a tag without a time counts from when its file was written.
    """
    removed = []
    for tag in state.tags.stored():
        over = tag.lifetime is not None and tag.lifetime.is_over(now_millis)
        if over or (older_than_millis is not None and tag.created_millis < older_than_millis):
            try:
                delete_tag(state, tag.name)
            except TagNotFound:
                continue  # another process removes it
            removed.append(tag.name)
    return removed
