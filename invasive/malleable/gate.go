// SPDX-License-Identifier: BSD-3-Clause

package malleable

import "sync"

// Bounds of those who have connected and whose job isn't known yet.
const (
	leastUserVisitors = 128 // that any user may have
	// of one user for each of the tasks that may begin at a time: its prologue, and itself
	taskVisitors = 2
	crowdedUsers = 4 // users that can have as many as they may, at a time
	userTurns    = 2 // of one user that are looked at, at a time
)

// A gate keeps one user's connections from delaying another's: each user has turns of his own, and
// room for so many who wait for one.
type gate struct {
	most, userMost int // in all, and of one user
	mu             sync.Mutex
	all            int
	users          map[uint32]*visitors
}

// newGate has room for the tasks of a job that begin at a time.
func newGate(tasks int) *gate {
	most := max(leastUserVisitors, taskVisitors*tasks)
	return &gate{most: crowdedUsers * most, userMost: most, users: map[uint32]*visitors{}}
}

// visitors are those of one user.
type visitors struct {
	n    int
	turn chan struct{} // full: all turns are taken
}

// enter takes a place, which leave gives back; it returns where to put a word for a turn, or nil if
// there is no place left.
func (g *gate) enter(uid uint32) (turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.users[uid]
	if g.all >= g.most || v != nil && v.n >= g.userMost {
		return nil
	}
	if v == nil {
		v = &visitors{turn: make(chan struct{}, userTurns)}
		g.users[uid] = v
	}
	g.all++
	v.n++
	return v.turn
}

func (g *gate) leave(uid uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.users[uid]
	g.all--
	if v.n--; v.n == 0 {
		delete(g.users, uid)
	}
}
