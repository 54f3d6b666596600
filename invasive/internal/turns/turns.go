// SPDX-License-Identifier: BSD-3-Clause

// Package turns has what takes time done one after the other.
package turns

import "sync"

// A Line does what it is given, in order, in a goroutine that is there only as long as there is
// something to do. The zero Line is ready.
type Line struct {
	mu   sync.Mutex
	busy bool
	todo []func()
}

// Do has f done when all before it is. All counts the goroutine.
func (l *Line) Do(all *sync.WaitGroup, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.todo = append(l.todo, f)
	if l.busy {
		return
	}
	l.busy = true
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			l.mu.Lock()
			if len(l.todo) == 0 {
				l.busy = false
				l.mu.Unlock()
				return
			}
			f := l.todo[0]
			l.todo = l.todo[1:]
			l.mu.Unlock()
			f()
		}
	}()
}
