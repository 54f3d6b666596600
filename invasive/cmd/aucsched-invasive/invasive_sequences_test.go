// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sequences of the paper's figures 4 to 6, and what can come between, as the traces of two
// processes tell them. The same sequences of the machines alone are in ../../testdata.
func TestInvasiveSequences(t *testing.T) {
	job := malleableJob(t)
	// while jobs have all cores nothing is offered
	full := []string{"--cores", "8", "--horizon", "0s"}
	for _, s := range []struct {
		file string
		run  func(p *tracedPair)
	}{
		{"figure4.txt", func(p *tracedPair) {
			p.begin("A malleable job of 1 to 6 cores.", p.adapts(6), "cores 0-5", "--cores", "8")
			p.submit(p.runs(4)...)
			p.step("A job of 4 cores: the iScheduler rejects an offer of 2, and gets one of cores that the first job can let go of.",
				"RESPONSE_NEGOTIATION_END 2.2", "job 2 owns")
		}},
		{"figure5.txt", func(p *tracedPair) {
			args := []string{"--cores", "9", "--min-use", "0.9"}
			p.begin("A malleable job of 1 to 4 cores.", p.adapts(4), "cores 0-3", args...)
			p.stop(&p.h)
			p.step("The iHypervisor ends, and the job runs on.", "RESPONSE_FINALISE", "")
			p.submit(p.runs(4)...)
			p.submit(p.runs(4)...)
			p.startH(args...)
			p.step("Two jobs of 4 cores wait: the iHypervisor rejects a mapping of one of them "+
				"onto 5 cores, and offers more, until both agree.",
				"RESPONSE_NEGOTIATION_END 1.2", "job 3 owns")
		}},
		{"figure6.txt", func(p *tracedPair) {
			p.startH("--cores", "8")
			// three that don't come end the connection, on a busy host as well
			p.startS("--report", "300ms")
			p.step("The queue is empty at first: the iHypervisor waits for a request.", "RESPONSE_NEGOTIATION_START", "")
			p.submit("--min", "4", "--", "true")
			p.step("A job arrives, runs, and ends.", "RESPONSE_NEGOTIATION_END 1.1, 0 waiting", "job 1 ended with 0")
			p.done(1)
			p.submit("--min", "8", "--", "sh", "-c", "exit 3")
			p.step("The next job arrives; the end of the first is acknowledged.",
				"RESPONSE_NEGOTIATION_END 2.1, 0 waiting", "job 2 ended with 3")
		}},
		{"limit.txt", func(p *tracedPair) {
			p.startS("--attempts", "4")
			p.submit(p.runs(5)...)
			p.submit(p.runs(5)...)
			p.startH("--cores", "8", "--min-use", "1", "--attempts", "4")
			p.step("The iHypervisor rejects mappings that leave cores unused; the last of 4 it "+
				"takes. Then the iScheduler rejects what is too little.",
				"RESPONSE_NEGOTIATION_END 2.4, 1 waiting", "job 1 owns")
		}},
		{"limit-scheduler.txt", func(p *tracedPair) {
			p.begin("A job that can't let go of cores.", p.runs(5), "cores", "--cores", "8")
			p.submit(p.runs(5)...)
			p.step("The next needs more than there are: the iScheduler rejects, and its last mapping is empty.",
				"RESPONSE_NEGOTIATION_END 2.3, 1 waiting", "")
			require.NoError(p.t, os.WriteFile(p.file("stop"), nil, 0o600))
			p.step("The first job ends, and the second gets its cores.", "RESPONSE_NEGOTIATION_END 3.1, 0 waiting", "job 2 ended")
		}},
		{"urgent.txt", func(p *tracedPair) {
			p.begin("A malleable job has all cores.", p.adapts(8), "cores 0-7", full...)
			p.waits("A job waits for an offer.", p.runs(8))
			p.submit("--urgent", "--min", "4", "--", "sleep", "0.3")
			p.step("An urgent job comes meanwhile, and gets cores of the malleable one; what "+
				"comes free after it is offered, and is too little.",
				"RESPONSE_NEGOTIATION_END 2.3, 1 waiting", "job 3 ended with 0")
		}},
		{"finalise-scheduler.txt", func(p *tracedPair) {
			p.begin("A job has all cores.", p.runs(8), "cores 0-7", full...)
			p.waits("Another waits for an offer.", p.runs(2))
			p.stop(&p.s)
			p.step("The iScheduler finishes.", "RESPONSE_FINALISE", "")
			p.startS()
			p.step("It starts again: the job that runs is known, and the other still waits.", "RESPONSE_NEGOTIATION_START", "")
		}},
		{"finalise-hypervisor.txt", func(p *tracedPair) {
			p.begin("A job has all cores.", p.runs(8), "cores 0-7", full...)
			p.waits("Another waits for an offer.", p.runs(2))
			p.stop(&p.h)
			p.step("The iHypervisor finishes.", "RESPONSE_FINALISE", "")
			p.startH(full...)
			p.step("It starts again, finds the job, and the iScheduler connects.", "RESPONSE_NEGOTIATION_START", "")
		}},
		{"version.txt", func(p *tracedPair) {
			p.startH("--cores", "8")
			c := p.process("foreign", p.dir)
			require.Error(p.t, c.Wait())
			log, err := os.ReadFile(p.file("log"))
			require.NoError(p.t, err)
			require.Contains(p.t, string(log), "the iHypervisor refuses")
			p.step("An iScheduler that speaks versions 2 and 3 only is refused.", "RESPONSE_INITIALISE", "")
		}},
	} {
		t.Run(strings.TrimSuffix(s.file, ".txt"), func(t *testing.T) {
			t.Parallel()
			p := newTracedPair(t, job)
			s.run(p)
			p.check(s.file)
		})
	}
}
