#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Elastic training on the nodes of aucsched crew run: the driver.

It has torch's elastic agent (agent.py) on each place that there is, and says who is in the group.
Whenever that changes agents start the workers anew, which go on from their checkpoint.
"""
import argparse
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from datetime import timedelta
from typing import Dict, List, Optional

import aucsched_malleable
from torch.distributed import TCPStore

HERE = os.path.dirname(os.path.abspath(__file__))
# What runs a command on a place.
ON = shlex.split(os.environ.get("ELASTIC_ON", "aucsched crew on"))
PAUSE = 0.1  # seconds between two looks
LAST = 15.0  # seconds for all agents to end when one has
TRIES = 3  # agents that are started on a place, while it is there
SETTLE = 10.0  # seconds that an agent which is ready waits for those that start


class Agent:
    """The command that runs an agent on a place."""

    def __init__(self, place: int, name: str, address: str, ranks: int, command: List[str]):
        self.place, self.name = place, name
        self.ready = 0.0  # since when
        self.process = subprocess.Popen(
            ON + [str(place), "--", sys.executable, os.path.join(HERE, "agent.py"), address, str(place), name, str(ranks)] + command)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()


class Driver:
    """Which places there are, and which of them are in the group."""

    def __init__(self, o: argparse.Namespace, client: aucsched_malleable.Client):
        self.o, self.client = o, client
        self.store = TCPStore(o.host, 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60))
        self.address = "%s:%d" % (o.host, self.store.port)
        self.change = None  # type: Optional[aucsched_malleable.Change]
        self.agents = {}  # type: Dict[int, Agent]
        self.leaving = []  # type: List[Agent]
        self.tries = {}  # type: Dict[int, int] # by place
        self.group = []  # type: List[Agent]
        self.round = self.started = self.failures = 0
        self.publish([])

    def publish(self, group: List[Agent]) -> None:
        self.round, self.group = self.round + 1, group
        places = [a.place for a in group]
        self.store.set("group", json.dumps({"round": self.round, "places": places}))
        if group:
            self.say("group %d: places %s", self.round, " ".join(map(str, places)))

    def say(self, text: str, *args: object) -> None:
        print("elastic: " + text % args, flush=True)

    def run(self) -> int:
        """Returns when the workers have ended: 0 if that was well."""
        while True:
            change = self.client.poll(PAUSE)
            if change is not None:
                self.hear(change)
            for agent in list(self.agents.values()):
                status = agent.process.poll()
                if status == 0:
                    return self.over()
                if status is not None:
                    self.lose(agent, status)
                elif not agent.ready and self.store.add("ready " + agent.name, 0) > 0:
                    agent.ready = time.monotonic()
            if self.tries and 0 not in self.agents or not self.regroup():
                return 1
            self.answer()

    def hear(self, change: aucsched_malleable.Change) -> None:
        self.change = change
        self.tries = {p: self.tries.get(p, 0) for p in change.places}
        self.leaving += [self.agents.pop(p) for p in list(self.agents) if p not in change.places]
        for place in change.places:
            if place not in self.agents:
                self.start(place)

    def start(self, place: int) -> None:
        """Has an agent on a place, unless too many have failed there."""
        if self.tries[place] < TRIES:
            self.tries[place] += 1
            self.started += 1
            self.agents[place] = Agent(place, "%d.%d" % (place, self.started), self.address, self.o.ranks, self.o.command)

    def lose(self, agent: Agent, status: int) -> None:
        self.say("place %d: its agent has ended, status %d", agent.place, status)
        del self.agents[agent.place]
        self.start(agent.place)

    def members(self) -> List[Agent]:
        """Agents of the group, and new ones that are ready: those who come together, together."""
        new = [a for a in self.agents.values() if a not in self.group]
        since = [a.ready for a in new if a.ready]
        come = bool(since) and (len(since) == len(new) or time.monotonic() - min(since) > SETTLE or not self.group)
        return sorted((a for a in self.agents.values() if a in self.group or come and a.ready), key=lambda a: a.place)

    def regroup(self) -> bool:
        """Makes a new group if agents have come or gone, or workers have failed: False if too often."""
        members = self.members()
        if 0 not in [a.place for a in members]:
            return True  # the first rank is there: it starts, or this is the end
        if members != self.group:
            self.failures = 0
        elif self.store.add("failed %d" % self.round, 0) > 0:
            self.failures += 1
            if self.failures > self.o.restarts:
                self.say("workers have failed %d times while no place came or went", self.failures)
                return False
        else:
            return True
        self.publish(members)
        return True

    def answer(self) -> None:
        """Ends agents of places that are to go, and says when none is left."""
        for agent in self.leaving:
            agent.stop()
        self.leaving = [a for a in self.leaving if a.process.poll() is None]
        if self.change is not None and not self.leaving:
            self.client.done(self.change)
            self.change = None

    def over(self) -> int:
        """One agent has ended well: all workers have."""
        until = time.monotonic() + LAST
        for agent in self.agents.values():
            try:
                agent.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        return 0

    def close(self) -> None:
        for agent in list(self.agents.values()) + self.leaving:
            agent.stop()
        for agent in list(self.agents.values()) + self.leaving:
            agent.process.wait()


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ranks", type=int, default=1, help="workers of a place (1)")
    p.add_argument("--restarts", type=int, default=3, help="how often workers may fail while no place comes or goes (3)")
    p.add_argument("--host", default=socket.gethostname(), help="this host, as the others know it")
    p.add_argument("command", nargs="+", help="the worker, after --")
    o = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with aucsched_malleable.connect() as client:
        driver = Driver(o, client)
        try:
            return driver.run()
        finally:
            driver.close()


if __name__ == "__main__":
    sys.exit(main())
