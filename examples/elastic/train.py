#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A worker of elastic training: a small model on CPUs, with gloo.

It is started by torchrun, once for each rank, and again whenever the group of ranks is another
one. Then it goes on from the last checkpoint. A step's batch is the same with any number of
ranks, who share it; so is the sum of their gradients, but for the order of its terms.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

SAMPLES = 960
BATCH = 48  # of a step, over all ranks
STEPS = SAMPLES // BATCH  # of an epoch


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--dir", default=".", help="where the checkpoint is and the log, on all nodes")
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--every", type=int, default=5, help="steps from one checkpoint to the next")
    p.add_argument("--pause", type=float, default=0, help="seconds that a step takes longer")
    p.add_argument("--wait", action="append", default=[], metavar="EPOCH:RANKS",
                   help="begin an epoch with so many ranks only; may be repeated, for tests")
    return p.parse_args()


def data():
    """The samples: the same ones in every process."""
    random = torch.Generator().manual_seed(1)
    x = torch.randn(SAMPLES, 8, generator=random, dtype=torch.float64)
    return x, torch.sin(x.sum(1, keepdim=True)) + 0.1 * x[:, :1]


class Training:
    """What a checkpoint has, and the group that goes on with it."""

    def __init__(self, o: argparse.Namespace):
        self.o, self.rank, self.ranks = o, dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).double()
        self.shared = DistributedDataParallel(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.x, self.y = data()
        self.epoch = self.step = 0
        self.seen = torch.zeros(SAMPLES, dtype=torch.int64)  # how often, in this epoch
        self.loss = torch.zeros(1, dtype=torch.float64)  # of this epoch so far
        self.epochs = []  # what there is to say of those that are over
        self.my_seen, self.my_loss = torch.zeros_like(self.seen), torch.zeros_like(self.loss)  # since the checkpoint
        self.fresh = True  # there was no step yet
        self.load()

    def path(self, name: str) -> str:
        return os.path.join(self.o.dir, name)

    def load(self) -> None:
        """Goes on from the checkpoint, if there is one: all ranks from that which rank 0 finds."""
        found = [None]
        if self.rank == 0 and os.path.exists(self.path("checkpoint")):
            found = [torch.load(self.path("checkpoint"))]
        dist.broadcast_object_list(found)
        if found[0] is not None:
            self.model.load_state_dict(found[0]["model"])
            self.optimizer.load_state_dict(found[0]["optimizer"])
            self.epoch, self.step, self.seen, self.loss, self.epochs = found[0]["at"]

    def save(self) -> None:
        """Writes a checkpoint, whole or not at all."""
        if self.rank == 0:
            torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                        "at": (self.epoch, self.step, self.seen, self.loss, self.epochs)}, self.path("checkpoint.new"))
            os.replace(self.path("checkpoint.new"), self.path("checkpoint"))

    def gather(self) -> None:
        """Adds up what the ranks have done since the last checkpoint."""
        for total, mine in (self.seen, self.my_seen), (self.loss, self.my_loss):
            dist.all_reduce(mine)
            total += mine
            mine.zero_()

    def run(self) -> None:
        waits = dict((int(n) for n in w.split(":")) for w in self.o.wait)
        while self.epoch < self.o.epochs:
            order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(self.epoch))
            while self.step == 0 and self.ranks != waits.get(self.epoch, self.ranks):
                time.sleep(0.1)  # the agent ends this
            while self.step < STEPS:
                self.one(order[self.step * BATCH:(self.step + 1) * BATCH][self.rank::self.ranks])
                if self.step % self.o.every == 0 and self.step < STEPS:
                    self.gather()
                    self.save()
            self.end_epoch()
        dist.barrier()  # rank 0 has saved

    def one(self, batch) -> None:
        """A step with this rank's part of the batch. DDP divides by the number of ranks."""
        self.optimizer.zero_grad()
        squares = ((self.shared(self.x[batch]) - self.y[batch]) ** 2).sum()
        (squares * self.ranks / BATCH).backward()
        self.optimizer.step()
        self.my_seen[batch] += 1
        self.my_loss += squares.detach()
        time.sleep(self.o.pause)
        self.step += 1
        if self.rank == 0:
            self.log()

    def end_epoch(self) -> None:
        self.gather()
        self.epochs.append("epoch %d: %d samples, each %d to %d times, loss %.15f"
                           % (self.epoch, self.seen.sum(), self.seen.min(), self.seen.max(), self.loss / SAMPLES))
        self.epoch, self.step = self.epoch + 1, 0
        self.seen.zero_()
        self.loss.zero_()
        self.save()
        if self.rank == 0:
            print("train: %s, %d ranks" % (self.epochs[-1], self.ranks), flush=True)

    def log(self) -> None:
        """Notes a step; of the first of a group it says what the change has cost."""
        now, at = time.time(), self.epoch * STEPS + self.step
        before = last_line(self.path("steps")) if self.fresh else None
        self.fresh = False
        with open(self.path("steps"), "a") as f:
            f.write("%.3f %d %d\n" % (now, self.ranks, at))
        if before:
            print("train: %s -> %d ranks, step %d: %.1f s without a step, %d steps again"
                  % (before[1], self.ranks, at, now - float(before[0]), max(0, int(before[2]) - at + 1)), flush=True)


def last_line(path: str):
    """The fields of a file's last line, or None."""
    try:
        with open(path) as f:
            return f.read().splitlines()[-1].split()
    except (OSError, IndexError):
        return None


def main() -> None:
    o = options()
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    else:  # alone
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    if dist.get_world_size() > BATCH:
        raise SystemExit("train.py: %d ranks: at most %d have a part of each batch" % (dist.get_world_size(), BATCH))
    training = Training(o)
    training.run()
    if training.rank == 0:
        print("\n".join(training.epochs), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
