// SPDX-License-Identifier: BSD-3-Clause

//go:build !highs

package highs

// Built says whether HiGHS is built in.
const Built = false

func solve(request, func(frame) error) error { return ErrNotBuilt }
