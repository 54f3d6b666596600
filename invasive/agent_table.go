// SPDX-License-Identifier: BSD-3-Clause

package invasive

var (
	agentSession = in(Starting, Idle, Waiting, Deciding, Answered, Ending)
	agentLinked  = append(in(Initialising), agentSession...)
	agentAll     = append(in(Off, Connecting, Refused, Finalising), agentLinked...)
	agentHears   = append(in(Finalising), agentSession...)
)

var agentTable = newTable(agentRules())

// agentRules is the iScheduler's side (figures 7 to 10). Where the paper's figures leave a crossing
// of messages open, invasive/docs/protocol.md says what was chosen.
func agentRules() []rule[Agent] {
	var rules []rule[Agent]
	p := initialisation
	add := func(from []Phase, on EventKind, when agentGuard, to Phase, do ...agentEffect) {
		rules = append(rules, rule[Agent]{p, from, on, when, do, to})
	}
	always := agentGuard{}

	add(in(Off, Refused), Start, always, Connecting, connect)
	add(in(Connecting), Connected, always, Initialising, sendInitialise)
	add(in(Connecting), Lost, always, stay, connect)
	add(in(Initialising), sends(ResponseInitialise), ifAccepted, Starting, takeTerms, resynchronise, sendStart, sendUrgent)
	add(in(Initialising), sends(ResponseInitialise), ifNotAccepted, Refused, closeLine, failed)
	add(in(Starting), sends(ResponseNegotiationStart), ifTold, Waiting)
	add(in(Starting), sends(ResponseNegotiationStart), ifWaiting, Waiting, sendRequest)
	add(in(Starting), sends(ResponseNegotiationStart), always, Idle)
	add(in(Ending, Finalising), Lost, ifFinishing, Off, forgetAnswers, stopped)
	add(in(Ending, Finalising), Timeout, ifFinishing, Off, closeLine, forgetAnswers, stopped)
	add(agentLinked, Lost, always, Connecting, forgetAnswers, connect)
	add(agentLinked, Timeout, always, Connecting, closeLine, forgetAnswers, connect)

	p = negotiation
	add(in(Idle), Submit, ifNewNormal, Waiting, saveJob, sendRequest)
	add(in(Waiting, Answered), sends(ResourceOffer), ifOffer, Deciding, askDecision)
	add(in(Waiting, Answered), sends(ResourceOffer), ifUselessOffer, Ending, noteOffer, sendEmpty)
	add(in(Deciding), Decided, always, Answered, sendResponse)
	add(in(Answered), sends(NegotiationEnd), ifAgreedWaiting, Waiting, placeJobs, respondEnd)
	add(in(Answered), sends(NegotiationEnd), ifAgreed, Idle, placeJobs, respondEnd)
	add(in(Ending), sends(NegotiationEnd), ifAgreed, stay, placeJobs, respondEnd)
	add(in(Deciding, Answered), sends(NegotiationEnd), ifClosing, Waiting, requeue, respondEnd)
	add(in(Ending), sends(NegotiationEnd), ifClosing, stay, requeue, respondEnd)
	add(in(Ending), sends(ResponseNegotiationEnd), ifThisFinishes, Finalising, requeue, sendFinalise)
	add(in(Ending), sends(ResponseNegotiationEnd), ifThisWaiting, Waiting, requeue, sendRequest)
	add(in(Ending), sends(ResponseNegotiationEnd), ifThis, Idle, requeue)
	add(in(Ending), sends(ResourceOffer), always, stay) // crossed our NEGOTIATION_END
	add(agentAll, Submit, ifNewNormal, stay, saveJob)
	add(agentSession, Cancel, ifWaits, stay, cancelJob)

	p = feedback
	add(agentHears, sends(StatusReport), always, stay, takeReport, sendUrgent)
	add(in(Initialising), sends(StatusReport), always, stay) // overtook the answer

	p = urgency
	add(agentSession, Submit, ifNewUrgent, stay, saveJob, sendUrgent)
	add(agentAll, Submit, ifNewUrgent, stay, saveJob)
	add(in(Idle), sends(ResponseUrgentJob), ifRefused, Waiting, takeUrgent, sendRequest, sendUrgent)
	add(agentSession, sends(ResponseUrgentJob), always, stay, takeUrgent, sendUrgent)
	add(in(Finalising), sends(ResponseUrgentJob), always, stay, takeUrgent)

	p = finalisation
	add(in(Connecting, Initialising), Finish, always, Off, closeLine, stopped)
	add(in(Starting, Idle, Waiting), Finish, always, Finalising, noteFinish, sendFinalise)
	add(in(Deciding, Answered), Finish, always, Ending, noteFinish, sendClosing)
	add(in(Ending), Finish, always, stay, noteFinish)
	add(agentSession, sends(Finalise), always, Off, respondFinalise, closeLine, forgetAnswers, stopped)
	add(in(Finalising), sends(Finalise), always, stay, respondFinalise)
	add(in(Finalising), sends(ResponseFinalise), always, Off, closeLine, forgetAnswers, stopped)
	for _, k := range []Kind{ResponseNegotiationStart, ResourceOffer, NegotiationEnd} {
		add(in(Finalising), sends(k), always, stay) // crossed our FINALISE
	}
	return rules
}
