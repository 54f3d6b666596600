// SPDX-License-Identifier: BSD-3-Clause

// Package policies has the papers' other schedulers: AUCSCHED1, which is an auction with [Layouts],
// and IPSCHED, which is [IPSched].
package policies
