// SPDX-License-Identifier: BSD-3-Clause

// Package layout solves AUCSCHED1's program of a window: which bids win, and how many
// cores each of the winners' nodes gives (aucsched1, section 3; [Direct] is the same
// program written out). In AUCSCHED2 a bid says that itself.
//
// The program has a binary and an integer for every job and node, far too many for a
// scheduling interval. It falls apart: given the winners, the layouts are a flow from jobs
// over nodes (flow.go), whole numbers included; and by the max-flow min-cut theorem
// winners have layouts if and only if they keep, for all weights y >= 0 on the nodes'
// capacities A, to
//
//	sum_jc d_jc(y) b_jc <= sum_n y_n A_n
//
// where d_jc(y) is the least that a layout of the bid weighs. These are rows of a packing
// model in the bids alone (relaxed.go), which any [ipmodel.Solver] takes. A solve begins with
// AUCSCHED2's choice, whose layouts the bids fix, and goes on in rounds (solver.go):
//
//	relaxed.go  the packing model with the rows of single nodes and of the whole machine, and
//	            the cuts so far: those that its choices violate (cuts.go; Benders
//	            decomposition), and one a round by the best prices
//	prices.go   Lagrange multipliers of the nodes' cores and GPUs, at which every job takes its
//	            cheapest layout. They bring the bound to that of the program's linear
//	            relaxation; bound.go proves it in integers
//	improve.go  winners go out and others come in as long as there are layouts, which
//	            augment.go finds step by step
//	deal.go     the layouts, node by node; own.go the bids' own where they fit
//
// Every answer is feasible, and the bound, the least of those of the packing model and of the
// prices, holds at all times. Small windows end with the optimum. Random choices come from the
// seed, and with a limit on work equal input gives equal answers.
package layout
