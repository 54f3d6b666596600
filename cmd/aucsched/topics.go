// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/spf13/cobra"

// slurmTopic is what help and the manual say of jobs inside Slurm. It is no command.
func slurmTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "slurm",
		Short: "What jobs and slurm.conf say to aucsched's plug-ins inside Slurm",
		Long: `Inside slurmctld the auction is a plug-in, which the auc_... settings of
SchedulerParameters in slurm.conf steer. aucsched status shows its figures. The other commands plan
and simulate windows of jobs outside Slurm.

Input files. With auc_locality=yes a job names the file that it reads:

  sbatch --comment=input=PATH:SIZE

PATH begins with / or is a URL, SIZE is in bytes, or with K, M, G or T. Of free nodes the job is
then given such as hold the file. A node keeps as much of files as its RealMemory, for a day.

Invasive jobs. With auc_invasic=PARTITION jobs of that partition are held until aucsched ischeduler
--slurm PARTITION has negotiated them with aucsched ihypervisor --slurm PARTITION, which is on the
only node of it. A job says what cores it can use:

  sbatch --comment=invasic=MIN-MAX[,malleable][,urgent]

auc_invasic_socket is the socket of the iHypervisor that jobs find in AUCSCHED_INVASIVE
(/var/lib/aucsched-invasive/run/jobs), and auc_invasic_urgent the QOS that makes jobs urgent
(AccountingStorageEnforce must have qos); * lets every user mark jobs urgent, and without it none
is.

Files:

  /etc/slurm/slurm.conf             tells aucsched status where the status file is
  StateSaveLocation/aucsched_files  what nodes hold of input files, over restarts of slurmctld

See also slurmctld(8), slurm.conf(5) and /usr/share/doc/aucsched/.`,
	}
}
