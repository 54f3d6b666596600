// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Answer is why a job waits.
type Answer struct {
	Job       string `json:"job"`
	Name      string `json:"name"`
	User      string `json:"user"`
	Partition string `json:"partition"`
	State     string `json:"state"`
	Reason    string `json:"reason"` // stock Slurm's, as squeue has it
	Kind      Kind   `json:"kind"`
	Means     string `json:"means"` // the cause in words
	// Facts are what is behind it, in sentences.
	Facts   []string `json:"facts,omitempty"`
	Auction *Verdict `json:"auction,omitempty"` // nil: it says nothing of the job
	// Holders have what the job waits for: jobs that Slurm shows to who asks.
	Holders []Holder `json:"holders,omitempty"`
	// Helps are what would let it start, any one of them.
	Helps []string `json:"helps,omitempty"`
	// Expected is when Slurm or the auction expects it to start, zero: nobody says.
	Expected time.Time `json:"expected,omitzero"`
}

// An Asker asks one Slurm about jobs, and keeps for all of them what they have in common.
type Asker struct {
	Run Run
	Now func() time.Time

	seen *machine // once it has been asked for
}

// Pending are the ids of a user's waiting jobs, at most most, in Slurm's order;
// and how many there are.
func (a *Asker) Pending(ctx context.Context, user string, most int) (ids []string, all int, err error) {
	text, err := a.Run(ctx, "squeue", "-h", "-t", "PD", "-u", user, "-o", "%A")
	if err != nil {
		return nil, 0, err
	}
	ids = strings.Fields(text)
	return ids[:min(len(ids), most)], len(ids), nil
}

// Why says why a job waits.
func (a *Asker) Why(ctx context.Context, id string) (*Answer, error) {
	if !IsJobID(id) {
		return nil, fmt.Errorf("%.40q: no id of a job, such as 12, 12_3 or 12+1", id)
	}
	text, err := a.Run(ctx, "scontrol", "show", "job", id)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	records, err := parseJobs(flatten(ctx, a.Run, id, text), id)
	if err != nil {
		return nil, err
	}
	f := records[0]
	if i := slices.IndexFunc(records, isPending); i >= 0 {
		f = records[i]
	}
	return a.answer(ctx, f)
}

func isPending(f fields) bool { return f["JobState"] == "PENDING" }

func (a *Asker) answer(ctx context.Context, f fields) (*Answer, error) {
	user, _, _ := strings.Cut(f["UserId"], "(")
	x := &Answer{Job: f["JobId"], Name: f["JobName"], User: user, Partition: f["Partition"], State: f["JobState"],
		Reason: f["Reason"], Kind: NotWaiting, Means: "it does not wait: " + strings.ToLower(f["JobState"])}
	if !isPending(f) {
		return x, nil
	}
	x.Auction = parseVerdict(f["SystemComment"])
	name := reasonName(x.Reason)
	r, known := reasons[name]
	l, isLimit := parseLimit(name)
	switch {
	case f["Priority"] == "0" && r.kind != Held && r.kind != Dependency && r.kind != BeginTime:
		r, known = reason{Held, "it is held, with priority 0", "scontrol release %j"}, true
	case !known && isLimit:
		r, known = reason{Limit, l.words(), "when running jobs that count against it have ended, or an administrator raises it"}, true
	}
	if known && r.kind != NodesDown && r.kind != Impossible {
		x.Auction = nil // it takes no part
		x.take(r)
		a.detail(ctx, x, f, l)
		return x, nil
	}
	return x, a.place(ctx, x, f, r)
}

// reasonName is the reason without what Slurm adds to it: "ReqNodeNotAvail,_UnavailableNodes:n1".
func reasonName(text string) string {
	name, _, _ := strings.Cut(text, ",")
	return strings.TrimSuffix(strings.TrimSpace(name), "*")
}

func (x *Answer) take(r reason) {
	x.Kind, x.Means = r.kind, r.means
	x.help(r.helps)
}

func (x *Answer) help(text string) {
	if text = strings.ReplaceAll(text, "%j", x.Job); text != "" && !slices.Contains(x.Helps, text) {
		x.Helps = append(x.Helps, text)
	}
}

func (x *Answer) fact(format string, args ...any) {
	x.Facts = append(x.Facts, fmt.Sprintf(format, args...))
}

