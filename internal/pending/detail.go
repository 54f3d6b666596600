// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/scontrol"
)

// detail adds what is behind a cause that Slurm names. What can't be asked is left out: it may be
// private.
func (a *Asker) detail(ctx context.Context, x *Answer, f fields, l limit) {
	switch x.Kind {
	case Dependency:
		x.fact("Dependency=%s", f["Dependency"])
		a.dependsOn(ctx, x, f["Dependency"])
	case BeginTime:
		x.Expected = f.time("StartTime")
		x.fact("EligibleTime=%s", f["EligibleTime"])
	case Partition, PartitionLimit:
		a.partition(ctx, x, f)
	case Licences:
		a.licences(ctx, x, f)
	case Limit:
		a.limits(ctx, x, f, l)
	case ArrayLimit:
		x.fact("ArrayTaskThrottle=%s", f["ArrayTaskThrottle"])
		if text, err := a.Run(ctx, "squeue", "-h", "-j", f["ArrayJobId"], "-t", "R,S,CG,CF", "-o", "%i|%u|%N|%C|%e"); err == nil {
			x.Holders = parseHolders(text)
		}
	case Reservation:
		a.reservation(ctx, x, f)
	}
}

// mostNamed bounds lists of jobs in questions and answers.
const mostNamed = 50

func (a *Asker) dependsOn(ctx context.Context, x *Answer, dependency string) {
	ids := strings.FieldsFunc(dependency, func(r rune) bool { return r < '0' || r > '9' })
	if ids = ids[:min(len(ids), mostNamed)]; len(ids) == 0 {
		return
	}
	if text, err := a.Run(ctx, "squeue", "-h", "-t", "all", "-j", strings.Join(ids, ","), "-o", "%A %T"); err == nil {
		for line := range strings.Lines(text) {
			if id, state, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				x.fact("job %s is %s", id, strings.ToLower(state))
			}
		}
	}
}

func (a *Asker) partition(ctx context.Context, x *Answer, f fields) {
	text, err := a.Run(ctx, "scontrol", "show", "partition", f["Partition"])
	if err != nil {
		return
	}
	for _, p := range parseRecords(text, "PartitionName") {
		x.fact("partition %s: State=%s MaxNodes=%s MinNodes=%s MaxTime=%s TotalNodes=%s", p["PartitionName"], p["State"],
			p["MaxNodes"], p["MinNodes"], p["MaxTime"], p["TotalNodes"])
	}
	x.fact("the job: NumNodes=%s TimeLimit=%s", f["NumNodes"], f["TimeLimit"])
}

func (a *Asker) licences(ctx context.Context, x *Answer, f fields) {
	var wanted []string
	for l := range strings.SplitSeq(f.text("Licenses"), ",") {
		name, _, _ := strings.Cut(l, ":")
		wanted = append(wanted, name)
	}
	x.fact("Licenses=%s", f["Licenses"])
	if text, err := a.Run(ctx, "scontrol", "show", "licenses"); err == nil {
		for _, l := range parseRecords(text, "LicenseName") {
			if slices.Contains(wanted, l["LicenseName"]) {
				x.fact("%s: %s of %s in use, %s reserved", l["LicenseName"], l["Used"], l["Total"], l["Reserved"])
			}
		}
	}
	text, err := a.Run(ctx, "squeue", "-h", "-t", "R,S,CG", "-o", "%i|%u|%N|%C|%e|%W")
	if err != nil {
		return
	}
	for line := range strings.Lines(text) {
		cut := strings.LastIndexByte(line, '|')
		if cut < 0 || !overlap(wanted, licenceNames(line[cut+1:])) {
			continue
		}
		if x.Holders = append(x.Holders, parseHolders(line[:cut])...); len(x.Holders) >= mostNamed {
			break
		}
	}
	x.Helps = nil
	x.help(freed(x.Holders))
}

func licenceNames(text string) (names []string) {
	for l := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		name, _, _ := strings.Cut(l, ":")
		names = append(names, name)
	}
	return names
}

