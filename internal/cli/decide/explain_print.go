// SPDX-License-Identifier: BSD-3-Clause

package decide

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/window"
)

// maxListed is how many rivals are printed; JSON has all.
const maxListed = 12

// printExplanation prints one decision and its explanation.
func printExplanation(out io.Writer, d *window.Decision) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	x := d.Explanation
	if d.Start {
		printStart(t, d)
		return t.Flush()
	}
	fmt.Fprintf(t, "%s waits: %s\n", cli.Plain(d.Job), waitsFor(d))
	if d.Reason != "" && x.Why != "never" {
		fmt.Fprintf(t, "  the policy says: %s\n", d.Reason)
	}
	for i := range x.Lacks {
		fmt.Fprintf(t, "  %s%s\n", ofPart(x.Lacks[i].Parts), lack(&x.Lacks[i]))
	}
	if len(x.BlockedBy) > 0 {
		fmt.Fprintln(t, "  "+inTheWay(x))
		printRivals(t, x.BlockedBy)
	} else if x.Why == "no_fit" {
		fmt.Fprintln(t, "  no running job that the window names would leave room by its end: nodes are down, or held by others")
	}
	switch {
	case x.RoomIn == nil:
	case x.RoomKept:
		fmt.Fprintf(t, "  is expected to start in %d s: the policy has reserved that\n", *x.RoomIn)
	case *x.RoomIn == 0:
		fmt.Fprintln(t, "  has room now")
	default:
		fmt.Fprintf(t, "  has room in %d s, if nothing else starts before\n", *x.RoomIn)
	}
	printSuggestions(t, x)
	return t.Flush()
}

func printStart(t io.Writer, d *window.Decision) {
	own := window.Place{Nodes: d.Nodes, CoresPerNode: d.CoresPerNode, GPUsPerNode: d.GPUsPerNode, GPUsOfNodes: d.GPUsOfNodes}
	share := ""
	if d.GPUShare > 0 {
		share = ", " + shareOf(d.GPUShare, d.SharedGPU)
	}
	fmt.Fprintf(t, "%s starts on %s%s%s\n", cli.Plain(d.Job), placeOf(&own), share, ofAlternative(d.Alternative))
	for k := range d.Components {
		fmt.Fprintf(t, "  components[%d] on %s\n", k, placeOf(&d.Components[k]))
	}
	fmt.Fprintf(t, "  by a bid of class %s, worth %s\n", d.BidClass, worth(d.Explanation.Worth))
	if len(d.Explanation.Stops) > 0 {
		fmt.Fprintln(t, "  when these have been stopped")
		printRivals(t, d.Explanation.Stops)
	}
	if len(d.Explanation.WantedBy) > 0 {
		fmt.Fprintln(t, "  in the way, alone or with others, of")
		printRivals(t, d.Explanation.WantedBy)
	}
}

// shareOf is a share of a GPU in shared use; the number 0 is of none yet.
func shareOf(share int64, gpu int) string {
	if gpu == 0 {
		return cli.Count(share, "share") + " of one GPU"
	}
	return fmt.Sprintf("%s of GPU %d", cli.Count(share, "share"), gpu)
}

// onGPU is a place, and which GPU there if it is for a share of one.
func onGPU(place string, gpu int) string {
	if gpu == 0 {
		return place
	}
	return fmt.Sprintf("%s, GPU %d", place, gpu)
}

// placeOf says where an allocation is, and what it has there.
func placeOf(x *window.Place) string {
	cores := 0
	for _, c := range x.CoresPerNode {
		cores += c
	}
	gpus := ""
	switch {
	case len(x.GPUsOfNodes) > 0:
		gpus = fmt.Sprintf(", %s GPUs on each", rangeOf(x.GPUsPerNode, x.GPUsOfNodes))
	case x.GPUsPerNode > 0:
		gpus = fmt.Sprintf(", %s on each", cli.Count(x.GPUsPerNode, "GPU"))
	}
	return fmt.Sprintf("%s: %s%s", x.Nodes, cli.Count(cores, "core"), gpus)
}

// ofPart says which part of a job with components it is that lacks something, and which have their
// places before it; "" of other jobs.
func ofPart(parts []int) string {
	text := ""
	for i, k := range parts {
		text += [...]string{"", ", beside ", ", "}[min(i, 2)] + place.PartName(k)
	}
	if text != "" {
		text += ": "
	}
	return text
}

// waitsFor is the kind of the reason in words.
func waitsFor(d *window.Decision) string {
	switch x := d.Explanation; x.Why {
	case "never":
		return x.Never
	case "no_fit":
		return "nothing that is free suits it"
	case "lost":
		if slices.ContainsFunc(x.BlockedBy, func(r window.Rival) bool { return r.Role == "reserved" }) {
			return "jobs that start now take its place, and reservations"
		}
		return "jobs that start now take its place"
	case "reserved":
		return "it would run into reservations"
	case "over_quota":
		return "a quota has too little left"
	}
	return "there may be room, but the policy did not use it"
}

