#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shortest limit first, greedily, on the first nodes that have room; nothing is reserved.

    aucsched simulate --policy backfill,exec:examples/policy/shortest.py \\
        --cluster 128x8x2 --workload gen:V.1
"""

import json
import sys


def place(job, nodes):
    """The nodes of a job and its cores on each, or None if it does not fit now."""
    gpus = int(str(job["gpus_per_node"]).split("-")[0])  # N, or MIN-MAX
    least = int(str(job["nodes"]).split("-")[0])
    each = job["tasks_per_node"]
    left = job["cores"] or each * least
    found = {}
    for i, node in enumerate(nodes):
        if node["free_gpus"] < gpus or node["free_cores"] < max(each, 1):
            continue
        missing = max(least - len(found) - 1, 0)  # nodes that need a core yet
        take = min(each or node["free_cores"], left - missing)
        found[i] = take
        left -= take
        if left == 0 and missing == 0:
            return found, gpus
    return None


def decide(window):
    for job in sorted(window["jobs"], key=lambda job: job["time_limit_s"]):
        placed = None if job.get("contiguous") else place(job, window["nodes"])
        if not placed:
            continue
        found, gpus = placed
        for i, take in found.items():
            window["nodes"][i]["free_cores"] -= take
            window["nodes"][i]["free_gpus"] -= gpus
        yield {"job": job["id"], "start": True, "nodes": ",".join(window["nodes"][i]["name"] for i in found),
               "cores_per_node": list(found.values()), "gpus_per_node": gpus}


for line in sys.stdin:
    print(json.dumps({"decisions": list(decide(json.loads(line)))}), flush=True)
