// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"strings"
)

// Kind is what a job waits for, of all the kinds that Slurm's reasons and the auction have.
type Kind string

// What a job waits for.
const (
	NotWaiting     Kind = "not_waiting"
	Held           Kind = "held"
	Dependency     Kind = "dependency"
	BeginTime      Kind = "begin_time"
	Partition      Kind = "partition" // down or inactive
	PartitionLimit Kind = "partition_limit"
	Licences       Kind = "licences"
	Limit          Kind = "limit" // of an association or a QOS
	ArrayLimit     Kind = "array_limit"
	Reservation    Kind = "reservation" // its own, which has not begun or is full
	ReservedAhead  Kind = "time_limit"  // it would run into a reservation
	NodesDown      Kind = "nodes_down"  // nodes that it needs are down, drained or reserved
	Impossible     Kind = "impossible"  // no nodes of the partition can meet it, as they are
	Resources      Kind = "resources"   // what it needs is held by others
	// there is room, and others come first or are worth more
	Turn      Kind = "turn"
	ToBeTried Kind = "to_be_considered" // there is room, and nobody has looked yet
	Other     Kind = "other"
)

// A stock reason in words: what it means, and what helps.
type reason struct {
	kind  Kind
	means string
	helps string
}

// reasons are those of Slurm that name a cause by themselves; limits are decoded by their parts.
var reasons = map[string]reason{
	"JobHeldUser":  {Held, "its user holds it", "scontrol release %j"},
	"JobHeldAdmin": {Held, "an administrator or Slurm holds it", "an administrator releases it: scontrol release %j"},
	"JobHoldMaxRequeue": {Held, "it was requeued too often (MaxBatchRequeue), and is held",
		"find out why it fails, then scontrol release %j"},
	"launch_failed_requeued_held": {Held, "its launch failed; it was requeued and is held",
		"an administrator finds out why in the log of the node's slurmd, then scontrol release %j"},
	"Dependency": {Dependency, "it depends on jobs that have not come so far",
		"when these have; or scontrol update JobId=%j Dependency="},
	"DependencyNeverSatisfied": {Dependency, "it depends on what can't happen any more",
		"scontrol update JobId=%j Dependency=, or scancel %j"},
	"BeginTime": {BeginTime, "its earliest start is still to come", "scontrol update JobId=%j StartTime=now"},
	"PartitionDown": {Partition, "its partition is down",
		"an administrator sets it up; or scontrol update JobId=%j Partition=ANOTHER"},
	"PartitionInactive": {Partition, "its partition is inactive",
		"an administrator sets it up; or scontrol update JobId=%j Partition=ANOTHER"},
	"PartitionNodeLimit": {PartitionLimit, "it asks for more or fewer nodes than its partition allows, or has up",
		"scontrol update JobId=%j NumNodes=N, within the limits of the partition"},
	"PartitionTimeLimit": {PartitionLimit, "its time limit is beyond that of its partition",
		"scontrol update JobId=%j TimeLimit=MINUTES, within that of the partition"},
	"Licenses":           {Licences, "licences that it needs are in use", "when jobs that hold them have ended"},
	"Reservation":        {Reservation, "it waits for its reservation", "when the reservation is active and has room"},
	"ReservationDeleted": {Reservation, "its reservation is gone", "scontrol update JobId=%j ReservationName=, or that of another"},
	"ReqNodeNotAvail":    {NodesDown, "a node that it needs is down, drained or reserved", ""},
	"BadConstraints":     {Impossible, "no nodes can meet its request", "change what it asks for"},
	"JobArrayTaskLimit": {ArrayLimit, "as many tasks of its array run as may run at once",
		"when one of these has ended; or scontrol update JobId=%j ArrayTaskThrottle=N"},
	"InvalidAccount": {Limit, "its user may not use its account", "scontrol update JobId=%j Account=ANOTHER"},
	"InvalidQOS":     {Limit, "it may not use its QOS", "scontrol update JobId=%j QOS=ANOTHER"},
	"QOSNotAllowed":  {Limit, "its association or partition does not allow its QOS", "scontrol update JobId=%j QOS=ANOTHER"},
	"AccountNotAllowed": {Limit, "its partition does not allow its account",
		"scontrol update JobId=%j Account=ANOTHER, or another partition"},
	"QOSUsageThreshold":        {Limit, "its usage is above the threshold of its QOS (UsageThreshold)", "when the usage has decayed"},
	"Prolog":                   {Other, "its prolog runs", ""},
	"Cleaning":                 {Other, "it was requeued, and its last run is still being cleaned up", ""},
	"SchedDefer":               {Other, "it asked to start at once, and the site does not try at submission (defer)", ""},
	"SystemFailure":            {Held, "Slurm failed at it", "an administrator looks into slurmctld's log"},
	"JobLaunchFailure":         {Held, "its launch failed", "an administrator looks into the log of the node's slurmd"},
	"AssociationJobLimit":      {Limit, "its association has its limit of jobs", ""},
	"AssociationResourceLimit": {Limit, "its association has its limit of resources", ""},
	"AssociationTimeLimit":     {Limit, "its association has its limit of time", ""},
	"QOSJobLimit":              {Limit, "its QOS has its limit of jobs", ""},
	"QOSResourceLimit":         {Limit, "its QOS has its limit of resources", ""},
	"QOSTimeLimit":             {Limit, "its QOS has its limit of time", ""},
	"BurstBufferResources":     {Other, "its burst buffer has no room yet", ""},
	"BurstBufferStageIn":       {Other, "its burst buffer is being filled", ""},
	"DeadLine":                 {Other, "it can't meet its deadline any more", ""},
	"NodeDown":                 {NodesDown, "a node that it needs is down", ""},
	"MaxMemPerLimit": {Impossible, "it asks for more memory than is allowed (MaxMemPerNode, MaxMemPerCPU)",
		"ask for less memory"},
}

