package ipmodel

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// NodePrices turns the prices of the rows of the last model into prices of nodes, in
// units of priority. Of a row that stands for several nodes its scarcest share the price evenly, for only
// they bind. A node costs a job that runs into k reservations what it costs now and
// what it costs at the beginning of each of these. space is that of the model.
func (b *Builder) NodePrices(space *bids.Space, rows []float64, p *bids.Prices) {
	p.Reset(space.Now.Len(), len(space.Left))
	p.Alpha = b.alpha
	for k := range len(space.Left) + 1 {
		if k > 0 {
			copy(p.Cores[k], p.Cores[k-1])
			copy(p.GPUs[k], p.GPUs[k-1])
		}
		b.addPrices(space, rows, k, 0, p.Cores[k])
		b.addPrices(space, rows, k, 1, p.GPUs[k])
	}
}

// addPrices adds the prices of the rows of table k's cores or GPUs.
func (b *Builder) addPrices(space *bids.Space, rows []float64, k, gpu int, dst []float64) {
	t, base := tables(space, k), (2*k+gpu)*len(b.cells)
	for i, c := range b.cells {
		r := b.used[base+i]
		if r < 0 || rows[r] == 0 {
			continue
		}
		least, count := capacity(t, int(c.first), gpu), 0
		for n := c.first; n <= c.last; n++ {
			switch v := capacity(t, int(n), gpu); {
			case v < least:
				least, count = v, 1
			case v == least:
				count++
			}
		}
		share := rows[r] / float64(b.scale) / float64(count)
		for n := c.first; n <= c.last; n++ {
			if capacity(t, int(n), gpu) == least {
				dst[n] += share
			}
		}
	}
}

func capacity(t *nodeset.Table, n, gpu int) int64 {
	if gpu == 1 {
		return int64(t.FreeGPUs()[n])
	}
	return int64(t.FreeCores()[n])
}
