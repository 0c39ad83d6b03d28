"""Rules by which a parsed query becomes one that Spark's SQL can say: a correction for each kind of node.

`tree` applies them; the others are the rules, by what they are about. A rule takes one node of the tree and the
dialect, and returns the node's replacement, or None to keep it; it raises Untranslatable for what Spark cannot say.
Imports only `refusal` of the room above.
"""
