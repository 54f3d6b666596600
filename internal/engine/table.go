// SPDX-License-Identifier: BSD-3-Clause

package engine

import "sync"

// Table holds engines under numbers, for callers that can't hold pointers. All its
// methods may be called from any goroutine. The zero Table is empty and ready.
type Table struct {
	mu   sync.Mutex
	last int64
	open map[int64]*Handle
}

// Handle is an open engine. Its fields may be used in the function given to [Table.Do]
// or [Table.Close] only.
type Handle struct {
	*Engine
	// Foreign is the caller's, for what belongs to the handle.
	Foreign any

	busy   sync.Mutex
	closed bool
	errors sync.Mutex // guards last, so that reading it never waits for a cycle
	last   string
}

// Open makes an engine and returns its number, which is positive and never used again.
func (t *Table) Open(settings string, o Options) (id int64, err error) {
	err = guard(func() error {
		e, err := New(settings, o)
		if err != nil {
			return err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.open == nil {
			t.open = make(map[int64]*Handle)
		}
		t.last++
		id = t.last
		t.open[id] = &Handle{Engine: e}
		return nil
	})
	return id, err
}

func (t *Table) find(id int64) *Handle {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[id]
}

// Do calls f with the handle, unless another call has it: then it fails with [ErrBusy]
// at once. An error or panic of f is kept for LastError.
func (t *Table) Do(id int64, f func(*Handle) error) error {
	h := t.find(id)
	if h == nil {
		return ErrHandle
	}
	if !h.busy.TryLock() {
		return ErrBusy
	}
	defer h.busy.Unlock()
	if h.closed {
		return ErrHandle
	}
	err := guard(func() error { return f(h) })
	h.Note(err)
	return err
}

// Note keeps an error for LastError, as one that a cycle went on in spite of; nil: no error.
func (h *Handle) Note(err error) {
	if err == nil {
		return
	}
	h.errors.Lock()
	defer h.errors.Unlock()
	h.last = err.Error()
}

// Close ends a handle, after calling free with it.
func (t *Table) Close(id int64, free func(*Handle)) error {
	return t.Do(id, func(h *Handle) error {
		t.mu.Lock()
		delete(t.open, id)
		t.mu.Unlock()
		h.closed = true
		free(h)
		return nil
	})
}

// LastError is the text of the last error on a handle, or "". It does not tell of
// [ErrBusy], which would hide the error of the call under way.
func (t *Table) LastError(id int64) string {
	h := t.find(id)
	if h == nil {
		return ErrHandle.Error()
	}
	h.errors.Lock()
	defer h.errors.Unlock()
	return h.last
}

// Len is the number of open handles.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}
