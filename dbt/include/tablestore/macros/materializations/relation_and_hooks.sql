{# The start of a materialization, and its end. #}

{# The relation that there is, and the one that is built, of the given type; then the hooks before. #}
{% macro tablestore_open(type) -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {% do tablestore_pre_hooks() %}
  {% do return((existing_relation, this.incorporate(type=type))) %}
{%- endmacro %}


{% macro tablestore_pre_hooks() -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
{%- endmacro %}


{# Grants, comments and the hooks after. Returns what the materialization returns. A statement that already wrote the
   comment of the relation needs only those of the columns. #}
{% macro tablestore_close(target_relation, comments_relation=true) -%}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model, for_relation=comments_relation) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {% do return({'relations': [target_relation]}) %}
{%- endmacro %}
