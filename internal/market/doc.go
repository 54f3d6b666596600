// SPDX-License-Identifier: BSD-3-Clause

// Package market turns the requests of a window's jobs into bids for sets of nodes, and these into
// the model whose best choice are the winners.
//
// A bid names the exact nodes, cores and GPUs that a job would take now. A [Generator] makes up to
// MaxBidsPerJob of them for every job of a window. It follows Soner and Özturan, "An Auction Based
// SLURM Scheduler for Heterogeneous Supercomputers" (aucsched1), sections 4 and 5. Ranges are by
// Soner, Özturan and Karac, "Extending SLURM with Support for GPU Ranges" (aucsched2), section 3:
//
//   - class A bids are aligned to either end of a nodeset, class B bids lie inside
//     one, class C bids combine neighbouring nodesets;
//   - each bid has a preference in (0, 1] by equation 12, raised for more GPUs;
//   - bids of several jobs for the same nodes are one bid class.
//
// What the papers leave to future work is here as well. A job that can be met in several ways has a
// [Variant] for each, one after the other (Variant.Rank). Their bids are one group of the model:
// one wins at most, and those of earlier variants are preferred. A job whose nodes may give
// different numbers of GPUs (Request.MixedGPUs) bids for what each node has free, up to its most,
// and for the fewest alone. Its preference grows with the mean over the nodes.
// benchmarks/results/alternatives.md has what that is worth.
//
// The Generator also adds what the papers' rules never offer: allocations that leave room for the
// rest of the window. It drafts whole schedules of the window in several orders, each job on what
// the earlier ones left. Every job bids what it got in each draft. docs/explanation/decisions.md
// says what this is worth.
//
// The search for one good allocation of one job is in internal/place, with the normal form of a
// request. A [Builder] makes the model: aucsched2, section 2, with rows for reservations, further
// resources, quotas and shares of GPUs.
package market
