// SPDX-License-Identifier: BSD-3-Clause

// Package report shows what simulations did: as one HTML page that needs no network
// ([Page.Write]), and job by job as Batsim's jobs.csv ([WriteJobsCSV]).
//
// A [Log] listens to a simulation through sim.Config.OnEnd and keeps what the page
// and the table need; without one a simulation remembers no job that has ended.
package report
