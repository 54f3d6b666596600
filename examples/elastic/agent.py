#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""torchrun for one place: torch's elastic agent, with its rendezvous c10d."""
import argparse

from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


@record
def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--most", type=int)
    p.add_argument("--endpoint")
    p.add_argument("--host", type=int, default=0)
    p.add_argument("--last-call", type=int, default=1)
    p.add_argument("--ranks", type=int, default=1)
    p.add_argument("command", nargs=argparse.REMAINDER)
    o = p.parse_args()
    config = LaunchConfig(1, o.most, o.ranks, run_id="elastic", rdzv_backend="c10d", rdzv_endpoint=o.endpoint,
        rdzv_configs={"is_host": bool(o.host), "last_call_timeout": o.last_call}, max_restarts=100, monitor_interval=0.5)
    elastic_launch(config, o.command[0])(*o.command[1:])

main()