func (a *Asker) reservation(ctx context.Context, x *Answer, f fields) {
	x.fact("Reservation=%s", f["Reservation"])
	text, err := a.Run(ctx, "scontrol", "show", "reservation", f["Reservation"])
	if err != nil {
		return
	}
	for _, r := range parseRecords(text, "ReservationName") {
		x.fact("%s is %s, from %s to %s, on %s", r["ReservationName"], strings.ToLower(r["State"]),
			r["StartTime"], r["EndTime"], r["Nodes"])
		if start := r.time("StartTime"); start.After(a.Now()) {
			x.Expected = start
		}
	}
}

// limits names the association or QOS whose limit it is, and how much of it is used.
func (a *Asker) limits(ctx context.Context, x *Answer, f fields, l limit) {
	x.fact("Account=%s QOS=%s", f["Account"], f["QOS"])
	if l.field == "" {
		return
	}
	flag, first := "flags=assoc", "ClusterName"
	if l.qos {
		flag, first = "flags=qos", "QOS"
	}
	text, err := a.Run(ctx, "scontrol", "show", "assoc_mgr", flag)
	if err != nil {
		return
	}
	records := parseRecords(text, first)
	if l.qos {
		_, uid, _ := strings.Cut(strings.TrimSuffix(f["UserId"], ")"), "(")
		a.qosLimits(x, text, f["QOS"], uid, l)
		return
	}
	for _, r := range ancestors(records, f["Account"], x.User) {
		if set := l.setting(r); set != "" {
			x.fact("%s of %s: %s", l.field, assocName(r), set)
		}
	}
}

func assocName(r fields) string {
	if user, _, _ := strings.Cut(r["UserName"], "("); user != "" {
		return fmt.Sprintf("user %s in account %s", user, r["Account"])
	}
	return "account " + r["Account"]
}

// ancestors are the associations that count for a job: the user's own, and those above it.
func ancestors(records []fields, account, user string) (all []fields) {
	for range 64 { // deep at most
		found := false
		for _, r := range records {
			if name, _, _ := strings.Cut(r["UserName"], "("); r["Account"] == account && (name == "" || name == user) {
				all, found = append(all, r), true
			}
		}
		next := ""
		for _, r := range records {
			if r["Account"] == account && r["UserName"] == "" {
				next, _, _ = strings.Cut(r["ParentAccount"], "(")
			}
		}
		if account = next; !found || account == "" {
			break
		}
	}
	return all
}

// setting is what a record says of the limit, "cpu=64(64)", as limit(used); "" if there is none.
func (l limit) setting(r fields) string {
	value := r[l.field]
	if l.tres == "" {
		if value == "" || strings.HasPrefix(value, "N") {
			return ""
		}
		return value
	}
	var set []string
	for part := range strings.SplitSeq(value, ",") {
		name, amount, _ := strings.Cut(part, "=")
		if strings.HasPrefix(name, l.tres) && amount != "" && !strings.HasPrefix(amount, "N") {
			set = append(set, part)
		}
	}
	return strings.Join(set, ",")
}

// qosLimits finds the limit of a QOS: for all, or beneath its users, by uid, and its accounts.
func (a *Asker) qosLimits(x *Answer, text, qos, uid string, l limit) {
	in, whose := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "QOS="):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "QOS="), "(")
			in, whose = name == qos, ""
		case in && line != "" && !strings.Contains(line, "="):
			if whose, _, _ = strings.Cut(line, "("); whose == uid {
				whose = x.User
			}
		}
		if !in {
			continue
		}
		r := fields{}
		scontrol.Add(r, line)
		set := l.setting(r)
		mine := whose == x.User || whose == "" || strings.HasSuffix(whose, "Limits")
		if set != "" && mine && len(x.Facts) < 20 {
			x.fact("%s of QOS %s%s: %s", l.field, qos, beneath(whose), set)
		}
	}
}

func beneath(whose string) string {
	if whose == "" || strings.HasSuffix(whose, "Limits") {
		return ""
	}
	return ", " + whose
}
