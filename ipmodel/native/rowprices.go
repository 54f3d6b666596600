// SPDX-License-Identifier: BSD-3-Clause

package native

// rowPrices appends the prices of the least bound at the root, an element for each row
// of the model. Rows that can't bind have none.
func (s *worker) rowPrices(dst []float64) []float64 {
	for _, r := range s.p.newRow {
		price := 0.0
		if r >= 0 {
			price = s.prices.best[r]
		}
		dst = append(dst, price)
	}
	return dst
}
