// SPDX-License-Identifier: BSD-3-Clause

// Package peers sets solvers side by side on the same windows, as files: the native one, HiGHS,
// and cbc and glpk where they are installed. All get the same MPS file and the same
// time; what they answer is added up again, in integers, by [Window.Check].
package peers
