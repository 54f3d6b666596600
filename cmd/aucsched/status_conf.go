// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/aucsched/aucsched/internal/slurmconf"
)

// readSlurmConf is what the status command needs of a slurm.conf and the files that it
// includes: the value of StateSaveLocation, and of auc_status in SchedulerParameters.
// Keys are in lower case; later lines win.
func readSlurmConf(path string) (map[string]string, error) {
	c, err := slurmconf.Read(path)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	if dir, _, ok := c.Last("StateSaveLocation"); ok {
		values["statesavelocation"] = dir
	}
	if file, ok := c.Option("SchedulerParameters", "auc_status"); ok {
		values["auc_status"] = file
	}
	return values, nil
}
