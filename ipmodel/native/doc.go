// SPDX-License-Identifier: BSD-3-Clause

// Package native is a solver for the auction's packing models, in pure Go.
//
// A solve goes through these stages, each in a file of its own:
//
//	reduce.go   drops what can't matter: rows that can't bind or that others imply,
//	            columns that can't fit
//	prices.go   Lagrangian relaxation of the capacity rows. The multipliers are
//	            prices of a node's cores and GPUs; they decompose the problem by job
//	            and give an upper bound, proven in integer arithmetic
//	construct.go a first choice: the caller's, or greedy by worth net of prices
//	assign.go   the best choice and its proof, where each job takes as much of one node
//	anneal.go   simulated annealing from the best choice so far, whose moves are
//	            eject.go's: a column goes in, those in its way go out
//	rank.go     an order of the columns by the prices, which are tried more often
//	packing.go  the choice that is annealed, with bitmaps of the rows that lack room
//	enumerate.go all choices that the prices do not exclude, in small windows
//
// Annealing and prices are two workers that take turns: see solver.
//
// The solver is anytime: it has a feasible choice at once, and improves it until the deadline. Its
// bound is that of the prices, or the optimum if the enumeration ends, as in small windows. Without
// limits it ends when nothing more will be proven. Its random choices come from the seed, and
// floating-point sums have a fixed order. So equal input and equal work give equal answers.
package native
