// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// confPaths are the files that SchedulerParameters may name.
var confPaths = []string{"auc_status", "auc_shadow"}

// readSlurmConf is what commands need of a slurm.conf and the files that it
// includes: the value of StateSaveLocation, and of confPaths in SchedulerParameters.
// Keys are in lower case; later lines win.
func readSlurmConf(path string) (map[string]string, error) {
	c, err := conf.Read(path)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	if dir, _, ok := c.Last("StateSaveLocation"); ok {
		values["statesavelocation"] = dir
	}
	for _, key := range confPaths {
		if file, ok := c.Option("SchedulerParameters", key); ok {
			values[key] = file
		}
	}
	return values, nil
}
