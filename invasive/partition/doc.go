// Package partition decides for the iHypervisor: what of its partition it offers, whether a mapping suits it, whether it
// takes an urgent job, which cores a job gets, and which jobs shrink, are suspended or killed for that, or grow. The
// iHypervisor's metrics are its own (Nagendra 2015, section 2.3): utilisation, power, and little fragmentation.
//
// A [Manager] answers the questions of an [invasive.Hypervisor]: it reads the ledger, and returns events. It has no clock,
// no goroutine and no random choices, so that the iHypervisor on real processes and the simulator decide alike.
//
// The caller's duties:
//
//  1. Hand every AskOffer, AskVerdict, AskUrgent and AskPlace to Answer, and step the Hypervisor through the events that come back, in their
//     order, before anything else happens to it.
//  2. Call Tick when all that has happened is through, and every Settings.Repeat besides: an AskOffer that
//     isn't prompt is answered there, and cores that nobody wants go to jobs that can use more.
//  3. Tell of a refusal by Kept before the Hypervisor's event of that name; a job that doesn't answer a Reclaim in time
//     counts as one that refuses. Tell of an evolving job's wish by Wish.
//
// # Order
//
// Cores go first to urgent jobs, then to suspended ones, then to accepted ones, each by priority and ID, then to evolving jobs that wish for more, and
// what is left to malleable jobs below their greatest size. For a waiting job it takes, as far as needed, in this order: free
// cores; those that were already asked for; those that malleable jobs can do without, of the lowest priority first; and, for an urgent job only,
// all cores of a job that it suspends, at last of one that it kills. Urgent jobs are never touched.
//
// # Offers
//
// The first offer of a transaction are cores that are free. If it is rejected, or there are none, the next one has also, as a virtual part, the cores
// that malleable jobs can do without, and the one after that those of jobs whose time limit tells when they end. After
// a mapping that was scattered over too many nodes, an offer hides the nodes of which a part is in use.
package partition
