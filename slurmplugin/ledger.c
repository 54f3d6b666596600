/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the rows of a snapshot would use of limits and licences together: see ledger.h.
 *
 * Rows are admitted in the order of the queue. For each holder of a limit an entry says what the
 * rows before would use, and Slurm's own functions are asked as if it were used already; so no
 * more rows of one holder are decided together than can start together.
 *
 * Locks as assoc_limits.c. The ledger is the snapshot's thread's, and lives as long as one
 * snapshot is being taken.
 */
#include <string.h>

#include "assoc_limits.h"
#include "aucsched.h"
#include "ledger.h"
#include "memo.h"

#define BUCKETS 256

typedef struct entry {
	struct entry *next;
	auc_holder_kind_t kind;
	uint32_t id, sub;
	auc_need_t used;	/* of limits; none of licences */
	uint32_t jobs;
	/* The first of these rows. */
	uint32_t head_id;
	struct aucsched_job head;
	bitstr_t *nodes;
} entry_t;

struct auc_ledger {
	entry_t *buckets[BUCKETS];
	bf_licenses_t *licences; /* what is left of each; NULL: not looked at yet */
};

extern auc_ledger_t *auc_ledger_new(void)
{
	return xmalloc(sizeof(auc_ledger_t));
}

static void _free_entry(entry_t *entry)
{
	auc_need_free(&entry->used);
	FREE_NULL_BITMAP(entry->nodes);
	xfree(entry);
}

extern void auc_ledger_free(auc_ledger_t *ledger)
{
	for (int i = 0; i < BUCKETS; i++) {
		entry_t *entry = ledger->buckets[i], *next;

		for (; entry; entry = next) {
			next = entry->next;
			_free_entry(entry);
		}
	}
	FREE_NULL_LIST(ledger->licences);
	xfree(ledger);
}

static entry_t **_bucket(auc_ledger_t *ledger, auc_holder_kind_t kind,
			 uint32_t id, uint32_t sub)
{
	uint32_t hash = (id * 2654435761u) ^ (sub * 2246822519u) ^ kind;

	return &ledger->buckets[(hash >> 8) % BUCKETS];
}

static entry_t *_find(auc_ledger_t *ledger, auc_holder_kind_t kind, uint32_t id,
		      uint32_t sub)
{
	entry_t *entry = *_bucket(ledger, kind, id, sub);

	while (entry && ((entry->kind != kind) || (entry->id != id) ||
			 (entry->sub != sub)))
		entry = entry->next;
	return entry;
}

/* The entry, made with the job as its first row if need be. */
static entry_t *_entry_of(auc_ledger_t *ledger, auc_holder_kind_t kind,
			  uint32_t id, uint32_t sub,
			  const job_record_t *job_ptr,
			  const auc_request_t *request, bitstr_t *nodes)
{
	entry_t *entry = _find(ledger, kind, id, sub), **bucket;

	if (entry)
		return entry;
	bucket = _bucket(ledger, kind, id, sub);
	entry = xmalloc(sizeof(*entry));
	entry->kind = kind;
	entry->id = id;
	entry->sub = sub;
	entry->head_id = job_ptr->job_id;
	entry->head = request->job;
	entry->nodes = bit_copy(nodes);
	entry->next = *bucket;
	*bucket = entry;
	return entry;
}

/* ---- limits ---- */

/* What one more row adds to TRES i of a holder. */
static uint64_t _adds(const auc_holder_t *holder, const uint64_t *need, int i)
{
	if ((i == TRES_ARRAY_ENERGY) || (need[i] == NO_CONSUME_VAL64) ||
	    ((i == TRES_ARRAY_NODE) && holder->narrowed))
		return 0;
	return need[i];
}

/* Has the holder use what the entry says, and rows more jobs, or takes that back. */
static void _lay(const auc_holder_t *holder, const entry_t *entry,
		 const auc_need_t *need, uint32_t rows, bool back)
{
	uint64_t sign = back ? -1 : 1;

	for (int i = 0; i < slurmctld_tres_cnt; i++) {
		uint64_t tres = rows * _adds(holder, need->tres, i);
		uint64_t secs = rows * need->run_secs[i];

		if (entry) {
			tres += entry->used.tres[i];
			secs += entry->used.run_secs[i];
		}
		if ((i == TRES_ARRAY_NODE) && !holder->narrowed)
			tres += holder->spared;
		holder->tres[i] += sign * tres;
		if (holder->run_secs)
			holder->run_secs[i] += sign * secs;
	}
	*holder->jobs += (uint32_t) sign * (rows + (entry ? entry->jobs : 0));
}

