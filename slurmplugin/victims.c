/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "common.h"
#include "model.h"
#include "start.h"

/*
 * Jobs that Slurm is to preempt, each once. As all here: the agent's thread, under the locks (conf read, job
 * and node write).
 *
 * By slurm_job_preempt(), as Slurm's _preempt_jobs() does it: modes, grace times and signals are
 * Slurm's. Called again when the grace is over it kills; otherwise job_time_limit() would, up to half
 * a minute later.
 */

/* Beyond Slurm's own times for an end. */
#define SPARE_SECONDS 60

/* Has one be preempted that may have a grace time, or had one. RET whether it ran */
static bool _end(uint32_t victim, job_record_t *preemptor)
{
	job_record_t *job_ptr = find_job_record(victim);

	if (!job_ptr || !auc_holds_nodes(job_ptr))
		return false;
	(void) slurm_job_preempt(job_ptr, preemptor,
				 slurm_job_preempt_mode(job_ptr), true);
	return true;
}

/* Until when nodes of a job should be clean that is killed at end. */
static time_t _ends_until(time_t end)
{
	return end + slurm_conf.kill_wait + slurm_conf.msg_timeout +
		SPARE_SECONDS;
}

/* ---- Starts that waited until others had ended ---- */

/* Ends those whose grace is over. RET whether some hold their nodes still */
static bool _still_run(auc_hold_t *hold, job_record_t *job_ptr)
{
	bool any = false;

	for (uint32_t i = 0; i < hold->victims_len; i++) {
		job_record_t *victim = find_job_record(hold->victims[i]);

		/* One that runs again has not been preempted again. */
		if (!victim || !victim->preempt_time || !auc_holds_nodes(victim))
			continue;
		/* That of its grace. */
		hold->until = MAX(hold->until, _ends_until(victim->end_time));
		if (time(NULL) >= victim->end_time)
			(void) _end(hold->victims[i], job_ptr);
		any |= auc_holds_nodes(victim);
	}
	return any;
}

/* RET what the place is kept for; AUC_NOBODY: it is not */
static auc_waits_t _tend(auc_hold_t *hold, auc_select_hooks_t *hooks,
			 auc_starts_t *starts)
{
	job_record_t *job_ptr = find_job_record(hold->job_id);
	bitstr_t **idle;
	bool started, run;

	if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority ||
	    !auc_is_current(&hold->s))
		return AUC_NOBODY;
	run = _still_run(hold, job_ptr);
	if ((run || bit_overlap_any(hold->nodes, cg_node_bitmap)) &&
	    (time(NULL) < hold->until))
		return run ? AUC_FOR_GRACE : AUC_FOR_NODES;
	idle = auc_idle_cores(hold->nodes);
	started = auc_start_row(&hold->s, &hold->out, 0, idle, hooks, starts);
	auc_cores_free(idle);
	if (!started) {
		auc_missed(job_ptr, ESLURM_NODES_BUSY);
		info("aucsched: the place of %pJ is given up, it bids again",
		     job_ptr);
	}
	return AUC_NOBODY;
}

extern auc_waits_t auc_holds_tend(auc_select_hooks_t *hooks,
				  auc_starts_t *starts)
{
	auc_waits_t waits = AUC_NOBODY;
	uint32_t len, i = 0;
	auc_hold_t *holds = auc_holds(&len);

	while (i < len) {
		auc_waits_t here = _tend(&holds[i], hooks, starts);

		waits = MAX(waits, here);
		if (here != AUC_NOBODY)
			i++;
		else
			auc_hold_drop(i);
		holds = auc_holds(&len);
	}
	return waits;
}

/*
 * Jobs that have to end before others can start, as the library says. Before anybody is preempted
 * stock select_nodes() is asked, with its own candidates cut down to these: it looks at all that a
 * start looks at, by the rules of this moment, and names those that it would preempt. When all
 * starts of the cycle have been asked about, these are preempted. The places are kept until the
 * nodes are clean.
 */

