"""Does PostgreSQL read several rows at one instant? That depends on how it is asked.

    python postgres.py each              # READ COMMITTED, a SELECT for each row: violations
    python postgres.py one               # one SELECT of all rows
    python postgres.py repeatable-read   # REPEATABLE READ, a SELECT for each row
    python postgres.py one --kills 3     # the server is killed and started again meanwhile

Then `snapshot-test check postgres.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg
from load import KEYS, Client, Load, main, record
from psycopg import IsolationLevel
from servers import Postgres

ERRORS = (psycopg.OperationalError, psycopg.InterfaceError)
READINGS = ("each", "one", "repeatable-read")


class PostgresClient(Client):
    """A connection; each write is a transaction of its own."""

    def __init__(self, url: str, reading: str) -> None:
        self._reading = reading
        self._connection = psycopg.connect(url, autocommit=True, connect_timeout=5)
        if reading == "repeatable-read":
            self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        else:
            self._connection.isolation_level = IsolationLevel.READ_COMMITTED

    def write(self, key: str, value: int) -> None:
        self._connection.execute("UPDATE registers SET value = %s WHERE key = %s", (value, key))

    def read(self, keys: Sequence[str]) -> Mapping[str, int]:
        if self._reading == "one":
            return dict(self._connection.execute("SELECT key, value FROM registers").fetchall())
        query = "SELECT key, value FROM registers WHERE key = %s"
        with self._connection.transaction():
            return dict(self._connection.execute(query, (key,)).fetchall()[0] for key in keys)

    def close(self) -> None:
        self._connection.close()


def create(server: Postgres) -> None:
    """Creates the table, each register 0."""
    with psycopg.connect(server.url) as connection:
        connection.execute("DROP TABLE IF EXISTS registers")
        connection.execute("CREATE TABLE registers (key text PRIMARY KEY, value bigint NOT NULL)")
        for key in KEYS:
            connection.execute("INSERT INTO registers VALUES (%s, 0)", (key,))


def run(server: Postgres, reading: str, target: Path, load: Load) -> int:
    """Records a load; returns the number of lost outcomes."""
    create(server)
    return record(target, server, lambda: PostgresClient(server.url, reading), ERRORS, load)


if __name__ == "__main__":
    main("PostgreSQL", Postgres, READINGS, run, "postgres.jsonl")