static bool _fits(job_record_t *job_ptr, const auc_holder_t *holder,
		  const entry_t *entry, const auc_need_t *need, uint32_t rows)
{
	bool may;

	_lay(holder, entry, need, rows - 1, false);
	may = auc_limits_ask(job_ptr, need);
	_lay(holder, entry, need, rows - 1, true);
	return may;
}

/* How many rows of the job, up to most, fit under what a holder limits. */
static uint32_t _room(job_record_t *job_ptr, const auc_holder_t *holder,
		      const entry_t *entry, const auc_need_t *need,
		      uint32_t most)
{
	/* That one fits without earlier rows is known. */
	uint32_t least = entry ? 0 : 1;

	if ((least >= most) || _fits(job_ptr, holder, entry, need, most))
		return most;
	for (most--; least < most; ) {
		uint32_t rows = (least + most + 1) / 2;

		if (_fits(job_ptr, holder, entry, need, rows))
			least = rows;
		else
			most = rows - 1;
	}
	return least;
}

/*
 * A range of GPUs is admitted by its low end; more than the limits have room for in each of its
 * rows, besides what the rows before would use, is not offered.
 */
static void _cap_gpus(auc_ledger_t *ledger, job_record_t *job_ptr,
		      auc_request_t *request, const auc_holder_t *holders,
		      int len, uint32_t rows)
{
	for (; request->job.max_gpus > request->job.min_gpus;
	     request->job.max_gpus--) {
		auc_need_t need;
		bool may = true;

		auc_need_with_gpus(job_ptr, request, request->job.max_gpus,
				   &need);
		for (int i = 0; may && (i < len); i++)
			may = _fits(job_ptr, &holders[i],
				    _find(ledger, holders[i].kind,
					  holders[i].id, holders[i].sub),
				    &need, rows);
		auc_need_free(&need);
		if (may)
			break;
	}
}

/* Under limits of all holders. OUT refused - the entry that leaves no room, if one does */
static uint32_t _under_limits(auc_ledger_t *ledger, const auc_snapshot_t *s,
			      job_record_t *job_ptr, auc_request_t *request,
			      const auc_need_t *need, auc_holder_t *holders,
			      int len, bitstr_t *nodes, uint32_t most,
			      const entry_t **refused)
{
	auc_spare_nodes(s, request, need, holders, len);
	auc_narrow_nodes(job_ptr, need, holders, len, nodes);
	for (int i = 0; most && (i < len); i++) {
		const entry_t *entry = _find(ledger, holders[i].kind,
					     holders[i].id, holders[i].sub);
		uint32_t rows = _room(job_ptr, &holders[i], entry, need, most);

		if (rows < most)
			*refused = entry;
		most = rows;
	}
	if (most)
		_cap_gpus(ledger, job_ptr, request, holders, len, most);
	auc_unspare_nodes(holders, len);
	return most;
}

static void _charge(entry_t *entry, const auc_holder_t *holder,
		    const auc_need_t *need, uint32_t rows)
{
	if (!entry->used.tres) {
		entry->used.tres = xcalloc(2 * slurmctld_tres_cnt,
					   sizeof(uint64_t));
		entry->used.run_secs = entry->used.tres + slurmctld_tres_cnt;
	}
	for (int i = 0; i < slurmctld_tres_cnt; i++) {
		entry->used.tres[i] += rows * _adds(holder, need->tres, i);
		entry->used.run_secs[i] += rows * need->run_secs[i];
	}
	entry->jobs += rows;
}

/* ---- licences ---- */

/* OUT at - which of the licences it is. RET NULL if there is none such */
static bf_license_t *_licence(auc_ledger_t *ledger, const licenses_t *want,
			      uint32_t *at)
{
	bf_license_t *licence;
	list_itr_t *iter;

	if (!ledger->licences &&
	    !(ledger->licences = bf_licenses_initial(false)))
		return NULL;
	*at = 0;
	iter = list_iterator_create(ledger->licences);
	while ((licence = list_next(iter)) && !auc_is_licence(licence, want))
		(*at)++;
	list_iterator_destroy(iter);
	return licence;
}