// lack says what is short in a sentence.
func lack(l *core.Lack) string {
	var each []string // there may be nothing, of a job that takes no core
	for _, row := range slices.Sorted(maps.Keys(l.Each)) {
		switch amount := l.Each[row]; row {
		case "cores":
			each = append(each, cli.Count(amount, "free core"))
		case "gpus":
			each = append(each, cli.Count(amount, "free GPU"))
		case format.GPUShare:
			each = append(each, shareOf(amount, 0))
		default:
			each = append(each, fmt.Sprintf("%d %s", amount, row))
		}
	}
	node, need := strings.Join(each, " and "), cli.Count(l.Needs, "node")
	switch {
	case l.In == "quota":
		return fmt.Sprintf("counts %d against %s at least, %d are left", l.Needs, cli.Plain(l.Row), l.Has)
	case l.In == "shares":
		return fmt.Sprintf("needs %s, at most %d of one are free where it could be", shareOf(l.Needs, 0), l.Has)
	case l.In == "cores":
		why := "are free"
		if l.Row != "cores" {
			why = "have " + l.Row
		}
		return fmt.Sprintf("needs %s, at most %d %s where it could be (%s with %s)",
			cli.Count(l.Needs, "core"), l.Has, why, cli.Count(l.Among, "node"), node)
	}
	of := fmt.Sprintf("needs %s with %s, %d of %d have ", need, node, l.Has, l.Among)
	switch l.Row {
	case "nodes":
		return fmt.Sprintf("needs %s, %d are up and may be used", need, l.Has)
	case "gpus_per_node":
		return of + "the GPUs"
	case "cores_per_node":
		return of + "that"
	case "contiguous":
		return fmt.Sprintf("needs %s in a row with %s, the longest run has %d", need, node, l.Has)
	case "apart":
		return fmt.Sprintf("needs %s with %s apart from other parts, %d have that", need, node, l.Has)
	case "all_within":
		return fmt.Sprintf("all parts would have places, on %s, but at most %d of these are below one switch", need, l.Has)
	case "switches":
		return fmt.Sprintf("needs %s with %s below such switches as it demands, at most %d are", need, node, l.Has)
	}
	return of + "the " + l.Row
}

// inTheWay says what all of the rivals are to the job.
func inTheWay(x *window.Explanation) string {
	switch {
	case x.BlockedBy[0].Role == "running":
		return "it has room on " + onGPU(x.Place, x.SharedGPU) + " when all of these have ended"
	case x.Place == "":
		return "these reservations begin before its time limit runs out"
	}
	sum := 0.0
	for _, r := range x.BlockedBy {
		sum += r.Worth
	}
	why := ""
	if x.Planned && sum < x.Worth {
		why = ", which come first in the plan over time that the preset makes"
	}
	return fmt.Sprintf("it is worth %s; it would have room on %s without these, worth %s together%s",
		worth(x.Worth), onGPU(x.Place, x.SharedGPU), worth(sum), why)
}

func printRivals(t io.Writer, rivals []window.Rival) {
	for _, r := range rivals[:min(len(rivals), maxListed)] {
		has := ""
		if r.GPUs > 0 {
			has = cli.Count(r.GPUs, "GPU") + ", "
		}
		if r.Nodes != "" {
			has += cli.Count(r.Cores, "core")
			for _, name := range slices.Sorted(maps.Keys(r.Resources)) {
				if name == format.GPUShare {
					has += ", " + shareOf(r.Resources[name], r.SharedGPU)
				} else {
					has += fmt.Sprintf(", %d %s", r.Resources[name], name)
				}
			}
			has = fmt.Sprintf("\t%s on %s", has, r.Nodes)
		}
		fmt.Fprintf(t, "    %s\t%s%s\n", cli.Cell(r.Job), roleOf(&r), has)
	}
	if more := len(rivals) - maxListed; more > 0 {
		fmt.Fprintf(t, "    and %d more\n", more)
	}
}

func roleOf(r *window.Rival) string {
	switch r.Role {
	case "running":
		return fmt.Sprintf("runs, ends in %d s%s", *r.At, preemptable(r))
	case "starting":
		return fmt.Sprintf("starts, worth %s", worth(r.Worth))
	case "reserved":
		return fmt.Sprintf("reserved from %d s on, worth %s", *r.At, worth(r.Worth))
	}
	return fmt.Sprintf("waits, worth %s", worth(r.Worth))
}

// preemptable says of a job that runs whether it may be preempted, where any may.
func preemptable(r *window.Rival) string {
	switch {
	case r.Preemptable == nil:
		return ""
	case !*r.Preemptable:
		return ", and may not be preempted for it"
	}
	return fmt.Sprintf(", and may be preempted for it, worth %s", worth(r.Worth))
}

func printSuggestions(t io.Writer, x *window.Explanation) {
	for i, s := range x.Suggestions {
		if i == 0 {
			fmt.Fprintln(t, "  would have started now with (any one line of)")
		}
		var list []string
		for _, c := range s.Changes {
			list = append(list, fmt.Sprintf("%s %s instead of %s", c.Field, c.To, c.From))
		}
		about := ""
		if !s.Smallest {
			about = "about "
		}
		fmt.Fprintf(t, "    %s%s, on %s%s\n", about, strings.Join(list, " and "), onGPU(s.Nodes, s.SharedGPU), ofAlternative(s.Alternative))
	}
	if len(x.Suggestions) == 0 && x.Trials > 0 {
		fmt.Fprintln(t, "  no change that was tried would have started it now")
	}
	if x.Trials > 0 || x.Cut != "" {
		fmt.Fprintf(t, "  %s\n", strings.TrimSuffix(cli.Count(x.Trials, "trial")+"; "+x.Cut, "; "))
	}
	if x.Late {
		fmt.Fprintln(t, "  decisions were cut short by their deadline: another run may differ")
	}
}

// worth is what a start is worth: a priority, or that times a share of the machine by time.
func worth(x float64) string {
	if x < 1 {
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.10g", x)
}

// rangeOf is least, or the range from there if the nodes differ.
func rangeOf(least int, ofNodes []int) string {
	if len(ofNodes) > 0 && slices.Max(ofNodes) > least {
		return fmt.Sprintf("%d-%d", least, slices.Max(ofNodes))
	}
	return fmt.Sprint(least)
}

// ofAlternative says which of a job's alternatives is met.
func ofAlternative(k int) string {
	if k == 0 {
		return ""
	}
	return fmt.Sprintf(" (alternative %d)", k)
}
