# reaper.sh DIR [remove]: waits until its standard input is closed, which is when the
# process that holds the other end stops the cluster of DIR or dies, however. Then it ends
# every process of that cluster: those with the cluster's mark in their environment, and
# those that work in DIR (slurmstepd overwrites its environment). With remove, DIR goes too.
# Several of them may be at it at once.
trap '' INT TERM HUP
cd /
dir=$1 remove=$2

ours() {
	grep -lzsxF "AUCSCHED_SLURMTEST=$dir" /proc/[0-9]*/environ
	find /proc/[0-9]*/cwd -maxdepth 0 \( -lname "$dir" -o -lname "$dir/*" \) 2>/dev/null
}

while read -r _; do :; done
round=0 none=0
while [ $round -lt 100 ]; do
	pids=$(ours | cut -d/ -f3 | sort -u)
	if [ -n "$pids" ]; then
		none=0
		kill -KILL $pids 2>/dev/null
	elif [ $none = 0 ]; then
		none=1 # a child whose parent ended meanwhile is seen the next time
	else
		[ -n "$remove" ] && [ -d "$dir" ] && [ ! -L "$dir" ] || exit 0
		rm -rf --one-file-system -- "$dir" 2>/dev/null
	fi
	round=$((round + 1))
	sleep 0.05
done
if [ -n "$pids" ]; then
	echo "processes of $dir would not end:" $pids >&2
else
	echo "$dir can't be removed" >&2
fi
exit 1
