"""A reduction on a cluster of processes, one of which is killed while it works."""

import os
import signal

import pytest

from pliant.errors import InputError
from pliant.reduction import campaign
from pliant.reduction.cluster import connected
from pliant.reduction.fast import fast
from tests.reduction.test_fast import arm, made

distributed = pytest.importorskip("distributed")


def test_a_killed_worker_changes_nothing(monkeypatch):
    """The same modes, cells and errors as here, bit by bit in the commands and to rounding in the numbers."""
    put, killed = campaign._Store.put, []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        connected(cluster.scheduler_address) as client,
    ):

        def put_and_kill(self, number, snapshots):
            if not killed:  # the first one is done: a worker that has others to do dies
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
            put(self, number, snapshots)

        monkeypatch.setattr(campaign._Store, "put", put_and_kill)
        far = fast(arm(), executor=client)
    assert killed and not far.facts["failed"]
    assert far.facts["snapshots"] == made().facts["snapshots"]
    assert far.robot.ndof == made().robot.ndof
    assert far.facts["error"] == pytest.approx(made().facts["error"], rel=1e-3)


def test_nobody_there_is_said_in_words(monkeypatch):
    monkeypatch.setattr("pliant.reduction.cluster.PATIENCE", "0.2s")
    with pytest.raises(InputError, match="dask scheduler"), connected("tcp://127.0.0.1:9"):
        pass
    with connected("") as executor:
        assert executor is None
