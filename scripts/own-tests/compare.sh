#!/bin/sh
# Compares what passed with stock Slurm and with the plug-ins:
#
#	compare.sh again VERSION RESULTS    the tests with verdicts that differ
#	compare.sh report VERSION RESULTS   counts and differences; the exit status says whether all is well
#
# Of several runs of a test the best counts. Exceptions are rows of scripts/own-tests/README.md,
# | `TEST` | SERIES, SERIES | reason |.
set -eu

what=$1 version=$2 results=$3
table=$(cd "$(dirname "$0")/../.." && pwd)/scripts/own-tests/README.md
awk -v what="$what" -v series="${version%.*}" '
	BEGIN { rank["TIMEOUT"] = 1; rank["SKIP"] = 2; rank["FAIL"] = 3; rank["PASS"] = 4 }
	FILENAME == table_file {
		n = split($0, cell, " *[|] *")
		if (n >= 4 && cell[2] ~ /^`.*`$/ && index(cell[3], series)) known[substr(cell[2], 2, length(cell[2]) - 2)] = cell[4]
		next
	}
	{
		if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 }
		key = $1 SUBSEP $2
		runs[key] = runs[key] " " $3 "(" $4 "s)"
		if (rank[$3] > rank[best[key]]) best[key] = $3
	}
	END {
		for (i = 1; i <= count; i++) {
			t = order[i]; s = best[t, "stock"]; a = best[t, "aucsched"]
			if (s == "") s = "MISSING"
			if (a == "") a = "MISSING"
			if (what == "again") {
				if (s != a) print t
				continue
			}
			of["stock", s]++; of["aucsched", a]++
			if (s == a) { if (s != "PASS" && s != "SKIP") both[s] = both[s] " " t; continue }
			worse = s == "PASS"
			word = !worse ? "other" : (t in known) ? "known" : "WORSE"
			if (word == "WORSE") bad++
			printf "%s %s: stock%s, aucsched%s%s\n", word, t, runs[t, "stock"], runs[t, "aucsched"], (word == "known" ? ": " known[t] : "")
		}
		if (what == "again") exit 0
		for (v in both) print v " in both:" both[v]
		for (k = 1; k <= 2; k++) {
			kind = k == 1 ? "stock" : "aucsched"
			printf "%s: %d tests, %d passed, %d failed, %d skipped, %d out of time, %d missing\n", kind, count,
				of[kind, "PASS"], of[kind, "FAIL"], of[kind, "SKIP"], of[kind, "TIMEOUT"], of[kind, "MISSING"]
		}
		exit bad > 0 || of["stock", "PASS"] == 0
	}' table_file="$table" "$table" "$results"
