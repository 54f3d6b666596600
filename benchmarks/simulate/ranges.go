// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// rangeFlags are the settings of jobs with a range of GPUs.
type rangeFlags struct{ gpus, speedup string }

// rangeSettings are their names.
var rangeSettings = []string{"gpus-of-range", "speedup"}

func (f *rangeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.gpus, "gpus-of-range", "",
		"jobs with a range of GPUs ask for this number of it, with run times and limits for it: least, "+
			"greatest or K, the nearest in the range; without it auctions choose, others give the least")
	flags.StringVar(&f.speedup, "speedup", "linear",
		"what more GPUs of a range do for a job: linear, as in the papers, or amdahl-F: they shorten "+
			"the share F of its run time with the fewest, as amdahl-0.9")
}

// number is how many GPUs of a range count; wanted: whether that is fixed at all.
func (f *rangeFlags) number() (gpus int, wanted bool, err error) {
	switch f.gpus {
	case "":
		return 0, false, nil
	case "least":
		return 0, true, nil
	case "greatest":
		return generate.GreatestGPUs, true, nil
	}
	gpus, err = strconv.Atoi(f.gpus)
	if err != nil || gpus < 1 || gpus > generate.GreatestGPUs {
		return 0, false, fmt.Errorf("--gpus-of-range: %q: must be least, greatest or a number in 1..%d", f.gpus, generate.GreatestGPUs)
	}
	return gpus, true, nil
}

// serial is that of sim.Config.
func (f *rangeFlags) serial() (int, error) {
	if f.speedup == "linear" {
		return sim.LinearSpeedup, nil
	}
	share, is := strings.CutPrefix(f.speedup, "amdahl-")
	x, err := strconv.ParseFloat(share, 64)
	parallel := math.Round(1000 * x)
	if !is || err != nil || !(x >= 0 && x <= 1) || math.Abs(parallel-1000*x) > 1e-9 {
		return 0, fmt.Errorf("--speedup: %q: must be linear, or amdahl-F with F in 0..1 and at most three decimals", f.speedup)
	}
	return sim.MaxSerial - int(parallel), nil
}

// apply has the jobs ask for fixed numbers of GPUs, if that is wanted, and sets cfg's speed-up.
func (f *rangeFlags) apply(cfg *sim.Config, jobs []workload.Job) (err error) {
	if cfg.Serial, err = f.serial(); err != nil {
		return err
	}
	gpus, wanted, err := f.number()
	if err != nil || !wanted {
		return err
	}
	machine, err := cfg.Table()
	if err != nil {
		return err
	}
	generate.FixGPUs(machine, jobs, gpus, cfg.Serial)
	return nil
}

// settings are those of the runs, for their page.
func (f *rangeFlags) settings() []report.Setting {
	gpus := f.gpus
	if gpus == "" {
		gpus = "the policy's choice"
	}
	return []report.Setting{
		{Name: "GPUs of a range", Value: gpus, Meaning: "how many a job with a range is given"},
		{Name: "Speed-up", Value: f.speedup, Meaning: "what more GPUs of a range do for its run time"},
	}
}
