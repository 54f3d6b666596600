// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
				x.tooManyLicences(f.text("Licenses"), l["LicenseName"], l["Total"])
			}
		}
	}
	if x.Means != reasons["Licenses"].means { // there are fewer than it asks for
		return
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

// tooManyLicences is for a job that asks for more licences than there are.
func (x *Answer) tooManyLicences(all, name, total string) {
	n, err := strconv.Atoi(total)
	if err != nil || strings.Contains(all, "|") { // one of several will do
		return
	}
	for l := range strings.SplitSeq(all, ",") {
		if count, isOne := strings.CutPrefix(l, name); isOne && (count == "" || count[0] == ':') {
			if asks := max(number(strings.TrimPrefix(count, ":")), 1); asks > n {
				x.Means = fmt.Sprintf("licences %s: it asks for %d, the limit is %d: it can't start as it is", name, asks, n)
				x.Helps = []string{fmt.Sprintf("ask for at most %d of %s", n, name), "an administrator adds licences"}
			}
		}
	}
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
	d := parseAsked(f)
	if l.qos {
		a.qosLimits(ctx, x, text, f, l, &d)
		return
	}
	for _, r := range l.counting(ancestors(parseRecords(text, first), f["Account"], x.User, list(f["Partition"]))) {
		if set := l.setting(r); set != "" {
			x.fact("%s of %s: %s", l.field, assocName(r), set)
			x.tooMuch(l.beyond(r, &d), assocName(r))
		}
	}
}

// counting leaves of associations those whose limit is enforced: one of a single job is the user's
// own, who inherits it from the account.
func (l limit) counting(records []fields) []fields {
	if strings.HasPrefix(l.field, "Grp") {
		return records
	}
	for _, r := range records {
		if r["UserName"] != "" {
			return []fields{r}
		}
	}
	return records
}

// tooMuch says that a job can't start as it is, by a limit of whose.
func (x *Answer) tooMuch(b *beyond, whose string) {
	if b == nil {
		return
	}
	if x.Means = b.words(whose); b.least {
		x.Helps = []string{"ask for " + b.asAsked("at least"), "an administrator lowers the limit"}
		return
	}
	x.Helps = []string{"an administrator raises the limit"}
	switch {
	case b.limit == 0:
	case strings.Contains(b.field, "Wall"):
		x.Helps = slices.Insert(x.Helps, 0, fmt.Sprintf("scontrol update JobId=%s TimeLimit=%d, if that is long enough for it",
			x.Job, b.limit))
	default:
		x.Helps = slices.Insert(x.Helps, 0, "ask for "+b.asAsked("at most"))
	}
}

func assocName(r fields) string {
	if user, _, _ := strings.Cut(r["UserName"], "("); user != "" {
		return fmt.Sprintf("user %s in account %s", user, r["Account"])
	}
	return "account " + r["Account"]
}

// ancestors are the associations that count for a job: the user's own, and those above it.
// One of a partition is that of jobs in it.
func ancestors(records []fields, account, user string, partitions []string) (all []fields) {
	for range 64 { // deep at most
		found := false
		for _, r := range records {
			name, _, _ := strings.Cut(r["UserName"], "(")
			in := r["Partition"] == "" || slices.Contains(partitions, r["Partition"])
			if r["Account"] == account && (name == "" || name == user) && in {
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
	var set []string
	for _, s := range l.settings(r) {
		set = append(set, s.text)
	}
	return strings.Join(set, ",")
}

// qosLimits finds the limit in the QOS of the job or of its partition: for all, or beneath its
// users, by uid, and its accounts. Which QOS goes before the other Slurm doesn't say here: only
// what is too much for each that has the limit is too much.
func (a *Asker) qosLimits(ctx context.Context, x *Answer, text string, f fields, l limit, d *asked) {
	names := []string{f["QOS"]}
	if partition, err := a.Run(ctx, "scontrol", "show", "partition", f["Partition"]); err == nil {
		for _, p := range parseRecords(partition, "PartitionName") {
			if name := p.text("QoS"); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var most *beyond
	whose, all := "", true
	for _, name := range names {
		for _, r := range l.ofQOS(text, name, x.User, f) {
			if set := l.setting(r.fields); set != "" && len(x.Facts) < 20 {
				x.fact("%s of QOS %s%s: %s", l.field, name, r.whose, set)
				if b := l.beyond(r.fields, d); b != nil {
					most, whose = b, "QOS "+name+r.whose
				} else {
					all = false
				}
			}
		}
	}
	if all {
		x.tooMuch(most, whose)
	}
}

// qosRecord is a line of a QOS's limits.
type qosRecord struct {
	fields
	whose string // ", USER" beneath users and accounts
}

// ofQOS are lines with limits of a QOS that count for a job. What another user or account has used
// doesn't, but the limit is the same.
func (l limit) ofQOS(text, qos, user string, f fields) (mine []qosRecord) {
	_, uid, _ := strings.Cut(strings.TrimSuffix(f["UserId"], ")"), "(")
	in, users, whose := false, false, ""
	var others []qosRecord
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "QOS="):
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "QOS="), "(")
			in, whose = name == qos, ""
		case in && strings.HasSuffix(line, " Limits"):
			users, whose = strings.HasPrefix(line, "User"), ""
		case in && line != "" && !strings.Contains(line, "="):
			whose = line
		}
		if !in {
			continue
		}
		r := qosRecord{fields: fields{}}
		AddFields(r.fields, line)
		if r.fields[l.field] == "" && r.fields[l.field+"PJ"] == "" {
			continue
		}
		switch {
		case whose == "":
		case users && (whose == uid || strings.HasSuffix(whose, "("+uid+")")):
			// till 22.05, and since
			r.whose = ", " + user
		case !users && whose == f["Account"]:
			r.whose = ", account " + whose
		default:
			others = append(others, qosRecord{fields{l.field: used.ReplaceAllString(r.fields[l.field], "(0)")}, ""})
			continue
		}
		mine = append(mine, r)
	}
	if len(mine) == 0 && len(others) > 0 {
		return others[:1]
	}
	return mine
}

var used = regexp.MustCompile(`\([0-9.]*\)`)