// place says how the nodes are to a job for which Slurm names no other cause.
func (a *Asker) place(ctx context.Context, x *Answer, f fields, r reason) error {
	m, err := a.machine(ctx)
	if err != nil {
		return err
	}
	d := parseDemand(f)
	if text, err := a.Run(ctx, "squeue", "-h", "-j", x.Job, "-O", "MaxNodes:12"); err == nil {
		d.setMost(number(strings.TrimSpace(text)))
	}
	now := a.Now()
	fit := d.fit(m, now)
	x.Kind = fit.kind
	x.Facts = append(x.Facts, fit.facts(&d)...)
	if start := f.time("StartTime"); start.After(now) {
		x.Expected = start
	}
	switch fit.kind {
	case Turn:
		x.turn()
	case Resources:
		x.Means = "nothing that is free suits it: others hold what it needs"
		x.Holders = fit.holders
		x.help(freed(fit.holders))
	case ReservedAhead:
		x.Means = "it would run into a reservation: its time limit is too long for the nodes that are free"
		minutes := int(fit.first.start.Sub(now) / time.Minute)
		if minutes > 1 {
			x.help(fmt.Sprintf("scontrol update JobId=%s TimeLimit=%d, if that is long enough for it", x.Job, minutes-1))
		}
		x.help("when the reservation " + fit.first.name + " is over")
	case NodesDown:
		x.Means = "nodes that it needs are not up, or are reserved for others"
		for _, n := range m.nodes {
			if slices.Contains(fit.of[down], n.name) && n.reason != "" && len(x.Facts) < 20 {
				x.fact("%s: %s", n.name, n.reason)
			}
		}
		if nodes := fit.of[down]; len(nodes) > 0 {
			x.help("when nodes are back: an administrator repairs and resumes " + compress(nodes))
		}
		if len(d.required) > 0 {
			x.help("name other nodes: scontrol update JobId=" + x.Job + " ReqNodeList=")
		}
	case Impossible:
		x.Means = "the nodes of its partition, as they are, can't meet its request"
		x.help("change what it asks for, or its partition: scontrol update JobId=" + x.Job + " ...")
	}
	if x.Kind == Turn && r.kind == NodesDown {
		x.fact("Slurm's reason is of its last look: %s", r.means)
	}
	if x.Auction != nil && x.Kind != Impossible {
		x.help(x.Auction.Change)
	}
	return nil
}

// turn is for a job that has room, by what Slurm shows of nodes.
func (x *Answer) turn() {
	x.Kind, x.Means = Turn, "there is room for it now, as far as Slurm's tables of nodes show it"
	v := x.Auction
	if v == nil {
		x.Kind = ToBeTried
		x.Means += "; nobody has said anything of it yet"
		x.help("wait for the next cycle of the auction, or of Slurm's schedulers")
		return
	}
	switch v.Word {
	case "lost":
		x.Means += ", and others are worth more, or come first"
	case "left":
		x.Means += ", and Slurm's own schedulers have it, in the order of priorities"
	case "kept", "fit":
		x.Means += ", but what is free is kept for others, or lies so that the job can't have it"
	case "quota":
		x.Means += ", but with jobs that come before it a limit or licences would be exceeded"
		x.help("when jobs that come before it have ended or are gone")
		x.help("an administrator raises the limit of its association or QOS, or adds licences")
		return
	case "late":
		x.Means += ", but the deadline of a decision came before its turn"
		x.help("when jobs that come before it have started, or an administrator gives decisions more time (auc_deadline_ms)")
		return
	default:
		x.Means += "; " + v.Meaning
	}
	if len(v.LostTo) > 0 {
		x.help("when jobs that come before it have started or are gone: it lost to " + strings.Join(v.LostTo, ", "))
	} else {
		x.help("when jobs that come before it have started or are gone")
	}
	x.help("a shorter time limit, so that it ends before what is kept for others begins: scontrol update JobId=" +
		x.Job + " TimeLimit=MINUTES")
}

// freed is what helps against holders.
func freed(holders []Holder) string {
	if len(holders) == 0 {
		return "when jobs on these nodes have ended (Slurm does not show you whose)"
	}
	var ids []string
	for _, h := range holders[:min(len(holders), 8)] {
		ids = append(ids, h.Job)
	}
	more := ""
	if len(holders) > len(ids) {
		more = fmt.Sprintf(" and %d more", len(holders)-len(ids))
	}
	return "when enough of these jobs have ended: " + strings.Join(ids, ", ") + more
}

func (a *Asker) machine(ctx context.Context) (*machine, error) {
	if a.seen == nil {
		m, err := askMachine(ctx, a.Run)
		if err != nil {
			return nil, err
		}
		a.seen = m
	}
	return a.seen, nil
}
