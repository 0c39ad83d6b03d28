"""Every option, declared once: those that this engine acts on by what they are about, those that it refuses
(`foreign_options`) and those that it keeps for other engines (`kept_options`).

Knows what an option is (`options.option`, `options.option_type`), and nothing of tables.
"""
