// SPDX-License-Identifier: BSD-3-Clause

package native

// setPrefix makes prefix the running sum of a vector over the working rows.
func (l *lp) setPrefix(z []float64) {
	clear(l.prefix)
	rows := l.p.rows()
	for r, row := range l.act {
		if int(row) < rows {
			l.prefix[row+1] = z[r]
		}
	}
	sum := 0.0
	for r := range l.prefix {
		sum += l.prefix[r]
		l.prefix[r] = sum
	}
	l.work += int64(rows)/4 + 1
}

// dots makes alpha the products of all columns with z, a vector over working
// rows; none's are 0.
func (l *lp) dots(z []float64) {
	l.setPrefix(z)
	for i := range l.n {
		sum := 0.0
		for k := l.p.run[i]; k < l.p.run[i+1]; k++ {
			sum += float64(l.p.runCoef[k] * (l.prefix[l.p.runEnd[k]] - l.prefix[l.p.runFirst[k]]))
		}
		l.alpha[i] = sum
	}
	l.work += int64(len(l.p.runFirst)) + int64(l.n)
	clear(l.alpha[l.n:])
	for r, row := range l.act {
		if c := int(row) - l.p.rows(); c >= 0 && z[r] != 0 {
			l.work += int64(l.cuts.addTo(l.alpha, c, z[r]))
		}
	}
}

// addColumn adds f times column v to vec; none and banned keys have no entries.
func (l *lp) addColumn(v int32, f float64) {
	if int(v) >= l.n {
		return
	}
	rows := int32(l.p.rows())
	for r, row := range l.act {
		l.vec[r] += float64(f * l.coef(v, row, rows))
	}
	l.work += int64(l.m)
}

// coef is column v's coefficient in a row.
func (l *lp) coef(v, row, rows int32) float64 {
	if row >= rows {
		return l.cuts.at(int(row-rows), v)
	}
	for k := l.p.run[v]; k < l.p.run[v+1]; k++ {
		if row < l.p.runEnd[k] {
			if row >= l.p.runFirst[k] {
				return l.p.runCoef[k]
			}
			return 0
		}
	}
	return 0
}

// forward makes col the entering variable's column in terms of the basis.
func (l *lp) forward(v int32) {
	l.vec = resize(l.vec, l.m)
	if int(v) >= l.n+l.g {
		for r, row := range l.act {
			if l.slackOf(row) == v {
				l.vec[r] = 1
			}
		}
	} else {
		l.addColumn(v, 1)
		l.addColumn(l.key[l.groupOf(v)], -1)
	}
	l.col = resize(l.col, l.m)
	l.multiply(l.col, l.vec)
}

// multiply makes out inv times z.
func (l *lp) multiply(out, z []float64) {
	z = z[:l.m]
	l.filled = l.filled[:0]
	for r, f := range z {
		if f != 0 {
			l.filled = append(l.filled, int32(r))
		}
	}
	some := len(l.filled) < l.m/2
	for q := range l.m {
		row := l.inv[q*l.wide : q*l.wide+l.m]
		if some {
			out[q] = gather(row, z, l.filled)
		} else {
			out[q] = dot(row, z)
		}
	}
	l.work += int64(l.m*len(l.filled))/2 + 1
}

// dot is the product of two vectors. Its four sums do not wait for each other.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += float64(v * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// gather is the product of two vectors, of the elements at these places alone.
func gather(a, b []float64, at []int32) float64 {
	var s0, s1, s2, s3 float64
	for len(at) >= 4 {
		s0 += float64(a[at[0]] * b[at[0]])
		s1 += float64(a[at[1]] * b[at[1]])
		s2 += float64(a[at[2]] * b[at[2]])
		s3 += float64(a[at[3]] * b[at[3]])
		at = at[4:]
	}
	for _, i := range at {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
