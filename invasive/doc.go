// SPDX-License-Identifier: BSD-3-Clause

// Package invasive is the negotiation between an invasive job scheduler (iScheduler) and an
// invasive resource manager (iHypervisor), after Nagendra, "A Protocol for the Integration of
// Invasive Resource Management into Standard Batch Schedulers" (2015): the messages of figure 3,
// and the machines of both sides, [Agent] and [Hypervisor], for the phases of section 3.2
// (initialisation, negotiation, feedback, urgent jobs, finalisation).
//
// A machine is pure: [Agent.Step] takes an event and appends actions. It does no I/O, has no
// goroutine and no clock. What takes thought is asked for by an action and comes back as an event:
// AskDecision (which jobs to map onto an offer) is answered by Decided, AskOffer by OfferMade,
// AskVerdict by Verdict, AskUrgent by UrgentVerdict, AskPlace by any number of Place, Give and
// Take. These are the places for an auction and for a placement on cores. They are not functions
// that a machine calls, for three reasons: an auction may think for a while, and urgent jobs must
// pass meanwhile; a crash may come between question and answer; and the model checker of this
// package's tests gives every answer there is.
//
// The caller's duties, for each machine:
//
//  1. Do the actions of a step in their order, each before the next: a Save has to be on the disk
//     before what follows is done; Saves that follow each other may go there together. Then the
//     next event. Or else put the actions of one event, or of several, into a [Group].
//  2. Start again after a crash from the records saved ([Replay]), and for a Hypervisor from what
//     is found of the jobs launched ([Seen]): a launch has to leave a mark that is there if, and
//     only if, the job was started. Then the event Start.
//  3. Hand over messages of the present connection only, checked ([Message.Check], [Kind.SentBy];
//     package wire does both). Nothing of a connection comes after its Lost, or after the machine's
//     Close. A Hypervisor takes a Connected only after a Lost or a Close of the connection before.
//  4. Connect with a pause that grows from failure to failure; a connection that
//     can't be made is a Lost.
//  5. Answer the last question of a kind only; a new one replaces it. Questions about different
//     urgent jobs stand side by side. An AskOffer that isn't Prompt is to be answered when there is
//     something new to offer: a job has ended, an offer has never been made, or some time has
//     passed. This keeps two idle sides quiet.
//  6. Keep one timer for each machine: SetTimer replaces it. It is set while the other side owes an
//     answer, and in the Agent also while nothing but the next status report is due, so that a
//     silent or slow peer costs one timer.
//  7. Give a Hypervisor ReportDue as often as the terms say.
//
// What then holds, in every order of messages, losses and crashes (model_check_test.go explores
// them): a submitted job is launched at most once and not lost, no core has two owners, both agree
// within the number of attempts, and from every state all jobs can still come to their end. A
// session that breaks is not repaired but begun anew: the iHypervisor tells in its
// RESPONSE_INITIALISE of all jobs that it knows, and what it doesn't know it has never accepted.
//
// invasive/docs/protocol.md has the rules of both machines, made from their tables.
package invasive
