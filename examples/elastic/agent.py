#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What torchrun is on one node: torch's elastic agent, for the workers of one place.

usage: agent.py HOST:PORT PLACE NAME RANKS COMMAND [ARGUMENT ...]

Its rendezvous is not c10d, where a group waits for nodes that might come, and 15 s for those that
have gone: the driver, elastic.py, knows who is there.
"""
import json
import sys
import time
from datetime import timedelta

from torch.distributed import PrefixStore, TCPStore
from torch.distributed.elastic.agent.server.api import WorkerSpec
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from torch.distributed.elastic.multiprocessing import SignalException
from torch.distributed.elastic.rendezvous.api import RendezvousClosedError, RendezvousHandler

LIMIT = 600  # seconds in which all of a group have to arrive
RESTARTS = 1_000_000  # the driver counts them


class Rendezvous(RendezvousHandler):
    """Groups as the driver makes them, read from its store."""

    def __init__(self, store, place: int):
        self.store, self.place, self.round = store, place, 0

    def group(self):
        return json.loads(self.store.get("group"))

    def next_rendezvous(self):
        """Waits for the others of a new group, however often there is a newer one."""
        before, until = self.round, time.monotonic() + LIMIT
        if self.group()["round"] == before:  # so workers have failed; the driver makes it anew
            self.store.add("failed %d" % before, 1)
        while time.monotonic() < until:
            group = self.group()
            number, places = group["round"], group["places"]
            if self.place not in places:
                raise RendezvousClosedError("others want it")
            if number != self.round:
                self.round = number
                self.store.add("arrived %d" % number, 1)
            if number != before and self.store.add("arrived %d" % number, 0) == len(places):
                return PrefixStore("round %d" % number, self.store), places.index(self.place), len(places)
            time.sleep(0.05)
        raise TimeoutError("group %d: not all have arrived in %d s" % (self.round, LIMIT))

    def num_nodes_waiting(self) -> int:
        return int(self.group()["round"] != self.round)

    def get_backend(self) -> str:
        return "aucsched-crew"

    def get_run_id(self) -> str:
        return "crew"

    def is_closed(self) -> bool:
        return False

    def set_closed(self) -> None:
        pass

    def shutdown(self) -> bool:
        return True


def main() -> int:
    host, port = sys.argv[1].rsplit(":", 1)
    place, name, ranks = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    store = TCPStore(host, int(port), is_master=False, timeout=timedelta(seconds=60))
    store.add("ready " + name, 1)
    while place not in Rendezvous(store, place).group()["places"]:
        time.sleep(0.05)
    # Rank 0 is on the first place, where the driver is.
    spec = WorkerSpec(role="default", local_world_size=ranks, entrypoint=sys.argv[5], args=tuple(sys.argv[6:]),
                      rdzv_handler=Rendezvous(store, place), max_restarts=RESTARTS, monitor_interval=0.2, master_addr=host)
    agent = LocalElasticAgent(spec, start_method="spawn", exit_barrier_timeout=5)
    try:
        return int(agent.run().is_failed())
    except (SignalException, RendezvousClosedError) as e:
        print("place %d: its workers are ended: %s" % (place, e), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
