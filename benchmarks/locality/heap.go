// SPDX-License-Identifier: BSD-3-Clause

package locality

// timeHeap holds jobs by a time, and where that is equal by their places in the queue.
type timeHeap []timed

type timed struct {
	at       int64
	seq, job int32
}

func (a timed) before(b timed) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// first is the least time, never if there is none.
func (h timeHeap) first() int64 {
	if len(h) == 0 {
		return never
	}
	return h[0].at
}

func (h *timeHeap) push(at int64, seq, job int32) {
	*h = append(*h, timed{at, seq, job})
	q := *h
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q[i].before(q[up]) {
			return
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// pop takes the first job out.
func (h *timeHeap) pop() int32 {
	q := *h
	top := q[0].job
	n := len(q) - 1
	q[0] = q[n]
	q = q[:n]
	*h = q
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			return top
		}
		if least+1 < n && q[least+1].before(q[least]) {
			least++
		}
		if !q[least].before(q[i]) {
			return top
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}
