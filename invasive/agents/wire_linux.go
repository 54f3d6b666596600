// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/launch"
)

// An order is what a head says to an agent; one without a field is a sign of life.
type order struct {
	Part *part `json:"part,omitempty"`
	Sync *roll `json:"sync,omitempty"`
	// the job is over: end, and forget, what is left of it
	Drop   invasive.JobID `json:"drop,omitempty"`
	Start  *start         `json:"start,omitempty"`
	Stop   *stop          `json:"stop,omitempty"`
	Thank  *ref           `json:"thank,omitempty"` // who waited knows how it has ended
	Change *change        `json:"change,omitempty"`
	Answer *answer        `json:"answer,omitempty"`
}

// check refuses what no head says.
func (o *order) check() error {
	jobs, keys := []invasive.JobID{}, []uint64{}
	switch {
	case o.Part != nil:
		jobs = append(jobs, o.Part.Job)
	case o.Sync != nil:
		jobs = o.Sync.Jobs
	case o.Drop > 0:
		jobs = append(jobs, o.Drop)
	case o.Change != nil:
		jobs = append(jobs, o.Change.Job)
	}
	var refs []ref
	switch {
	case o.Start != nil:
		refs = append(refs, o.Start.ref)
	case o.Stop != nil:
		refs = append(refs, o.Stop.ref)
	case o.Thank != nil:
		refs = append(refs, *o.Thank)
	}
	for _, r := range refs {
		jobs, keys = append(jobs, r.Job), append(keys, r.Key)
	}
	for _, id := range jobs {
		if id == 0 || isCommand(id) {
			return fmt.Errorf("an order for job %d: must be 1 to %d", id, commandBit-1)
		}
	}
	for _, key := range keys {
		if !isKey(key) {
			return fmt.Errorf("an order for command %d: must be 1 to %d", key, commandBit-1)
		}
	}
	return nil
}

// Commands are launched as jobs whose number is their key with this bit. Jobs have none that great.
const commandBit = invasive.JobID(1) << 63

func isCommand(id invasive.JobID) bool   { return id&commandBit != 0 }
func keyOf(id invasive.JobID) uint64     { return uint64(id &^ commandBit) }
func launchOf(key uint64) invasive.JobID { return invasive.JobID(key) | commandBit }
func isKey(key uint64) bool              { return key > 0 && !isCommand(invasive.JobID(key)) }

// A part is what a job is to have on a node.
type part struct {
	Job invasive.JobID `json:"job"`
	// Gen numbers the states of this job here; the greatest counts.
	Gen uint64 `json:"gen"`
	// Cores are those of the node that are the job's, from 0.
	Cores []int `json:"cores"`
	// Home has the first process run here. It is started by Work if it wasn't yet.
	Home bool  `json:"home,omitempty"`
	Work *work `json:"work,omitempty"`
	// Force takes threads to Cores that have bound themselves to some.
	Force bool `json:"force,omitempty"`
	// Signal is sent to the first process, once; 0: none.
	Signal int `json:"signal,omitempty"`
	// Over has all that runs here of the job killed.
	Over bool `json:"over,omitempty"`
}

// work is a job's first process. Nodes is the text of its file of nodes at first.
type work struct {
	Args, Env []launch.Word
	Dir       launch.Word
	Nodes     string
}

// A roll has the numbers of all jobs, and of those that have a part on the node. What others left
// there is ended, and forgotten if the job is over: a command may be asked for again before that.
type roll struct {
	Jobs []invasive.JobID `json:"jobs"`
	Here []invasive.JobID `json:"here"`
}

// A ref names a command of a job.
type ref struct {
	Job invasive.JobID `json:"job"`
	Key uint64         `json:"key"`
}

// start has a command run on a core of the node, unless that has been begun.
type start struct {
	ref
	Core int          `json:"core"`
	Run  crew.Command `json:"run"`
}

// stop ends a command that nobody waits for any more. With Keep somebody may ask for it again all
// the same, and it is not forgotten.
type stop struct {
	ref
	Keep bool `json:"keep,omitempty"`
}

// change is a line of package malleable for a job, and the text of its file of nodes.
type change struct {
	Job   invasive.JobID `json:"job"`
	Line  string         `json:"line"`
	Nodes string         `json:"nodes"`
}

// answer is how a command that this node has asked for has ended.
type answer struct {
	Key    uint64 `json:"key"`
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
}

// news is what an agent says to its head; likewise.
type news struct {
	Hello *hello `json:"hello,omitempty"`
	Ready bool   `json:"ready,omitempty"` // all that came before Sync is done
	Did   *did   `json:"did,omitempty"`
	Ended *ended `json:"ended,omitempty"`
	Said  *said  `json:"said,omitempty"`
	On    *on    `json:"on,omitempty"`
	Off   uint64 `json:"off,omitempty"` // who asked for a command has gone
	Got   uint64 `json:"got,omitempty"` // who asked has the answer
	Has   *ref   `json:"has,omitempty"` // a command runs here
	Ran   *ran   `json:"ran,omitempty"`
}

// hello comes first.
type hello struct {
	Secret string `json:"secret"`
	Node   string `json:"node"`
	// Disk is a random name of the agent's directory.
	Disk    string `json:"disk"`
	Sockets uint32 `json:"sockets"`
	Cores   uint32 `json:"cores"` // of a socket
}

func (h *hello) check() error {
	switch {
	case h.Node == "" || len(h.Node) > invasive.MaxText:
		return fmt.Errorf("node %.80q: must have 1 to %d bytes", h.Node, invasive.MaxText)
	case strings.ContainsFunc(h.Node, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' }):
		return fmt.Errorf("node %.80q: must have no space and no slash", h.Node)
	case h.Disk == "" || len(h.Disk) > invasive.MaxText:
		return fmt.Errorf("node %s: its disk has no name", h.Node)
	}
	return nil
}

// did says that a part is as it was to be, or why not.
type did struct {
	Job   invasive.JobID `json:"job"`
	Gen   uint64         `json:"gen"`
	Error string         `json:"error,omitempty"`
}

// ended says that a job's first process has, and all that it left.
type ended struct {
	Job  invasive.JobID `json:"job"`
	Code int32          `json:"code"`
}

// said is a job's line, or that it has gone.
type said struct {
	Job  invasive.JobID `json:"job"`
	Line string         `json:"line,omitempty"`
	Gone bool           `json:"gone,omitempty"`
}

// on asks for a command on a core of the partition.
type on struct {
	ref
	Place int          `json:"place"`
	Run   crew.Command `json:"run"`
}

// ran says how a command has ended.
type ran struct {
	ref
	Status int `json:"status"`
}
