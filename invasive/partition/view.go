package partition

import "github.com/aucsched/aucsched/invasive"

// class says how dear a core is to a job that needs it.
type class uint8

const (
	kept    class = iota // not to be had
	free                 // owned by nobody
	coming               // asked for already
	surplus              // of a malleable job that can do without
	seized               // of a job that would be suspended or killed
	classes
)

// A view is the ledger at one moment, and what is planned on it. Its memory is reused.
type view struct {
	perNode, perSocket int
	jobs               []invasive.Held
	class              []class          // of each core
	count              [][classes]int32 // of each node
	busy               []int32          // cores of each node that are owned or planned
	watts              uint64           // that the owned and planned cores draw
	power              Power
	suspended          int

	order []int32 // nodes, scratch of pick
	share []int32 // cores to take of each node, scratch of pick
	own   []int32 // cores of one job on each node, scratch
}

func newView(s *Settings) *view {
	p := &s.Partition
	n := int(p.Nodes)
	return &view{
		perNode: int(p.Sockets * p.CoresPerSocket), perSocket: int(p.CoresPerSocket), power: s.Power,
		class: make([]class, p.Cores()), count: make([][classes]int32, n), busy: make([]int32, n),
		share: make([]int32, n), own: make([]int32, n),
	}
}

// load reads the ledger.
func (v *view) load(h *invasive.Hypervisor) {
	v.jobs = h.Jobs(v.jobs[:0])
	clear(v.count)
	clear(v.busy)
	v.watts, v.suspended = 0, 0
	for c, owner := range h.Owners() {
		n := c / v.perNode
		if owner == 0 {
			v.class[c] = free
			v.count[n][free]++
			continue
		}
		v.class[c] = kept
		v.count[n][kept]++
		v.use(n)
	}
	for i := range v.jobs {
		for _, c := range v.jobs[i].Taking {
			v.set(c, coming)
		}
		if v.jobs[i].State == invasive.Suspended {
			v.suspended++
		}
	}
}

func (v *view) node(core uint32) int { return int(core) / v.perNode }

func (v *view) set(core uint32, to class) {
	n := v.node(core)
	v.count[n][v.class[core]]--
	v.count[n][to]++
	v.class[core] = to
}

// use counts one more core of a node as drawing power.
func (v *view) use(n int) {
	if v.busy[n] == 0 {
		v.watts += uint64(v.power.Node)
	}
	v.busy[n]++
	v.watts += uint64(v.power.Core)
}

// reserve keeps cores for a job that is planned; free ones will draw power.
func (v *view) reserve(cores []uint32) {
	for _, c := range cores {
		if v.class[c] == free {
			v.use(v.node(c))
		}
		v.set(c, kept)
	}
}

// affordable is the longest beginning of cores that stays within the power cap. Cores that aren't free draw power already.
func (v *view) affordable(cores []uint32) []uint32 {
	if v.power.Cap == 0 {
		return cores
	}
	watts, last := v.watts, -1
	for i, c := range cores {
		n := v.node(c)
		if v.class[c] != free {
			continue
		}
		if v.busy[n] == 0 && n != last {
			watts += uint64(v.power.Node)
		}
		last = n
		if watts += uint64(v.power.Core); watts > uint64(v.power.Cap) {
			return cores[:i]
		}
	}
	return cores
}

// available is how many cores of a node are to be had of classes up to most.
func (v *view) available(n int, most class) (sum int32) {
	for c := free; c <= most; c++ {
		sum += v.count[n][c]
	}
	return sum
}
