// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"slices"
)

// holders are the copies of a file that may be in memory in this pass, and those that jobs of the
// standing plan use. The slice is good until the next call of plan.
func (f *files) holders(id int32) []*copyOf {
	own := f.files[id]
	if own == nil {
		return nil
	}
	if own.pass != f.pass {
		own.pass = f.pass
		own.live = f.tidy(own.live, func(c *copyOf) bool {
			c.ofFile = c.planned > 0 || f.open(c)
			return c.ofFile
		})
	}
	return own.live
}

// memory are the files that may be in the node's memory in this pass, by rank. The slice is good
// until the next call of plan.
func (f *files) memory(node int32) []*copyOf {
	n := &f.nodes[node]
	if n.tidied != f.pass {
		n.tidied = f.pass
		n.live = f.tidy(n.live, func(c *copyOf) bool {
			c.onNode = f.open(c)
			return c.onNode
		})
	}
	return n.live
}

// tidy leaves those copies in a list that stay.
func (f *files) tidy(list []*copyOf, stays func(c *copyOf) bool) []*copyOf {
	kept := list[:0]
	for _, c := range list {
		if stays(c) {
			kept = append(kept, c)
		} else {
			f.drop(c)
		}
	}
	return kept
}

// held is the copy of the file that the node may have in memory in this pass, or nil.
func (f *files) held(id, node int32) *copyOf {
	if c := f.find(id, node); c != nil && f.open(c) {
		return c
	}
	return nil
}

// drop forgets a copy that is in no list any more and whose file no job will use.
func (f *files) drop(c *copyOf) {
	if !c.onNode && !c.ofFile && c.users == 0 && f.pending[c.file] == 0 {
		f.free = append(f.free, c)
	}
}

// start notes that a job starts on the node, and tells what it finds there: load is the time in
// which its file can be loaded. The file, if any, is then available transfer + wait later; kept
// tells that it was in memory or on its way.
func (f *files) start(j *job, node int32, load int64, now int64) (transfer, wait int64, kept bool) {
	n := &f.nodes[node]
	if j.hasFile {
		c := f.know(j.file, node, j.FileSize)
		j.copy = c
		if f.mode == Reference {
			kept = c.users > 0 || c.end == now
		} else {
			kept = c.users > 0 || f.kept(c, now)
		}
		if kept {
			wait = max(0, c.ready-now)
		} else {
			transfer, c.ready = load, now+load
			f.watch(c, now)
		}
		c.users++
		if f.mode == Paper {
			c.ends = append(c.ends, now+j.wall)
		}
		c.end = max(c.end, now+j.wall)
		c.pass = -1
		f.list(c)
	}
	if own := f.files[j.file]; own != nil {
		own.waiting--
	}
	if f.pending[j.file]--; f.pending[j.file] == 0 {
		f.retire(j.file)
	}
	if now > n.lastStart {
		n.priorStart, n.lastStart = n.lastStart, now
	}
	return transfer, wait, kept
}

// await notes that a job of the file waits from now on.
func (f *files) await(id int32, now int64) {
	own := f.file(id)
	if own.waiting++; own.waiting > 1 {
		return
	}
	for _, c := range own.copies {
		f.watch(c, now)
	}
}

// watch puts a copy into loading if it is on its way and jobs wait for its file.
func (f *files) watch(c *copyOf, now int64) {
	if c.ready > now && !c.listed && f.files[c.file].waiting > 0 && f.mode == Paper {
		c.listed = true
		f.loading = append(f.loading, c)
	}
}

// retire forgets the copies of a file that no job will use any more, save those still in memory.
func (f *files) retire(id int32) {
	own := f.files[id]
	if own == nil {
		return
	}
	for _, c := range own.live {
		c.ofFile = false
	}
	for _, c := range own.copies {
		f.drop(c)
	}
	f.files[id] = nil
	*own = file{live: own.live[:0], copies: own.copies[:0], contest: own.contest[:0]}
	f.retired = append(f.retired, own)
}

// end notes that a job has ended.
func (f *files) end(j *job, now int64) {
	c := j.copy
	if c == nil {
		return
	}
	j.copy = nil
	c.pass = -1
	c.users--
	if f.mode == Paper {
		i := slices.Index(c.ends, j.start+j.wall)
		c.ends = slices.Delete(c.ends, i, i+1)
	}
	switch {
	case c.users == 0:
		c.end = now
	case f.mode == Paper:
		c.end = slices.Max(c.ends)
	}
}
