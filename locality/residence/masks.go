package residence

import "github.com/aucsched/aucsched/nodeset"

// Masks are the holders of files, for the jobs of one cycle: jobs with the same file get the same mask, at the same
// address, which is what an auction knows masks by. The zero Masks is ready; its memory is used
// again from cycle to cycle.
type Masks struct {
	state *State
	words []uint64
	made  map[uint64]nodeset.Mask
}

// Reset forgets all masks, which are not valid any more, and speaks of s from now on.
func (m *Masks) Reset(s *State) {
	if m.made == nil {
		m.made = make(map[uint64]nodeset.Mask)
	}
	clear(m.made)
	m.state, m.words = s, m.words[:0]
}

// Of are the nodes that hold the file; nil if none does.
func (m *Masks) Of(file uint64) nodeset.Mask {
	if m.state.files[file] == nil {
		return nil
	}
	mask, ok := m.made[file]
	if !ok {
		from := len(m.words)
		for range (len(m.state.nodes) + 63) / 64 {
			m.words = append(m.words, 0)
		}
		mask = nodeset.Mask(m.words[from:len(m.words):len(m.words)])
		m.state.Holders(file, mask)
		m.made[file] = mask
	}
	return mask
}
