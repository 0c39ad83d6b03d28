"""A Kafka topic that is a list, with offsets, ends of transactions, and publishers: the newest fences the others."""

from __future__ import annotations

import json
from contextlib import contextmanager

from tablestore_engine.catalog import log_topics
from tablestore_engine.errors import LogFencedError
from tablestore_engine.kafka.encode_messages import texts_as_bytes
from tablestore_engine.operation.log_store import unpublished_snapshots

_END = None


class Topic:
    """What was published: (snapshot, operations by key); `fails` are errors of the next publications.

    `messages` are keys and values as they were sent. `before_end` and `after_end` are called by each publication,
    before and after its transaction ends. `answers` is whether brokers answer after a failure.
    """

    answers = False

    def __init__(self):
        self.transactions, self.sent_for, self.fails = [], [], []
        self.messages, self.marks = [], {}
        self.newest_publisher = None
        self.publishers = {}
        self.process, self._known = "this", {}
        self.before_end = self.after_end = lambda: None

    def publisher_of(self, log):
        found = self.publishers.get(self.process)
        if found is not None:
            return found, True
        self.newest_publisher = self.publishers[self.process] = _Publisher(self)
        return self.newest_publisher, False

    def forget_publisher(self, log):
        self.publishers.pop(self.process, None)

    def newest(self, log, offsets):
        found = max((one or 0 for one in self.sent_for[offsets[0] if offsets else 0 :]), default=0)
        return found, self.marks.get(found, "")

    def last_stable_offsets(self, log):
        return [len(self.sent_for), *[0] * (log.partitions - 1)]

    def delete(self, log=None):
        self.sent_for.clear()
        self.transactions.clear()

    def take(self):
        return [(snapshot, sorted(sent)) for snapshot, sent in self.transactions]

    @contextmanager
    def another_process(self, name="other"):
        """The block is run by another process: it knows nothing of this one's publishers."""
        before = self.process
        self._enter(name)
        try:
            yield
        finally:
            self._enter(before)

    def _enter(self, name):
        self._known[self.process] = unpublished_snapshots._topics
        unpublished_snapshots._topics = self._known.get(name, {})
        self.process = name

    def replace_kafka(self, monkeypatch):
        monkeypatch.setattr(log_topics, "create_topic", lambda log: None)
        monkeypatch.setattr(log_topics, "delete_topic", lambda log: None)
        monkeypatch.setattr(unpublished_snapshots, "create_topic", lambda log: None)
        monkeypatch.setattr(unpublished_snapshots, "delete_topic", self.delete)
        monkeypatch.setattr(unpublished_snapshots, "publisher_of", self.publisher_of)
        monkeypatch.setattr(unpublished_snapshots, "forget_publisher", self.forget_publisher)
        monkeypatch.setattr(unpublished_snapshots, "newest_snapshot", self.newest)
        monkeypatch.setattr(unpublished_snapshots, "last_stable_offsets", self.last_stable_offsets)
        monkeypatch.setattr(unpublished_snapshots, "grow_topic", lambda log: False)
        monkeypatch.setattr(unpublished_snapshots, "brokers_answer", lambda log: self.answers)
        monkeypatch.setattr(unpublished_snapshots, "_topics", {})


class _Publisher:
    def __init__(self, topic):
        self._topic = topic

    def publish(self, snapshot, mark, messages):
        topic = self._topic
        if topic.fails:
            raise topic.fails.pop(0)
        parts = list(messages)
        sent = [json.loads(value) for part in parts for value in texts_as_bytes(part.values)]
        topic.before_end()
        if topic.newest_publisher is not self:
            raise LogFencedError("fenced")
        topic.transactions.append((snapshot, [(one["op"], *(one["after"] or one["before"]).values()) for one in sent]))
        for part in parts:
            keys = [None] * len(part.values) if part.keys is None else texts_as_bytes(part.keys)
            topic.messages += zip(keys, texts_as_bytes(part.values), strict=True)
        topic.sent_for += [snapshot] * len(sent)
        topic.marks[snapshot] = mark
        offsets = (len(topic.sent_for),)
        topic.sent_for.append(_END)
        topic.after_end()
        return len(sent), offsets
