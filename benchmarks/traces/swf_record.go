// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/workload"
)

// SWFRecord is a line of a Standard Workload Format file (version 2.2, Parallel
// Workloads Archive) as it stands. -1 is an unknown value. Times may have
// fractions.
type SWFRecord struct {
	JobNumber       int64   // 1
	Submit          float64 // 2, s
	Wait            float64 // 3, s
	RunTime         float64 // 4, s
	AllocatedProcs  int64   // 5
	AverageCPUTime  float64 // 6, s
	UsedMemory      float64 // 7, KiB a processor
	RequestedProcs  int64   // 8
	RequestedTime   float64 // 9, s
	RequestedMemory float64 // 10, KiB a processor
	Status          int64   // 11, see the Status constants
	User            int64   // 12
	Group           int64   // 13
	Executable      int64   // 14
	Queue           int64   // 15
	Partition       int64   // 16
	PrecedingJob    int64   // 17
	ThinkTime       float64 // 18, s
	// Extra are the fields after the 18th, nil if there is none.
	Extra []string
}

// Values of SWFRecord.Status.
const (
	StatusFailed        = 0
	StatusCompleted     = 1
	StatusPartial       = 2 // part of an execution, to be continued
	StatusLastCompleted = 3 // last part of an execution that completed
	StatusLastFailed    = 4 // last part of an execution that failed
	StatusCancelled     = 5
)

// swfFields is the number of fields of the format.
const swfFields = 18

// swfName gives the names of the fields for messages.
var swfName = [swfFields]string{
	"job number", "submit time", "wait time", "run time", "allocated processors",
	"average CPU time used", "used memory", "requested processors", "requested time",
	"requested memory", "status", "user", "group", "executable", "queue", "partition",
	"preceding job", "think time",
}

func swfField(i int) string { return fmt.Sprintf("%d (%s)", i+1, swfName[i]) }

// set parses text as the i-th field, from 0.
func (r *SWFRecord) set(i int, text []byte) error {
	ints := [swfFields]*int64{
		0: &r.JobNumber, 4: &r.AllocatedProcs, 7: &r.RequestedProcs, 10: &r.Status, 11: &r.User, 12: &r.Group,
		13: &r.Executable, 14: &r.Queue, 15: &r.Partition, 16: &r.PrecedingJob,
	}
	if p := ints[i]; p != nil {
		v, err := parseWhole(text)
		*p = v
		return err
	}
	floats := [swfFields]*float64{
		1: &r.Submit, 2: &r.Wait, 3: &r.RunTime, 5: &r.AverageCPUTime, 6: &r.UsedMemory, 8: &r.RequestedTime,
		9: &r.RequestedMemory, 17: &r.ThinkTime,
	}
	v, err := workload.ParseDecimal(text)
	*floats[i] = v
	return err
}

// parseWhole parses an integer; a decimal point with zeros after it is tolerated.
func parseWhole(text []byte) (int64, error) {
	if v, ok := parseShort(text); ok {
		return v, nil
	}
	f, err := workload.ParseDecimal(text)
	if err == nil && f != math.Trunc(f) {
		err = workload.ErrNotWhole
	}
	return int64(f), err
}

// parseShort parses what nearly every field is: an integer of a few digits.
func parseShort(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		v = -v
	}
	return v, true
}
