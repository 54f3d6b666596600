// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/spf13/cobra"

// slurmTopic is what help and the manual say of jobs inside Slurm. It is no command.
func slurmTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "slurm",
		Short: "Options of jobs and of slurm.conf for the plug-ins inside Slurm",
		Long: `The plug-ins run the auction inside slurmctld. SchedulerParameters=auc_... in slurm.conf sets them;
aucsched status shows what they do. The other commands plan and simulate windows of jobs outside
Slurm.

Input files. With auc_locality=yes a job may name the file that it reads:

  sbatch --comment=input=PATH:SIZE

PATH begins with / or is a URL. SIZE is in bytes, or has the suffix K, M, G or T. Of the idle nodes
the job gets those that hold the file, if it can. A node is assumed to keep a day's files, up to its
RealMemory.

Invasive jobs. With auc_invasic=PARTITION the jobs of that partition are held until aucsched
ischeduler --slurm PARTITION has negotiated them with aucsched ihypervisor --slurm PARTITION. The
partition has one node, where the ihypervisor runs. A job says how many cores it can use:

  sbatch --comment=invasic=MIN-MAX[,malleable][,urgent]

Jobs find the ihypervisor's socket in AUCSCHED_INVASIVE. Its path is auc_invasic_socket
(/var/lib/aucsched-invasive/run/jobs). auc_invasic_urgent names the QOS whose jobs may be urgent, and
needs AccountingStorageEnforce=qos; * lets every user mark jobs as urgent. Without it no job is
urgent.

Files:

  /etc/slurm/slurm.conf             tells aucsched status where the status file is
  StateSaveLocation/aucsched_files  which nodes hold which input files, across restarts of slurmctld

See also slurmctld(8), slurm.conf(5) and /usr/share/doc/aucsched/.`,
	}
}
