// Package layout solves AUCSCHED1's program of a window: which bids win, and how many
// cores each of the winners' nodes gives (aucsched1, section 3; [ipmodel.Direct] is the same
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
// model in the bids alone (relaxed.go), which any [ipmodel.Solver] takes. A solve begins with the
// rows of single nodes and of the whole machine, and adds those that a choice is found
// to violate (Benders decomposition: cuts.go, rounds in solver.go). The model's bound holds for the
// program at all times, and every choice gives a feasible one: bids whose layouts do not fit are left
// out, and bids of jobs that lost are let in as long as the others' layouts can make room.
package layout
