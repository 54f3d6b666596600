// Package native is the project's own solver for the auction's packing models, in
// pure Go.
//
// A solve goes through these stages, each in a file of its own:
//
//	reduce.go   drops what can't matter: rows that can't bind, columns that can't fit
//	prices.go   Lagrangian relaxation of the capacity rows. The multipliers are
//	            prices of a node's cores and GPUs; they decompose the problem by job
//	            and give an upper bound, proven in integer arithmetic
//	construct.go a first choice: the caller's, or greedy by worth net of prices
//	ruin.go     ruin and recreate: local search around the best choice so far
//	tree.go     branch and bound on the prices' bound; proves optimality
//
// The solver is anytime: it has a feasible choice at once, improves it until the
// deadline, and ends with a valid bound. Without a deadline it ends with the
// optimum. Its random choices come from the seed, and all decisions are made on
// integers or on floating-point sums in a fixed order, so that equal input and
// equal work give equal answers.
package native
