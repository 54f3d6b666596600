#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws how many jobs wait over time, from the files of `aucsched simulate --jobs-csv`:

aucsched simulate --policy backfill,auction2 --preset default --cluster 1408x12x3 \
    --workload gen:tsubame-2.NC --jobs-csv jobs.csv
python3 docs/queue.py "Slurm's backfill" jobs.backfill.csv aucsched jobs.auction2.csv >docs/queue.svg
"""
import csv
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 300, 52, 16, 16, 44
STYLE = """text{font:17px sans-serif;fill:#1f2328}.axis{stroke:#8c959f}.grid{stroke:#8c959f;opacity:.3}
.a{fill:#bc4c00}.b{fill:#0969da}path.a,path.b{fill-opacity:.18;stroke-width:2}path.a{stroke:#bc4c00}path.b{stroke:#0969da}
text.a,text.b{font-weight:bold}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.a{fill:#f0883e}.b{fill:#58a6ff}path.a{stroke:#f0883e}path.b{stroke:#58a6ff}}"""


def curve(name):
    """The steps (hour, jobs that wait), and the mean wait in hours."""
    with open(name, newline="") as file:
        jobs = [(float(j["submission_time"]), float(j["starting_time"])) for j in csv.DictReader(file)]
    changes = sorted([(s, 1) for s, _ in jobs] + [(t, -1) for _, t in jobs])
    steps, waiting = [], 0
    for time, change in changes:
        waiting += change
        steps.append((time / 3600, waiting))
    return steps, sum(t - s for s, t in jobs) / len(jobs) / 3600


def main(arguments):
    drawn = [(label, *curve(name)) for label, name in zip(arguments[::2], arguments[1::2])]
    hours = max(s[-1][0] for _, s, _ in drawn)
    most = max(n for _, s, _ in drawn for _, n in s)
    x = lambda hour: LEFT + hour / hours * (WIDTH - LEFT - RIGHT)
    y = lambda jobs: HEIGHT - BOTTOM - jobs / most * (HEIGHT - TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"><style>{STYLE}</style>']
    for jobs in range(0, most + 1, 100):
        out.append(f'<path class="grid" d="M{LEFT} {y(jobs):.1f}H{WIDTH - RIGHT}"/>'
                   f'<text x="{LEFT - 6}" y="{y(jobs) + 5:.1f}" text-anchor="end">{jobs}</text>')
    for hour in range(0, int(hours) + 1, 2):
        out.append(f'<text x="{x(hour):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{hour} h</text>')
    for kind, (label, steps, wait) in zip("ab", drawn):
        path, last = f"M{LEFT} {y(0):.1f}", None
        for hour, jobs in steps:
            if (round(x(hour)), jobs) != last:
                path += f"H{x(hour):.0f}V{y(jobs):.0f}"
            last = (round(x(hour)), jobs)
        out.append(f'<path class="{kind}" d="{path}"/>')
        out.append(f'<text class="{kind}" x="{WIDTH - RIGHT - 4}" y="{TOP + 20 + 22 * "ab".index(kind)}" '
                   f'text-anchor="end">{label}: mean wait {wait:.1f} h</text>')
    out.append(f'<path class="axis" d="M{LEFT} {y(0):.1f}H{WIDTH - RIGHT}"/>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">jobs that wait, over time</text></svg>')
    print("\n".join(out))


main(sys.argv[1:])