static uint32_t _under_licences(auc_ledger_t *ledger, job_record_t *job_ptr,
				uint32_t most, const entry_t **refused)
{
	licenses_t *want;
	list_itr_t *iter;

	if (!job_ptr->license_list)
		return most;
	iter = list_iterator_create(job_ptr->license_list);
	while (most && (want = list_next(iter))) {
		uint32_t at;
		bf_license_t *licence = _licence(ledger, want, &at);

		if (!licence || !want->total || auc_is_odd_licence(want) ||
		    (licence->remaining / want->total >= most))
			continue;
		most = licence->remaining / want->total;
		*refused = _find(ledger, AUC_LICENCE, at, 0);
	}
	list_iterator_destroy(iter);
	return most;
}

static void _charge_licences(auc_ledger_t *ledger, job_record_t *job_ptr,
			     const auc_request_t *request, bitstr_t *nodes,
			     uint32_t rows)
{
	licenses_t *want;
	list_itr_t *iter;

	if (!job_ptr->license_list)
		return;
	iter = list_iterator_create(job_ptr->license_list);
	while ((want = list_next(iter))) {
		uint32_t at;
		bf_license_t *licence = _licence(ledger, want, &at);

		if (!licence || auc_is_odd_licence(want))
			continue;
		licence->remaining -= rows * want->total;
		(void) _entry_of(ledger, AUC_LICENCE, at, 0, job_ptr, request,
				 nodes);
	}
	list_iterator_destroy(iter);
}

/* ---- rows ---- */

/* Whether a job that may use these nodes can't start where the first row of the entry can't. */
static bool _asks_as_much(const auc_request_t *request, bitstr_t *nodes,
			  const entry_t *entry)
{
	const struct aucsched_job *job = &request->job, *head = &entry->head;

	return (job->cores >= head->cores) &&
		(job->min_nodes >= head->min_nodes) &&
		(!head->max_nodes ||
		 (job->max_nodes && (job->max_nodes <= head->max_nodes))) &&
		(job->cores_per_node >= head->cores_per_node) &&
		(job->min_gpus >= head->min_gpus) &&
		(job->time_limit >= head->time_limit) &&
		!(head->flags & ~job->flags) &&
		bit_super_set(nodes, entry->nodes);
}

/*
 * Of those that earlier rows leave no room, Slurm may try the ones that could start where the
 * first of these rows has found no place, and may not for long.
 */
static bool _is_slurms(const auc_request_t *request, bitstr_t *nodes,
		       const entry_t *refused)
{
	auc_memo_t *memo = refused ? auc_memo_find(refused->head_id) : NULL;

	return memo && memo->stuck && !_asks_as_much(request, nodes, refused);
}

extern uint32_t auc_ledger_admit(auc_ledger_t *ledger,
				 const auc_snapshot_t *s,
				 job_record_t *job_ptr,
				 auc_request_t *request, bitstr_t *nodes,
				 uint32_t copies, bool *left)
{
	auc_holder_t holders[AUC_HOLDERS_MAX];
	auc_need_t need = { 0 };
	const entry_t *refused = NULL;
	uint32_t rows = copies;
	int len = 0;

	if (auc_limits_enforced()) {
		auc_limits_lock();
		if ((len = auc_holders(job_ptr, holders))) {
			auc_need_count(job_ptr, request, &need);
			rows = _under_limits(ledger, s, job_ptr, request,
					     &need, holders, len, nodes, rows,
					     &refused);
		}
		auc_limits_unlock();
	}
	rows = _under_licences(ledger, job_ptr, rows, &refused);
	for (int i = 0; rows && (i < len); i++)
		_charge(_entry_of(ledger, holders[i].kind, holders[i].id,
				  holders[i].sub, job_ptr, request, nodes),
			&holders[i], &need, rows);
	if (rows)
		_charge_licences(ledger, job_ptr, request, nodes, rows);
	*left = !rows && _is_slurms(request, nodes, refused);
	auc_need_free(&need);
	return rows;
}
