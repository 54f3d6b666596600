# reaper.sh DIR: waits until its standard input is closed, which is when the process
# that holds the other end stops the cluster of DIR or dies, however. Then it ends
# every process of that cluster: those with the cluster's mark in their environment,
# and those that work in DIR (slurmstepd overwrites its environment).
trap '' INT TERM HUP
cd /
dir=$1

ours() {
	grep -lzsxF "AUCSCHED_SLURMTEST=$dir" /proc/[0-9]*/environ
	find /proc -maxdepth 2 -name cwd \( -lname "$dir" -o -lname "$dir/*" \) 2>/dev/null
}

while read -r _; do :; done
round=0
while [ $round -lt 100 ]; do
	pids=$(ours | cut -d/ -f3 | sort -u)
	[ -n "$pids" ] || exit 0
	kill -KILL $pids 2>/dev/null
	round=$((round + 1))
	sleep 0.05
done
echo "reaper: processes of $dir would not end:" $pids >&2
exit 1
