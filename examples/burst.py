#!/usr/bin/env python3
"""Writes a burst of 430 short jobs as SWF: python3 burst.py SEED. Limits are 2 to 150 times the run times."""
import random
import sys

random.seed(int(sys.argv[1]))
print("; MaxNodes: 16\n; MaxProcs: 128")
jobs = []
for _ in range(430):
    submit = int(random.uniform(0, 80))
    cores = random.choice([1, 1, 1, 1, 2, 2, 2, 4, 4, 6, 8, 8, 12, 16, 25, 40])
    seconds = random.choice([2, 5, 5, 10, 10, 15, 20, 20, 30])
    limit = random.choice([60, 60, 120, 300, 300, 300])
    jobs.append((submit, seconds, cores, limit))
for number, (submit, seconds, cores, limit) in enumerate(sorted(jobs), 1):
    print(number, submit, -1, seconds, cores, -1, -1, cores, limit, -1, 1, 1, 1, -1, -1, -1, -1, -1)