// A limit, by the parts of its reason: AssocGrpCpuLimit, QOSMaxJobsPerUserLimit.
type limit struct {
	qos   bool
	field string // of "scontrol show assoc_mgr": GrpTRES, MaxJobsPU
	tres  string // cpu, mem, ... within the field; "" for a plain number
}

// tresNames are Slurm's words for what is limited, as reasons and assoc_mgr have them.
var tresNames = []struct{ word, tres string }{
	{"Cpu", "cpu"}, {"CPU", "cpu"}, {"Mem", "mem"}, {"Memory", "mem"}, {"Node", "node"}, {"GRES", "gres"}, {"Billing", "billing"},
	{"Energy", "energy"}, {"License", "license"}, {"BB", "bb"}, {"Unknown", ""},
}

// parseLimit decodes the reason of a limit of an association or a QOS.
func parseLimit(name string) (limit, bool) {
	rest, qos := strings.CutPrefix(name, "QOS")
	per := strings.HasSuffix(name, "PerAccount") || strings.HasSuffix(name, "PerUser")
	l := limit{qos: qos || strings.HasPrefix(name, "Max") && per}
	if !l.qos {
		var ok bool
		if rest, ok = strings.CutPrefix(name, "Assoc"); !ok {
			return l, false
		}
	}
	group := strings.HasPrefix(rest, "Grp")
	if !group && !strings.HasPrefix(rest, "Max") && !strings.HasPrefix(rest, "Min") {
		return l, false
	}
	kind, rest := rest[:3], strings.TrimSuffix(rest[3:], "Limit")
	what, whose, _ := strings.Cut(strings.TrimSuffix(rest, "NotSatisfied"), "Per")
	switch what {
	case "Jobs", "SubmitJob", "SubmitJobs", "JobsAccrue", "Wall", "WallDuration":
		l.field = kind + map[string]string{"SubmitJob": "SubmitJobs", "WallDuration": "Wall"}[what]
		if l.field == kind {
			l.field += what
		}
		l.field += perWords[whose]
		return l, true
	}
	l.field = kind + "TRES"
	for _, more := range []struct{ word, suffix string }{{"RunMinutes", "RunMins"}, {"RunMins", "RunMins"}, {"Minutes", "Mins"}} {
		if w, ok := strings.CutSuffix(what, more.word); ok {
			what, l.field = w, l.field+more.suffix
			break
		}
	}
	l.field += perWords[whose]
	for _, n := range tresNames {
		if what == n.word {
			l.tres = n.tres
			return l, true
		}
	}
	return l, false
}

var perWords = map[string]string{"": "", "User": "PU", "Account": "PA", "Job": "PJ", "Node": "PN"}

// words says in which words the field is known to administrators.
func (l limit) words() string {
	whose := "its association"
	if l.qos {
		whose = "its QOS"
	}
	what := l.field
	if l.tres != "" {
		what += "=" + l.tres
	}
	return "a limit of " + whose + " is reached: " + what
}
