// SPDX-License-Identifier: BSD-3-Clause

// Package benchmarks measures the stages of a scheduling cycle one by one: the scan
// for nodesets, the bids, the model, and the cycle as a whole.
//
// NewWindow makes the input, a half-busy machine and a queue that asks for three
// times what is free; all stages work on the same one. A Stage can be run again and
// again and has a Check of its last answer, so that nothing is timed that is wrong:
//
//	go test -bench . ./benchmarks
//
// The command benchmarks/cmd/tables makes pages of benchmarks/results, each by a
// subcommand of its own.
package benchmarks
