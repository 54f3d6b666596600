// SPDX-License-Identifier: BSD-3-Clause

package invasive

var (
	hyperSession = in(Ready, Idle, Offering, Offered, Judging, Ending)
	hyperLinked  = append(in(Accepting), hyperSession...)
	hyperAll     = append(in(Off, Listening, Finalising), hyperLinked...)
)

var hypervisorTable = newTable(hypervisorRules())

// hypervisorRules is the iHypervisor's side: the paper draws it only from the
// iScheduler's (figures 4 to 10).
func hypervisorRules() []rule[Hypervisor] {
	var rules []rule[Hypervisor]
	p := initialisation
	add := func(from []Phase, on EventKind, when hyperGuard, to Phase, do ...hyperEffect) {
		rules = append(rules, rule[Hypervisor]{p, from, on, when, do, to})
	}
	always := hyperGuard{}

	add(in(Off), Start, always, Listening, listen)
	add(in(Listening), Connected, always, Accepting)
	add(in(Accepting), sends(Initialise), ifCommon, Ready, acceptTerms)
	add(in(Accepting), sends(Initialise), always, Listening, refuseTerms, hyperClose)
	add(in(Ready), sends(NegotiationStart), ifPending, Offering, takeAcks, respondStart, newTransaction)
	add(in(Ready), sends(NegotiationStart), always, Idle, takeAcks, respondStart)
	add(in(Ending, Finalising), Lost, ifFinishes, Off, endSession, hyperStopped)
	add(in(Ending, Finalising), Timeout, ifFinishes, Off, hyperClose, endSession, hyperStopped)
	add(hyperLinked, Lost, always, Listening, endSession)
	add(hyperLinked, Timeout, always, Listening, hyperClose, endSession)

	p = negotiation
	add(in(Idle), sends(RequestResourceOffer), always, Offering, takeAcks, newTransaction)
	add(in(Offering), OfferMade, always, Offered, sendOffer)
	add(in(Offered), sends(ResponseResourceOffer), ifFinal, Ending, takeAcks, noteMapping, acceptJobs, sendAgreed, askPlaces)
	add(in(Offered), sends(ResponseResourceOffer), ifMapping, Judging, takeAcks, askVerdict)
	add(in(Offered), sends(ResponseResourceOffer), ifRejection, Offering, takeAcks, askAgain)
	add(in(Judging), Verdict, ifYes, Ending, acceptJobs, sendAgreed, askPlaces)
	add(in(Judging), Verdict, always, Offering, askAgain)
	add(in(Offering, Offered, Judging), sends(NegotiationEnd), ifOurs, Idle, takeAcks, hyperRespondEnd)
	add(in(Ending), sends(NegotiationEnd), ifOurs, stay, takeAcks, hyperRespondEnd)
	add(in(Ending), sends(ResponseNegotiationEnd), ifOursFinishing, Finalising, takeAcks, hyperFinalise)
	add(in(Ending), sends(ResponseNegotiationEnd), ifOursPending, Offering, takeAcks, newTransaction)
	add(in(Ending), sends(ResponseNegotiationEnd), ifOurs, Idle, takeAcks)
	// crossed our NEGOTIATION_END
	add(in(Ending), sends(ResponseResourceOffer), ifOurs, stay, takeAcks)

	p = feedback
	add(hyperSession, ReportDue, always, stay, sendReport)

	p = urgency
	add(hyperSession, sends(UrgentJob), ifKnown, stay, acceptKnown)
	add(hyperSession, sends(UrgentJob), ifFull, stay, refuseFull)
	add(hyperSession, sends(UrgentJob), ifUnasked, stay, askUrgent)
	add(hyperSession, UrgentVerdict, ifAskedYes, stay, acceptUrgent, respondUrgent, askPlaces)
	add(hyperSession, UrgentVerdict, ifAsked, stay, respondUrgent)

	p = finalisation
	add(in(Listening), Finish, always, Off, hyperStopped)
	add(in(Accepting), Finish, always, Off, hyperClose, endSession, hyperStopped)
	add(in(Ready, Idle), Finish, always, Finalising, hyperFinish, hyperFinalise)
	add(in(Offering), Finish, ifNoOffer, Finalising, hyperFinish, hyperFinalise)
	add(in(Offering, Offered, Judging), Finish, always, Ending, hyperFinish, sendsClose)
	add(in(Ending), Finish, always, stay, hyperFinish)
	add(hyperSession, sends(Finalise), ifFinishes, Off, hyperRespondFinalise, hyperClose, endSession, hyperStopped)
	add(hyperSession, sends(Finalise), always, Listening, hyperRespondFinalise, hyperClose, endSession)
	add(in(Finalising), sends(Finalise), always, stay, hyperRespondFinalise)
	add(in(Finalising), sends(ResponseFinalise), always, Off, hyperClose, endSession, hyperStopped)
	for _, k := range []Kind{NegotiationStart, RequestResourceOffer, ResponseResourceOffer,
		NegotiationEnd, ResponseNegotiationEnd, UrgentJob} {
		add(in(Finalising), sends(k), always, stay) // crossed our FINALISE
	}

	p = resources
	add(hyperAll, Place, ifPlaceable, stay, placeJob)
	add(hyperAll, Give, ifGrows, stay, giveCores)
	add(hyperAll, Take, ifTakeable, stay, takeCores)
	add(hyperAll, Released, ifOwns, stay, freeCores)
	add(hyperAll, Kept, ifRuns, stay, keepCores, askPlaces)
	add(hyperAll, Exited, ifRuns, stay, endJob, askPlaces)
	return rules
}
