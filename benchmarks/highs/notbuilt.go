// SPDX-License-Identifier: BSD-3-Clause

//go:build !highs

package highs

const built = false

func solve(request, func(frame) error) error { return ErrNotBuilt }
