// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Verdict is what the auction says of a waiting job.
type Verdict struct {
	Word    string `json:"word"`           // fit, lost, kept, left, ...: see docs/howto/why.md
	Left    string `json:"left,omitempty"` // with "left": the word of docs/reference/slurm-jobs.md's table
	Meaning string `json:"meaning"`
	// Change is what the user can change so that the auction decides it; "" if there is nothing.
	Change string `json:"change,omitempty"`
	// LostTo are the jobs that last won nodes that it could have used, at LostAt. "others" are such
	// as can't be named, or further ones.
	LostTo []string  `json:"lost_to,omitempty"`
	LostAt time.Time `json:"lost_at,omitzero"`
	Since  time.Time `json:"since,omitzero"`
}

// noteKey begins the part of SystemComment that is the plug-in's.
const noteKey = "auc:why="

// parseVerdict reads the note in a job's SystemComment; nil if there is none.
func parseVerdict(comment string) *Verdict {
	for part := range strings.SplitSeq(comment, ";") {
		if note, ok := strings.CutPrefix(strings.TrimSpace(part), noteKey); ok {
			return readNote(strings.Fields(note))
		}
	}
	return nil
}

func readNote(words []string) *Verdict {
	if len(words) == 0 {
		return nil
	}
	v := &Verdict{Word: words[0]}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case !ok:
			v.Left = w
		case key == "since":
			v.Since = unix(value)
		case key == "lost":
			jobs, at, _ := strings.Cut(value, "@")
			v.LostTo, v.LostAt = strings.Split(jobs, ","), unix(at)
			v.LostTo = slices.DeleteFunc(v.LostTo, func(id string) bool { return id != "others" && !IsJobID(id) })
		}
	}
	v.Meaning, v.Change = meaning(v)
	return v
}

func unix(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// A word of the auction's, in plain words.
type word struct{ meaning, change string }

func meaning(v *Verdict) (text, change string) {
	w, ok := verdicts[v.Word]
	if v.Word == "left" {
		w, ok = left[v.Left]
		if w.meaning != "" {
			w.meaning = "it is left to Slurm's own schedulers: " + w.meaning
		}
	}
	if !ok {
		return "this aucsched does not know the word", ""
	}
	return w.meaning, w.change
}

// verdicts are the words beside "left".
var verdicts = map[string]word{
	"fit":      {"it bids, and nothing that is free suits it", ""},
	"lost":     {"its bids lost: other jobs are worth more together", ""},
	"kept":     {"nothing that is free suits it, and a place is kept for it", ""},
	"late":     {"the deadline of a decision (auc_deadline_ms) came before the job's turn; it is decided next time", ""},
	"quota":    {"with the jobs that come before it, a limit or licences would be exceeded", ""},
	"nodes":    {"the nodes that it may use are kept for jobs that come before it, or can't take it now", ""},
	"preempts": {"it has won a place, and starts when the jobs there that are preempted for it have ended", ""},
}

// left are the words with which the plug-in leaves jobs to Slurm, those of docs/reference/slurm-jobs.md's table,
// in plain words; and what a user can change.
var left = map[string]word{
	"gres": {"which GPUs it may have together (by socket, shares on several nodes, other gres by job or task) is more than " +
		"the auction models",
		"ask by node: --gres=gpu:N or --gpus-per-node=N, without --gpus-per-socket"},
	"exclusive": {"how much it gets is known only when its nodes are: whole nodes that differ, or of a range, or --exclusive=mcs or topo",
		"give a number of nodes instead of a range, or a --constraint that makes the nodes alike; or do without --exclusive"},
	"record":        {"numbers of its request contradict each other", "look at -n, -N, -c and --ntasks-per-node once more"},
	"oversubscribe": {"it shares cores with other jobs", "do without --oversubscribe and --overcommit"},
	"features": {"it asks for counts of nodes by feature, or prefers some",
		"ask for -C a, a&b, a|b or [a|b], without counts and --prefer"},
	"nodelist": {"it names some of its nodes and wants others as well", "name all of its nodes with --nodelist, or none"},
	"segment": {"its segments do not divide its nodes, or are not alike for the auction",
		"give a --segment that divides the number of nodes and fits a block"},
	"blocks": {"it has several blocks, between which Slurm chooses by size", "ask for nodes that fit into one block, or for --segment"},
	"reservation": {"which cores are reserved is not in what the auction knows, or it names several reservations",
		"name one reservation; an administrator may reserve whole nodes"},
	"qos":        {"it names several QOS, which Slurm tries one after the other", "name one QOS"},
	"preemption": {"running jobs may be stopped for it by Slurm itself", ""},
	"hetjob": {"all parts of a heterogeneous job start in one step, inside Slurm's backfill scheduler",
		"do without a heterogeneous job, if one request can say it"},
	"burst-buffer": {"it starts in several steps, with a burst buffer", ""},
	"reboot":       {"it starts in several steps, with a reboot of its nodes", "do without --reboot"},
	"expand":       {"it expands a running job", ""},
	"federation":   {"who starts it is agreed between clusters", ""},
	"layout": {"sockets, or cores that are kept from jobs, matter to it",
		"do without --core-spec, -B, --sockets-per-node, --spread-job and --use-min-nodes"},
	"threads": {"half cores or whole sockets are given in its partition", ""},
	"limits": {"a limit of its partition, its association or its QOS allows none of its numbers of nodes, or it waits " +
		"behind a job with the same limit", "ask for fewer nodes or less of what the limit counts"},
	"topology":  {"its partition has a topology that the auction does not model", ""},
	"partition": {"the site has the auction for other partitions (auc_partitions)", ""},
	"user":      {"the site has the auction for other users (auc_users_share)", ""},
	"external":  {"it runs outside of Slurm's own launching (--external)", ""},
	"expedited": {"it was requeued to start before all others", ""},
	"failed":    {"three starts in a row failed, so that Slurm has it for five minutes; slurmctld's log says why", ""},
	"overdue":   {"the auction had not started it for a minute although Slurm could have; Slurm has it for a while", ""},
	"beyond":    {"it is further down the queue than the auction looks", ""},
	"place": {"the auction's model of it is rougher than its request: it found no place, and Slurm's own selection has one",
		"give -N with --ntasks-per-node or --exclusive; ask for GPUs by node"},
	"never": {"no nodes of this machine, as it is, can ever meet its request",
		"ask for less on each node, or for other features or nodes"},
	"unmodelled": {"the policy's model does not know its request", "do without --contiguous"},
}