/* What the starts of a cycle share. */
typedef struct {
	const auc_snapshot_t *s;
	const struct aucsched_output *out;
	auc_select_hooks_t *hooks;
	auc_starts_t *starts;
	bitstr_t **idle;	/* cores, by node, that no start has */
	bitstr_t **later;	/* the same of those who are to end */
	struct {
		uint32_t victim, preemptor; /* job ids */
	} *ends;
	uint32_t ends_len;
	size_t ends_cap;
} round_t;

/* Adds one, unless the victim is there. */
static void _ends_add(round_t *round, uint32_t victim, uint32_t preemptor)
{
	for (uint32_t i = 0; i < round->ends_len; i++)
		if (round->ends[i].victim == victim)
			return;
	AUC_APPEND(round->ends, (__typeof__(*round->ends)) { victim, preemptor });
}

/* Has all be preempted. RET how many of them ran */
static uint32_t _ends_all(const round_t *round)
{
	uint32_t ended = 0;

	/* Which Slurm's _preempt_jobs() reads when it is called first. */
	preempt_send_user_signal =
		xstrcasestr(slurm_conf.slurmctld_params,
			    "preempt_send_user_signal") != NULL;
	for (uint32_t i = 0; i < round->ends_len; i++) {
		job_record_t *preemptor = find_job_record(round->ends[i].preemptor);

		if (preemptor && _end(round->ends[i].victim, preemptor))
			ended++;
	}
	return ended;
}

/* Of one question: whom Slurm would preempt. */
typedef struct {
	const auc_pin_t *pin;
	uint32_t *ids;
	uint32_t ids_len;
	size_t ids_cap;
} named_t;

static void _note_named(job_record_t *job_ptr, void *arg)
{
	named_t *named = arg;
	job_record_t *victim;

	named->ids_len = 0;
	AUC_EACH(victim, named->pin->preempted)
		AUC_APPEND(named->ids, victim->job_id);
}

static uint32_t _victim(const round_t *round, uint32_t i)
{
	return round->s->runners[round->out->victims[i]].job_id;
}

/* Adds what some of the decisions' victims hold. */
static void _add_cores(const round_t *round, uint32_t first, uint32_t len,
		       bitstr_t **cores)
{
	for (uint32_t i = first; i < first + len; i++) {
		job_record_t *job_ptr = find_job_record(_victim(round, i));

		if (job_ptr && auc_holds_nodes(job_ptr))
			auc_cores_mark(job_ptr->job_resrcs, cores, true);
	}
}

/* ---- places ---- */

static void _keep(round_t *round, uint32_t row, job_record_t *job_ptr,
		  const auc_pin_t *pin, const named_t *named)
{
	for (uint32_t i = 0; i < named->ids_len; i++)
		_ends_add(round, named->ids[i], job_ptr->job_id);
	auc_hold_add(round->s, round->out, row, job_ptr, named->ids, named->ids_len,
		     _ends_until(time(NULL)));
	job_ptr->state_reason = WAIT_RESOURCES;
	xfree(job_ptr->state_desc);
	last_job_update = time(NULL);
	for (int n = 0; n < node_record_count; n++) {
		if (!pin->cores[n])
			continue;
		bit_and_not(round->idle[n], pin->cores[n]);
		bit_and_not(round->later[n], pin->cores[n]);
	}
	info("aucsched: %pJ waits until %u jobs have ended that it preempts",
	     job_ptr, named->ids_len);
}

/* Idle cores, and those that will be. RET auc_cores_free() */
static bitstr_t **_room(const round_t *round, bitstr_t **later,
			const auc_pin_t *pin)
{
	bitstr_t **room = xcalloc(node_record_count, sizeof(*room));

	for (int n = 0; n < node_record_count; n++) {
		if (!pin->cores[n])
			continue;
		room[n] = bit_copy(round->idle[n]);
		bit_or(room[n], later[n]);
	}
	return room;
}

