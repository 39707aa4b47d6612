"""How many messages wait in each queue: asked of the broker itself, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqp.exceptions import ChannelError
from kombu import Queue
from prometheus_client.core import GaugeMetricFamily, Metric

from memconsole.celery import app

TIMEOUT_SECONDS = 2


def queues() -> Iterator[Metric]:
    """Yield the length of each queue; raises when the broker does not answer in time."""
    lengths = GaugeMetricFamily(
        "memconsole_queue_messages", "Messages that wait in a queue.", labels=["queue"]
    )
    with app.connection_for_read(connect_timeout=TIMEOUT_SECONDS) as connection:
        connection.ensure_connection(max_retries=1, timeout=TIMEOUT_SECONDS)
        for queue in app.conf.task_queues:
            # A refused question closes the channel, so each queue has one of its own.
            with connection.channel() as channel:
                lengths.add_metric([queue.name], _length(queue.bind(channel)))
    yield lengths


def _length(queue: Queue) -> int:
    try:
        # Asking is enough: declaring would make the queue where nobody has used it.
        declared: Any = queue.queue_declare(passive=True)
        return int(declared.message_count)
    except ChannelError:  # Redis has no queue that is empty
        return 0
