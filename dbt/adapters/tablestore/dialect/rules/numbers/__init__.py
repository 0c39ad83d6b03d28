"""Numbers: the kinds of their types, where the text or the tables show them, and the quotients that depend on these;
and the texts of intervals.

`kinds` answers, the others are rules. Imports `refusal` of the room above, `filling`, `clauses` and `tried` of the
counterparts, and the parts of intervals.
"""
