#!/bin/sh
# Types what docs/tutorials/slurm.md says from "A private Slurm" on, in a home directory of its own, as
# root, with the plug-ins that `make slurm-plugins` has built. SLURM_PREFIX=DIR has it use the Slurm
# below DIR, and the plug-ins that were built for it. The exit status is 0 if a job was
# started by the auction and Slurm works without it in the end.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
HOME=$(mktemp -d)
export HOME AUCSCHED="$top" PATH="$top/bin:${SLURM_PREFIX:+$SLURM_PREFIX/bin:$SLURM_PREFIX/sbin:}$PATH"
end() {
	cd "$HOME"
	kill $(cat try/*.pid munged.pid 2>/dev/null) 2>/dev/null || :
	sleep 2
	rm -rf "$HOME"
}
trap end EXIT
trap 'exit 1' INT TERM

# A munge of its own: where there is no systemd the system's does not run.
dd if=/dev/urandom of="$HOME/munge.key" bs=1 count=128 2>/dev/null
chmod 400 "$HOME/munge.key"
munged --key-file="$HOME/munge.key" --socket="$HOME/munge.sock" --pid-file="$HOME/munged.pid" \
	--log-file="$HOME/munged.log" --seed-file="$HOME/seed" --force 2>/dev/null
awk -v auth="AuthInfo=socket=$HOME/munge.sock" '
	/^## A private Slurm/ { on = 1 }
	/^```bash/ { block = on; next }
	/^```/ { block = 0; print "sleep 4" }
	block && /^PartitionName=test/ { print auth }
	block' "$top/docs/tutorials/slurm.md" >"$HOME/typed.sh"
if [ "${SLURM_PREFIX:-}" ]; then
	version=$(slurmctld -V)
	sed -i "s#^PluginDir=.*#PluginDir=$top/build/slurm/${version#slurm }:$SLURM_PREFIX/lib/slurm#" "$HOME/typed.sh"
fi
(set -x; . "$HOME/typed.sh"; sleep 3; grep "started JobId=13 on" log/slurmctld.log; sbatch -n1 -W -o /dev/null --wrap true)
