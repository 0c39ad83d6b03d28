"""Spark's own parser as a judge: whether it reads a statement, and which tables its plan names.

A plan is walked inside of the JVM, by a class that Spark's own compiler makes from `_WALK`: one call per statement,
where a walk from here would take thousands. Names of common table expressions are left out where they are seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tablestore_engine.sql.query.bind import FILE_FORMATS

Name = tuple[str, ...]

# What a plan calls a table that must be there, and what it calls any other name.
_READS = frozenset(["UnresolvedRelation", "UnresolvedTable", "UnresolvedTableOrView", "UnresolvedView"])
_NAMES = frozenset(["UnresolvedIdentifier", "TableIdentifier"])

_TEXTS = frozenset(["UnresolvedExecuteImmediate", "DeclareCursor"])  # what keeps a statement as text

_WALK = """
import org.apache.spark.sql.catalyst.expressions.Expression;

private java.util.TreeSet found = new java.util.TreeSet();

public String apply(Object plan) {
  found.clear();
  walk(plan, new java.util.HashSet());
  StringBuilder out = new StringBuilder();
  for (java.util.Iterator it = found.iterator(); it.hasNext();) out.append(it.next()).append('\\n');
  return out.toString();
}

private void walk(Object value, java.util.Set ctes) {
  if (value instanceof scala.collection.Iterable) {
    each(((scala.collection.Iterable) value).iterator(), ctes);
  } else if (value instanceof scala.Product) {
    scala.Product product = (scala.Product) value;
    String kind = product.productPrefix();
    if (kind.equals("UnresolvedWith")) {
      walk(product.productElement(0), named(product, ctes));
      return;
    }
    if (kind.equals("FetchCursor") || kind.startsWith("CreateVariable")) return;  // names of variables
    if (kind.equals("DeclareCursor")) {
      found.add(kind + '\\t' + String.valueOf(product.productElement(1)).replaceAll("\\\\s", " "));
    }
    if (kind.equals("TableIdentifier")) table(product);
    if (kind.startsWith("Unresolved") && product.productArity() > 0) name(kind, product.productElement(0), ctes);
    if (kind.equals("PlanWithUnresolvedIdentifier") || kind.equals("UnresolvedExecuteImmediate")) {
      found.add(kind + '\\t' + text(product.productElement(0)));
    }
    if (kind.equals("InsertIntoStatement")) walk(product.productElement(0), new java.util.HashSet());
    each(product.productIterator(), ctes);
  }
}

private String text(Object clause) {
  Expression value = (Expression) clause;
  return value.foldable() ? String.valueOf(value.eval(null)) : "";
}

private void each(scala.collection.Iterator items, java.util.Set ctes) {
  while (items.hasNext()) walk(items.next(), ctes);
}

private java.util.Set named(scala.Product with, java.util.Set outer) {
  java.util.Set ctes = new java.util.HashSet(outer);
  boolean recursive = Boolean.TRUE.equals(with.productElement(2));
  scala.collection.Iterator items = ((scala.collection.Seq) with.productElement(1)).iterator();
  while (items.hasNext()) {
    scala.Product pair = (scala.Product) items.next();
    String name = String.valueOf(pair.productElement(0)).toLowerCase();
    if (recursive) ctes.add(name);
    walk(pair.productElement(1), new java.util.HashSet(ctes));
    ctes.add(name);
  }
  return ctes;
}

private void name(String kind, Object parts, java.util.Set ctes) {
  if (!(parts instanceof scala.collection.Seq)) return;
  scala.collection.Seq names = (scala.collection.Seq) parts;
  StringBuilder line = new StringBuilder(kind);
  for (scala.collection.Iterator it = names.iterator(); it.hasNext();) line.append('\\t').append(it.next());
  boolean cte = names.length() == 1 && ctes.contains(String.valueOf(names.apply(0)).toLowerCase());
  if (!(cte && kind.equals("UnresolvedRelation"))) found.add(line.toString());
}

private void table(scala.Product table) {
  scala.Option database = (scala.Option) table.productElement(1);
  String schema = database.isDefined() ? "\\t" + database.get() : "";
  found.add("TableIdentifier" + schema + '\\t' + table.productElement(0));
}
"""


@dataclass(frozen=True)
class SparkPlan:
    """What Spark's parser makes of a statement: the class of the plan, and what it reads and names."""

    kind: str
    reads: frozenset[Name]
    names: frozenset[Name]


class SparkParser:
    """The parser of one session."""

    def __init__(self, spark: Any) -> None:
        gateway, jvm = spark.sparkContext._gateway, spark._jvm
        compiler = jvm.org.codehaus.janino.ClassBodyEvaluator()
        compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
        compiler.cook(_WALK)
        constructor = compiler.getClazz().getDeclaredConstructor(gateway.new_array(jvm.Class, 0))
        self._walk = constructor.newInstance(gateway.new_array(jvm.Object, 0))
        # A parser takes the settings of the session that is active.
        self._activate = partial(jvm.SparkSession.setActiveSession, spark._jsparkSession)
        self._parser = spark._jsparkSession.sessionState().sqlParser()

    def read(self, text: str) -> SparkPlan | None:
        """The plan of a statement; None when Spark does not read it."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import ParseException

        self._activate()
        try:
            plan = self._parser.parsePlan(text)
        except (ParseException, Py4JJavaError):  # the latter of a script
            return None
        found = [line.split("\t") for line in self._walk.apply(plan).splitlines()]
        reads = {name for kind, *parts in found if kind in _READS and (name := _name(parts))}
        names = {name for kind, *parts in found if kind in _NAMES and (name := _name(parts))}
        for kind, *parts in found:
            if kind == "PlanWithUnresolvedIdentifier" and parts[0] and (name := _name(parts[0].split("."))):
                reads.add(name)
            inner = self.read(parts[0]) if kind in _TEXTS and parts[0] else None
            if inner is not None:
                reads |= inner.reads
                names |= inner.names
        return SparkPlan(plan.getClass().getSimpleName(), frozenset(reads), frozenset(reads | names))


def _name(parts: list[str]) -> Name | None:
    """Database and table, or the table alone; None for a file, or a table of another catalog."""
    if len(parts) == 3 and parts[0].lower() == "spark_catalog":
        parts = parts[1:]
    if len(parts) > 2 or (len(parts) == 2 and parts[0].lower() in FILE_FORMATS):
        return None
    return tuple(parts)
