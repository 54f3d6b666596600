package bids

// Prices are what the cores and GPUs of nodes are worth to a window's other jobs:
// Lagrange multipliers of the capacities in a model of its bids. All are at least 0, in units
// of priority.
type Prices struct {
	// Alpha is the factor of the preference in a bid's worth, P + alpha F.
	Alpha float64
	// Cores[k][n] and GPUs[k][n] are the prices of a core and of a GPU of node n for
	// a job that runs into the first k reservations of the space.
	Cores, GPUs [][]float64
}

// Reset makes all prices 0, for a space of that many nodes and reservations. It reuses
// the memory.
func (p *Prices) Reset(nodes, reservations int) {
	p.Alpha = 0
	p.Cores, p.GPUs = zeros(p.Cores, reservations+1, nodes), zeros(p.GPUs, reservations+1, nodes)
}

func zeros(x [][]float64, levels, n int) [][]float64 {
	for cap(x) < levels {
		x = append(x[:cap(x)], nil)
	}
	x = x[:levels]
	for k := range x {
		x[k] = append(x[k][:0], make([]float64, n)...)
	}
	return x
}

// tariff are the prices of one level in the form in which runs of nodes are priced:
// element n is the sum over the nodes before n.
type tariff struct{ cores, gpus []float64 }

func (t *tariff) set(cores, gpus []float64) {
	t.cores, t.gpus = sums(t.cores, cores), sums(t.gpus, gpus)
}

func sums(dst, x []float64) []float64 {
	dst = append(dst[:0], 0)
	total := 0.0
	for _, v := range x {
		total += v
		dst = append(dst, total)
	}
	return dst
}

// run is what the nodes first .. first+m-1 cost: base cores of each, one more of each of
// the first extra, and gpus GPUs of each. Products are converted by themselves, lest a
// machine with fused multiply-add go another way.
func (t *tariff) run(first, m, base, extra, gpus int) float64 {
	c := float64(float64(base) * (t.cores[first+m] - t.cores[first]))
	if extra > 0 {
		c += t.cores[first+extra] - t.cores[first]
	}
	if gpus > 0 {
		c += float64(float64(gpus) * (t.gpus[first+m] - t.gpus[first]))
	}
	return c
}

// node is what cores and GPUs of node n cost.
func (t *tariff) node(n, cores, gpus int) float64 { return t.run(n, 1, cores, 0, gpus) }
