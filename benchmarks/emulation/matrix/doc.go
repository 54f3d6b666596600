// SPDX-License-Identifier: BSD-3-Clause

// Package matrix has the papers' experiments that are run on a real Slurm, and in the
// simulator beside it, and the page that says what came out.
package matrix