/* The cores of those who are to end for this start, as far as no other has them. RET auc_cores_free() */
static bitstr_t **_later_for(const round_t *round,
			     const struct aucsched_decision *decision)
{
	bitstr_t **later = xcalloc(node_record_count, sizeof(*later));

	AUC_EACH_PLACE(n, segment, round->out, decision)
		if (round->later[n])
			later[n] = bit_alloc(bit_size(round->later[n]));
	_add_cores(round, decision->first_victim, decision->victims, later);
	for (int n = 0; n < node_record_count; n++)
		if (later[n])
			bit_and(later[n], round->later[n]);
	return later;
}

static void _ask(round_t *round, uint32_t row)
{
	const struct aucsched_decision *decision = &round->out->decisions[row];
	uint32_t *victims = xcalloc(decision->victims, sizeof(*victims));
	bitstr_t **later = _later_for(round, decision), **room;
	auc_pin_t pin = { .may_preempt = true, .victims = victims,
			  .victims_len = decision->victims,
			  .got = _note_named };
	named_t named = { .pin = &pin };
	job_record_t *job_ptr = NULL;

	for (uint32_t i = 0; i < decision->victims; i++)
		victims[i] = _victim(round, decision->first_victim + i);
	pin.arg = &named;
	if (auc_pin_make_room(&pin, round->out, decision, round->idle, later)) {
		room = _room(round, later, &pin);
		job_ptr = auc_start_ask(round->s, round->out, row, &pin, room,
					round->hooks, round->starts);
		auc_cores_free(room);
	}
	if (job_ptr && named.ids_len)
		_keep(round, row, job_ptr, &pin, &named);
	else if (job_ptr)	/* nobody has to end by what Slurm says */
		auc_missed(job_ptr, ESLURM_NODES_BUSY);
	xfree(named.ids);
	xfree(victims);
	auc_cores_free(later);
	auc_pin_free(&pin);
}

/* Whether all of the place is free by now. */
static bool _is_free(const round_t *round,
		     const struct aucsched_decision *decision)
{
	AUC_EACH_PLACE(n, segment, round->out, decision)
		if (!auc_takes_jobs(n) || !round->idle[n] ||
		    (bit_set_count(round->idle[n]) < segment->cores))
			return false;
	return true;
}

static bool _waits(const round_t *round, uint32_t row)
{
	return (round->out->decisions[row].why == AUCSCHED_STARTS) &&
		round->out->decisions[row].victims;
}

/* The cores of the nodes of all starts that wait: idle, and of those that are to end. */
static void _look_at_cores(round_t *round)
{
	bitstr_t *nodes = bit_alloc(node_record_count);

	for (uint32_t row = 0; row < round->s->in.jobs_len; row++)
		if (_waits(round, row))
			AUC_EACH_PLACE(n, segment, round->out,
				       &round->out->decisions[row])
				bit_set(nodes, n);
	round->idle = auc_idle_cores(nodes);
	round->later = xcalloc(node_record_count, sizeof(bitstr_t *));
	for (int n = 0; n < node_record_count; n++)
		if (round->idle[n])
			round->later[n] = bit_alloc(bit_size(round->idle[n]));
	_add_cores(round, 0, round->out->victims_len, round->later);
	FREE_NULL_BITMAP(nodes);
}

extern uint32_t auc_preempt(const auc_snapshot_t *s,
			    const struct aucsched_output *out,
			    auc_select_hooks_t *hooks, int64_t budget_us,
			    auc_starts_t *starts)
{
	round_t round = { .s = s, .out = out, .hooks = hooks, .starts = starts };
	int64_t end_us = auc_now_us() + budget_us;
	uint32_t ended;

	if (!auc_is_current(s))
		return 0;
	_look_at_cores(&round);
	for (uint32_t row = 0; (row < s->in.jobs_len) &&
	     (auc_now_us() < end_us); row++) {
		if (!_waits(&round, row))
			continue;
		if (_is_free(&round, &out->decisions[row]))
			(void) auc_start_row(s, out, row, round.idle, hooks,
					     starts);
		else
			_ask(&round, row);
	}
	ended = _ends_all(&round);
	auc_cores_free(round.idle);
	auc_cores_free(round.later);
	xfree(round.ends);
	return ended;
}
