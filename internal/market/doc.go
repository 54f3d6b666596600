// SPDX-License-Identifier: BSD-3-Clause

// Package market turns the requests of a window's jobs into bids for sets of nodes, and these into
// the model whose best choice are the winners.
//
// A bid names the exact nodes, cores and GPUs that a job would take now. A [Generator] makes up to
// MaxBidsPerJob of them for every job of a window, after Soner and Özturan, "An Auction Based SLURM
// Scheduler for Heterogeneous Supercomputers" (aucsched1), sections 4 and 5, and Soner, Özturan and
// Karac, "Extending SLURM with Support for GPU Ranges" (aucsched2), section 3:
//
//   - class A bids are aligned to either end of a nodeset, class B bids lie inside
//     one, class C bids combine neighbouring nodesets;
//   - each bid has a preference in (0, 1] by equation 12, raised for more GPUs;
//   - bids of several jobs for the same nodes are one bid class.
//
// What the papers leave to future work is here as well. A job that can be met in several ways has a
// [Variant] for each, one after the other (Variant.Rank): their bids are one group of the model, so
// that one wins at most, and those of earlier variants are preferred. A job whose nodes may give
// different numbers of GPUs (Request.MixedGPUs) bids for what each of its nodes has free, up to the
// most that it takes, and for the fewest alone; its preference grows with the mean over the nodes.
// See benchmarks/results/alternatives.md for what that is worth.
//
// To these the Generator adds what the papers' rules never offer: allocations that leave room for
// the rest of the window. It drafts whole schedules of the window, job after job in several orders,
// each job on what the earlier ones left, and every job bids what it got in each draft. A job that
// can be anywhere thus bids for the cores that jobs with special wishes leave on their nodes,
// whatever the numbers are. See docs/explanation/decisions.md for what this is worth.
//
// The search for one good allocation of one job is in internal/place, with the normal form of a
// request. A [Builder] makes the model: aucsched2, section 2, with rows for reservations, further
// resources, quotas and shares of GPUs.
package market
