#!/bin/sh
# Writes the configuration of a bed into the working directory: kind, name, nodes, bedlog, plugins and
# stock_plugins are set by bed.sh.
set -eu

umask 022
cat >slurmdbd.conf <<END
AuthType=auth/munge
DbdHost=localhost
SlurmUser=slurm
DebugLevel=info
LogFile=$bedlog/slurmdbd.log
PidFile=/run/slurm/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=suite
StorageLoc=$name
END
chmod 600 slurmdbd.conf

# As many GPUs as devices: of plain files Slurm makes no CUDA_VISIBLE_DEVICES.
echo "NodeName=n[1-$nodes] Name=gpu File=/dev/tty[0-3]" >gres.conf

cat >slurm.conf <<END
ClusterName=site
SlurmctldHost=suite(10.9.9.1)
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/bed/state
SlurmdSpoolDir=/bed/spool/%n
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.%n.pid
SlurmctldLogFile=$bedlog/slurmctld.log
SlurmdLogFile=$bedlog/slurmd.%n.log
SlurmctldDebug=verbose
SlurmdDebug=info
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=10
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
KillWait=5
MinJobAge=300
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=1000
SlurmdParameters=config_overrides
GresTypes=gpu
END
if [ "$kind" = aucsched ]; then
	cat >>slurm.conf <<END
PluginDir=$plugins:$stock_plugins
JobSubmitPlugins=aucsched
CliFilterPlugins=cli_filter/aucsched
END
fi
for n in $(seq "$nodes"); do
	echo "NodeName=n$n NodeHostname=suite NodeAddr=10.9.9.1 Port=1700$n CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Gres=gpu:4 State=UNKNOWN"
done >>slurm.conf
echo "PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >>slurm.conf
