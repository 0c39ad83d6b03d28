"""Names are compared without regard to case, apart from those that differ in case only."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ColumnNotFound, SchemaError
from tablestore_engine.schema.types.names import Names, Resolver


@pytest.mark.parametrize(
    ("names", "asked", "found"),
    [
        (["id", "V"], "ID", "id"),
        (["id", "V"], "v", "V"),
        (["id", "V"], "w", None),
        (["id", "Id", "V"], "id", "id"),
        (["id", "Id", "V"], "Id", "Id"),
        (["id", "Id", "V"], "ID", None),
        (["id", "Id", "V"], "v", "V"),
        (["Straße", "STRASSE"], "straße", "Straße"),
    ],
)
def test_a_name_is_found(names, asked, found):
    known = Names(names)
    assert known.find(asked) == found
    assert (asked in known) == (found is not None)


def test_names_that_are_alike_or_repeated():
    assert Names(["a", "b", "B", "A"]).alike == ("a", "A")
    assert Names(["a", "b"]).alike == ()
    assert not Names(["a", "A"]).has_repeated
    assert Names(["a", "b", "a"]).has_repeated
    assert Names(["a", "b", "a"]).position("A") == 0


def test_another_spelling_is_missed_where_the_session_distinguishes_it():
    Resolver(lambda: 1 / 0).check_spelling("id", "id")  # the session is not asked
    Resolver(lambda: False).check_spelling("ID", "id")
    with pytest.raises(ColumnNotFound, match=r"Column 's.ID' does not exist: .* by their case. Did you mean 's.id'"):
        Resolver(lambda: True).check_spelling("s.ID", "s.id")


@pytest.mark.parametrize("case_counts", [False, True])
def test_a_resolver_says_which_spellings_are_one_name(case_counts):
    resolver = Resolver(lambda: case_counts)
    assert resolver.distinguishes == case_counts
    assert resolver.is_same("id", "id")
    assert resolver.is_same("ID", "id") != case_counts


def test_a_name_that_must_occur_once():
    names = Names(["a", "b", "a", "C", "c"])
    for name in ("b", "B", "C", "missing"):
        names.check_once(name, "The source")
    with pytest.raises(SchemaError, match="The source has more than one column 'A'"):
        names.check_once("A", "The source")


def test_new_names_that_are_alike_are_refused_where_the_session_reads_them_as_one():
    Resolver(lambda: 1 / 0).check_alike(["id", "v"])  # the session is not asked
    Resolver(lambda: True).check_alike(["id", "ID"])
    with pytest.raises(
        SchemaError, match=r"Two columns are named 'ID' \(the other one 'id'\)\. .*caseSensitive = true"
    ):
        Resolver().check_alike(["id", "ID"])
    with pytest.raises(SchemaError, match="Two fields are named 'B'"):
        Resolver().refuse_alike(("b", "B"), "fields")
