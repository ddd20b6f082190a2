"""Does Redis read several keys at one instant? That depends on how it is asked.

    python redis_keys.py gets             # a GET for each key: violations
    python redis_keys.py mget             # one MGET
    python redis_keys.py multi            # MULTI, a GET for each key, EXEC
    python redis_keys.py mget --kills 3   # the server is killed and started again meanwhile

Then `snapshot-test check redis.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import redis
from load import Client, Load, main, record
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers import Redis

ERRORS = (redis.ConnectionError, redis.TimeoutError)
READINGS = ("gets", "mget", "multi")


class RedisClient(Client):
    """A connection. A call that was lost is not repeated: a write would take effect twice."""

    def __init__(self, port: int, reading: str) -> None:
        self._reading = reading
        self._connection = redis.Redis(
            port=port, socket_timeout=5, retry=Retry(NoBackoff(), 0), single_connection_client=True
        )
        self._connection.ping()

    def write(self, key: str, value: int) -> None:
        self._connection.set(key, value)

    def read(self, keys: Sequence[str]) -> Mapping[str, int]:
        if self._reading == "gets":
            values = [self._connection.get(key) for key in keys]
        elif self._reading == "mget":
            values = self._connection.mget(keys)
        else:
            with self._connection.pipeline(transaction=True) as pipeline:
                for key in keys:
                    pipeline.get(key)
                values = pipeline.execute()
        return {key: int(value or 0) for key, value in zip(keys, values, strict=True)}

    def close(self) -> None:
        self._connection.close()


def run(server: Redis, reading: str, target: Path, load: Load) -> int:
    """Records a load; returns the number of lost outcomes."""
    with redis.Redis(port=server.port) as connection:
        connection.flushall()
    return record(target, server, lambda: RedisClient(server.port, reading), ERRORS, load)


if __name__ == "__main__":
    main("Redis", Redis, READINGS, run, "redis.jsonl")
