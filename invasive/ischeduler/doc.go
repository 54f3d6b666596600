// SPDX-License-Identifier: BSD-3-Clause

// Package ischeduler is the iScheduler as a programme: it takes jobs from users of this computer,
// keeps them over crashes, negotiates with an iHypervisor over package link, and maps by package
// queue. `aucsched ischeduler` is its command.
//
// # Directory
//
// All is in one directory that nobody else may enter: "journal", the jobs that haven't ended
// (link.Journal); "ids", up to which number IDs may have been given; "control", the socket where
// users ask. A second iScheduler on the same directory is an error.
//
// A job's submission and deadline are kept in its environment, as AUCSCHED_SUBMITTED and
// AUCSCHED_DEADLINE, in milliseconds since 1970, so that they are saved with the job,
// and the job sees them.
//
// # Control socket
//
// A connection is one request and one answer, each a line of JSON of at most 256 KiB. The kernel
// says who asks; only the user whose iScheduler it is gets an answer.
//
//	{"op":"submit","jobs":[{"args":["a"],"min_cores":2,"max_cores":8}]}   {"ids":[1]}
//	{"op":"list"}                                                         {"jobs":[{"id":1,...}]}
//	{"op":"cancel","id":1}                                                {}
//	{"op":"status"}                                                       {"status":{...}}
//
// An answer with "error" says in words what is wrong. A submission is answered when the job is on
// the disk; with an error "ids" has those that were taken before it.
//
// A job's states are "waiting" (a mapping may name it; or there is no connection, and never was one
// since the start, to tell more), "sent" (in a mapping or an URGENT_JOB, or accepted, and not
// reported yet), and those of the iHypervisor's reports: "accepted", "running", "suspended",
// "done". The last 1000 jobs that ended are listed until the iScheduler ends. To cancel a job takes
// a connection, since only the iHypervisor can tell that it doesn't have the job.
package ischeduler
