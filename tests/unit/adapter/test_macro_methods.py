"""What macros ask the adapter."""

from types import SimpleNamespace

from dbt.adapters.tablestore.macro_methods import MacroMethods


def test_a_key_that_names_a_column_is_quoted_and_an_expression_is_not():
    columns = [SimpleNamespace(name=one, quoted=f"`{one}`") for one in ("Order Id", "day")]
    config = {"unique_key": ["order id", "day", "upper(day)", "`x`"]}
    assert MacroMethods.tablestore_keys(None, config, columns) == ["`Order Id`", "`day`", "upper(day)", "`x`"]
