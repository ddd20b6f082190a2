"""Records the operations of concurrent clients, for `snapshot-test` to judge.

```python
from snapshot_recorder import SnapshotRecorder

store = {"x": 0, "y": 0}
with SnapshotRecorder("run.jsonl", store) as recorder:
    with recorder.update("x", 5):
        store["x"] = 5
    with recorder.scan() as scan:
        scan.returned(dict(store))
```

Then `snapshot-test check run.jsonl` tells whether each operation can be given one instant between
its call and its return such that the scans returned what they did.
"""

from .errors import ClockError, RecordingError
from .objects import (
    CasRegisterRecorder,
    MapRecorder,
    ObjectRecorder,
    QueueRecorder,
    RegisterRecorder,
)
from .operation import Command, Query
from .snapshot import SnapshotRecorder

__all__ = [
    "CasRegisterRecorder",
    "ClockError",
    "Command",
    "MapRecorder",
    "ObjectRecorder",
    "Query",
    "QueueRecorder",
    "RecordingError",
    "RegisterRecorder",
    "SnapshotRecorder",
]

__version__ = "0.1.0"
