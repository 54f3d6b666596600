#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""WFP3 (Tang et al., CLUSTER'09): the job with the greatest (wait / limit)^3 x cores first.

    aucsched simulate --policy backfill,easy-wfp3,exec:examples/policy/wfp3.py \\
        --cluster 64x8 --workload gen:lublin-80

Decisions count in their order. Those that name no nodes leave the choice to Slurm's selection: a
job for which nothing is free waits. Nothing is reserved, so that small jobs pass wide ones.
"""

import json
import sys


def cores(job):
    """How many cores a job asks for, at least."""
    nodes = int(str(job["nodes"]).split("-")[0])  # N, or MIN-MAX
    return job["cores"] or nodes * job["tasks_per_node"]


def score(job):
    return (job["waited_s"] / job["time_limit_s"]) ** 3 * cores(job)


for line in sys.stdin:
    jobs = sorted(json.loads(line)["jobs"], key=score, reverse=True)
    plan = {"decisions": [{"job": job["id"], "start": True} for job in jobs]}
    print(json.dumps(plan), flush=True)
