/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Licences as quotas: see licences.h.
 *
 * A job becomes a row while its licences are free. Of the rows the library never starts more than
 * there are licences for, and chooses which: a row that finds no nodes keeps its licences from
 * nobody. Whoever waits for a licence is told so by Slurm, who is asked when the others have
 * started.
 *
 * Under the locks. auc_licences_t is its caller's, for one snapshot.
 */
#include "aucsched.h"
#include "grow.h"
#include "licences.h"

/* Rows may ask for so many times what is left: more would take rows from others in vain. */
#define SEATS 4

struct auc_licences {
	bf_licenses_t *all;	/* in the order of the quotas */
	uint64_t *asked;	/* [quota], by rows */
};

extern auc_licences_t *auc_licences_new(auc_snapshot_t *s,
					const auc_settings_t *settings)
{
	auc_licences_t *licences;
	bf_license_t *licence;
	list_itr_t *iter;
	uint32_t len = 0;

	if (!settings->counts)
		return NULL;
	licences = xmalloc(sizeof(*licences));
	if (!(licences->all = bf_licenses_initial(false)))
		return licences;
	len = list_count(licences->all);
	licences->asked = xcalloc(MAX(len, 1), sizeof(uint64_t));
	AUC_GROW(s->quotas, s->quotas_cap, len);
	iter = list_iterator_create(licences->all);
	while ((licence = list_next(iter)))
		s->quotas[s->in.quotas_len++] = licence->remaining;
	list_iterator_destroy(iter);
	return licences;
}

extern void auc_licences_free(auc_licences_t *licences)
{
	if (!licences)
		return;
	FREE_NULL_LIST(licences->all);
	xfree(licences->asked);
	xfree(licences);
}

/* OUT quota - of the licence. RET false if there is none such */
static bool _quota_of(const auc_licences_t *licences, const licenses_t *want,
		      uint32_t *quota)
{
	bf_license_t *licence;
	list_itr_t *iter;

	if (!licences->all)
		return false;
	*quota = 0;
	iter = list_iterator_create(licences->all);
	while ((licence = list_next(iter)) && !auc_is_licence(licence, want))
		(*quota)++;
	list_iterator_destroy(iter);
	return licence;
}

/* The next licence that a job wants, and that is counted; NULL: no more. */
static const licenses_t *_next(const auc_licences_t *licences,
			       list_itr_t *iter, uint32_t *quota)
{
	const licenses_t *want;

	while ((want = list_next(iter)))
		if (want->total && !auc_is_odd_licence(want) &&
		    _quota_of(licences, want, quota))
			break;
	return want;
}

extern uint32_t auc_licences_admit(auc_licences_t *licences,
				   const auc_snapshot_t *s,
				   const job_record_t *job_ptr, uint32_t most)
{
	const licenses_t *want;
	list_itr_t *iter;
	uint32_t quota;

	if (!job_ptr->license_list)
		return most;
	iter = list_iterator_create(job_ptr->license_list);
	while ((want = _next(licences, iter, &quota))) {
		most = MIN(most, s->quotas[quota] / want->total);
		if (licences->asked[quota] >= SEATS * s->quotas[quota])
			most = 0;
	}
	list_iterator_reset(iter);
	while ((want = _next(licences, iter, &quota)))
		licences->asked[quota] += (uint64_t) most * want->total;
	list_iterator_destroy(iter);
	return most;
}

static int _by_quota(const void *a, const void *b)
{
	const struct aucsched_charge *x = a, *y = b;

	return (x->quota > y->quota) - (x->quota < y->quota);
}

/* Adds what a job counts to an array of charges, as those of element of. */
static void _add(const auc_licences_t *licences, const job_record_t *job_ptr,
		 struct aucsched_charge **charges, size_t *cap, uint32_t *len,
		 uint32_t of)
{
	const licenses_t *want;
	list_itr_t *iter;
	uint32_t quota, from = *len;

	if (!licences || !job_ptr->license_list)
		return;
	iter = list_iterator_create(job_ptr->license_list);
	while ((want = _next(licences, iter, &quota))) {
		AUC_GROW(*charges, *cap, *len + 1);
		(*charges)[(*len)++] = (struct aucsched_charge) {
			.of = of, .quota = quota, .per_job = want->total };
	}
	list_iterator_destroy(iter);
	if (*len > from)
		qsort(*charges + from, *len - from, sizeof(**charges), _by_quota);
}

extern void auc_add_job_licences(const auc_licences_t *licences,
				 auc_snapshot_t *s, const job_record_t *job_ptr)
{
	_add(licences, job_ptr, &s->job_charges, &s->job_charges_cap,
	     &s->in.job_charges_len, s->in.jobs_len);
}

extern void auc_add_alternative_licences(const auc_licences_t *licences,
					 auc_snapshot_t *s,
					 const job_record_t *job_ptr)
{
	_add(licences, job_ptr, &s->alternative_charges,
	     &s->alternative_charges_cap, &s->in.alternative_charges_len,
	     s->in.alternatives_len);
}
