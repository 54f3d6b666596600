/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of associations and QOS as quotas: see limit_quotas.h. The library keeps to them, and
 * chooses who gets what is left. auc_limit_quotas_t is its caller's, for one snapshot; under the
 * locks.
 */
#include "aucsched.h"
#include "grow.h"
#include "limit_quotas.h"

#define BUCKETS 256

/* Rows may ask for so many times what is left: more would take rows from others in vain. */
#define SEATS 4

typedef struct entry {
	struct entry *next;
	auc_limit_t limit;
	uint32_t quota;
} entry_t;

/* What rows ask for: of jobs that may start, and of those that found no place last time. */
typedef struct {
	uint64_t by[2];
} asked_t;

struct auc_limit_quotas {
	entry_t *buckets[BUCKETS];
	struct aucsched_charge *counted; /* of requests, one after the other */
	size_t counted_cap;
	uint32_t counted_len;
	asked_t *asked;		/* [quota] */
	size_t asked_cap;
};

extern auc_limit_quotas_t *auc_limit_quotas_new(const auc_settings_t *settings)
{
	if (!settings->counts || !auc_limits_enforced())
		return NULL;
	return xmalloc(sizeof(auc_limit_quotas_t));
}

extern void auc_limit_quotas_free(auc_limit_quotas_t *limits)
{
	if (!limits)
		return;
	for (int i = 0; i < BUCKETS; i++) {
		entry_t *entry = limits->buckets[i], *next;

		for (; entry; entry = next) {
			next = entry->next;
			xfree(entry);
		}
	}
	xfree(limits->counted);
	xfree(limits->asked);
	xfree(limits);
}

/* ---- quotas ---- */

static bool _is_same(const auc_limit_t *a, const auc_limit_t *b)
{
	return (a->kind == b->kind) && (a->id == b->id) && (a->sub == b->sub) &&
		(a->measure == b->measure) && (a->tres == b->tres) &&
		(a->limit == b->limit);
}

/* IN left - of the limit, if it is new */
static uint32_t _quota_of(auc_limit_quotas_t *limits, auc_snapshot_t *s,
			  const auc_limit_t *limit, uint64_t left)
{
	uint32_t hash = (limit->id * 2654435761u) ^ (limit->sub * 2246822519u) ^
		((limit->tres * 3 + limit->measure) * 3266489917u) ^ limit->kind;
	entry_t **bucket = &limits->buckets[(hash >> 8) % BUCKETS];
	entry_t *entry = *bucket;

	while (entry && !_is_same(&entry->limit, limit))
		entry = entry->next;
	if (entry)
		return entry->quota;
	entry = xmalloc(sizeof(*entry));
	entry->limit = *limit;
	entry->quota = s->in.quotas_len;
	entry->next = *bucket;
	*bucket = entry;
	AUC_GROW(s->quotas, s->quotas_cap, s->in.quotas_len + 1);
	AUC_GROW(limits->asked, limits->asked_cap, s->in.quotas_len + 1);
	limits->asked[s->in.quotas_len] = (asked_t) { 0 };
	s->quotas[s->in.quotas_len++] = MIN(left, AUCSCHED_MAX_CHARGE);
	return entry->quota;
}

extern void auc_limit_quotas_charge(auc_limit_quotas_t *limits,
				    auc_snapshot_t *s, const auc_limit_t *limit,
				    uint64_t left,
				    const struct aucsched_charge *charge,
				    auc_counted_t *counted)
{
	AUC_GROW(limits->counted, limits->counted_cap, limits->counted_len + 1);
	if (!counted->len)
		counted->first = limits->counted_len;
	limits->counted[limits->counted_len] = *charge;
	limits->counted[limits->counted_len++].quota =
		_quota_of(limits, s, limit, left);
	counted->len++;
}

static int _by_quota(const void *a, const void *b)
{
	const struct aucsched_charge *x = a, *y = b;

	return (x->quota > y->quota) - (x->quota < y->quota);
}

extern void auc_limit_quotas_sort(auc_limit_quotas_t *limits,
				  auc_counted_t counted)
{
	if (counted.len)
		qsort(limits->counted + counted.first, counted.len,
		      sizeof(*limits->counted), _by_quota);
}

/* ---- rows ---- */

extern uint64_t auc_charge_times(uint64_t rate, uint64_t number)
{
	if (number && (rate > AUCSCHED_MAX_CHARGE / number))
		return AUCSCHED_MAX_CHARGE;
	return rate * number;
}

extern uint64_t auc_least_charge(const struct aucsched_charge *charge,
				 const auc_request_t *request)
{
	const struct aucsched_job *job = &request->job;
	uint64_t nodes = MAX(job->min_nodes, 1);

	return charge->per_job + auc_charge_times(charge->per_node, nodes) +
		auc_charge_times(charge->per_core, job->cores) +
		auc_charge_times(charge->per_gpu, nodes * job->min_gpus);
}

extern uint32_t auc_limit_quotas_admit(auc_limit_quotas_t *limits,
				       const auc_snapshot_t *s,
				       const auc_request_t *request,
				       auc_counted_t counted, uint32_t most,
				       bool stuck)
{
	for (uint32_t i = 0; i < counted.len; i++) {
		const struct aucsched_charge *charge =
			&limits->counted[counted.first + i];
		uint64_t left = s->quotas[charge->quota];
		uint64_t least = auc_least_charge(charge, request);

		if (!least)
			continue;
		most = MIN(most, left / least);
		if (limits->asked[charge->quota].by[stuck] >= SEATS * left)
			most = 0;
	}
	for (uint32_t i = 0; i < counted.len; i++) {
		const struct aucsched_charge *charge =
			&limits->counted[counted.first + i];

		limits->asked[charge->quota].by[stuck] +=
			most * auc_least_charge(charge, request);
	}
	return most;
}

static void _add(const auc_limit_quotas_t *limits, auc_counted_t counted,
		 struct aucsched_charge **charges, size_t *cap, uint32_t *len,
		 uint32_t of)
{
	AUC_GROW(*charges, *cap, *len + counted.len);
	for (uint32_t i = 0; i < counted.len; i++) {
		(*charges)[*len] = limits->counted[counted.first + i];
		(*charges)[(*len)++].of = of;
	}
}

extern void auc_add_job_limits(const auc_limit_quotas_t *limits,
			       auc_snapshot_t *s, auc_counted_t counted)
{
	_add(limits, counted, &s->job_charges, &s->job_charges_cap,
	     &s->in.job_charges_len, s->in.jobs_len);
}

extern void auc_add_alternative_limits(const auc_limit_quotas_t *limits,
				       auc_snapshot_t *s, auc_counted_t counted)
{
	_add(limits, counted, &s->alternative_charges,
	     &s->alternative_charges_cap, &s->in.alternative_charges_len,
	     s->in.alternatives_len);
}
