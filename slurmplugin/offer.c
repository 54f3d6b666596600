/*
 * SLURM bids: what stock Slurm would allocate to a job now, as a bid of that job
 * beside the auction's own (aucsched1, section 4). See scheduler.h.
 *
 * The stock select plug-in is asked to run the job, and what it answers with is taken back at
 * once. Earlier bids' cores are kept from it by a pin, so that bids of a cycle fit together.
 */
#include <string.h>

#include "scheduler.h"

/* Takes the cores of earlier offers off the nodes; the rest is the plug-in's to judge. */
static void _pin_rest(auc_pin_t *pin, const auc_offers_t *offers,
		      job_record_t *job_ptr, bitstr_t *nodes)
{
	pin->job_ptr = job_ptr;
	pin->nodes = nodes;
	pin->cores = xcalloc(node_record_count, sizeof(bitstr_t *));
	pin->gpus = xcalloc(node_record_count, sizeof(bitstr_t *));
	for (int n = 0; offers->taken && (n < node_record_count); n++) {
		if (!offers->taken[n] || !bit_test(nodes, n))
			continue;
		pin->cores[n] = bit_copy(offers->taken[n]);
		bit_not(pin->cores[n]);
	}
}

/* What a test changes in a job's record; gres lists are swapped for copies. */
typedef struct {
	time_t start_time;
	uint32_t total_cpus, total_nodes, cpu_cnt, usable_nodes;
	uint64_t memory;
	list_t *gres, *accumulated;
} kept_t;

static void _keep(kept_t *kept, job_record_t *job_ptr)
{
	kept->start_time = job_ptr->start_time;
	kept->total_cpus = job_ptr->total_cpus;
	kept->total_nodes = job_ptr->total_nodes;
	kept->cpu_cnt = job_ptr->cpu_cnt;
	kept->usable_nodes = job_ptr->details->usable_nodes;
	kept->memory = job_ptr->details->pn_min_memory;
	kept->gres = job_ptr->gres_list_req;
	kept->accumulated = job_ptr->gres_list_req_accum;
	job_ptr->gres_list_req = kept->gres ?
		gres_job_state_list_dup(kept->gres) : NULL;
	job_ptr->gres_list_req_accum = NULL;
}

static void _restore(const kept_t *kept, job_record_t *job_ptr)
{
	free_job_resources(&job_ptr->job_resrcs);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	job_ptr->gres_list_req = kept->gres;
	job_ptr->gres_list_req_accum = kept->accumulated;
	job_ptr->details->pn_min_memory = kept->memory;
	job_ptr->details->usable_nodes = kept->usable_nodes;
	job_ptr->start_time = kept->start_time;
	job_ptr->total_cpus = kept->total_cpus;
	job_ptr->total_nodes = kept->total_nodes;
	job_ptr->cpu_cnt = kept->cpu_cnt;
}

static uint8_t _gpus_on(const gres_job_state_t *gpus, int n)
{
	if (!gpus || (n >= gpus->total_node_cnt))
		return 0;
	if (gpus->gres_cnt_node_select && gpus->gres_cnt_node_select[n])
		return MIN(gpus->gres_cnt_node_select[n], 15);
	if (gpus->gres_bit_select && gpus->gres_bit_select[n])
		return MIN(bit_set_count(gpus->gres_bit_select[n]), 15);
	return 0;
}

static void _take(auc_offers_t *offers, int n, const bitstr_t *cores, int first)
{
	int count = node_record_table_ptr[n]->tot_cores;

	if (!offers->taken)
		offers->taken = xcalloc(node_record_count, sizeof(bitstr_t *));
	if (!offers->taken[n])
		offers->taken[n] = bit_alloc(count);
	for (int c = 0; c < count; c++)
		if (bit_test((bitstr_t *) cores, first + c))
			bit_set(offers->taken[n], c);
}

/* What the plug-in has put into job_resrcs, as the offer of a row. */
static void _add(auc_snapshot_t *s, auc_offers_t *offers,
		 job_record_t *job_ptr, uint32_t row)
{
	const job_resources_t *given = job_ptr->job_resrcs;
	const gres_job_state_t *gpus = auc_gpu_request(job_ptr);
	uint32_t from = s->in.offer_segments_len;
	int first = 0, last = bit_fls(given->node_bitmap);

	for (int n = bit_ffs(given->node_bitmap); n >= 0 && n <= last; n++) {
		int cores, count;

		if (!bit_test(given->node_bitmap, n))
			continue;
		cores = node_record_table_ptr[n]->tot_cores;
		count = bit_set_count_range(given->core_bitmap, first,
					    first + cores);
		if (count) {
			auc_add_segment(&s->offer_segments,
					&s->offer_segments_cap,
					&s->in.offer_segments_len, from, n,
					count, _gpus_on(gpus, n));
			_take(offers, n, given->core_bitmap, first);
		}
		first += cores;
	}
	AUC_GROW(s->offers, s->offers_cap, s->in.offers_len + 1);
	s->offers[s->in.offers_len++] = (struct aucsched_offer) {
		.job = row, .first_segment = from,
		.segments = s->in.offer_segments_len - from };
}

extern void auc_offer(auc_snapshot_t *s, auc_offers_t *offers,
		      auc_select_hooks_t *hooks, job_record_t *job_ptr,
		      part_record_t *part_ptr, const bitstr_t *usable,
		      uint32_t row)
{
	uint32_t low, want, high, qos_flags =
		job_ptr->qos_ptr ? job_ptr->qos_ptr->flags : 0;
	bitstr_t *nodes = bit_copy((bitstr_t *) usable), *all;
	auc_pin_t pin = { 0 };
	kept_t kept;

	for (int n = 0; n < node_record_count; n++)
		if (bit_test(nodes, n) && !auc_takes_jobs(n))
			bit_clear(nodes, n);
	if (job_ptr->job_resrcs ||
	    get_node_cnts(job_ptr, qos_flags, part_ptr, &low, &want, &high) ||
	    (bit_set_count(nodes) < low)) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	all = bit_copy(nodes);
	auc_use_features(job_ptr);
	_keep(&kept, job_ptr);
	_pin_rest(&pin, offers, job_ptr, all);
	hooks->pin = &pin;
	if (!auc_job_test_now(job_ptr, nodes, low, high, want) &&
	    job_ptr->job_resrcs && job_ptr->job_resrcs->core_bitmap)
		_add(s, offers, job_ptr, row);
	hooks->pin = NULL;
	_restore(&kept, job_ptr);
	auc_cores_free(pin.cores);
	auc_cores_free(pin.gpus);
	FREE_NULL_BITMAP(all);
	FREE_NULL_BITMAP(nodes);
}

extern void auc_offers_free(auc_offers_t *offers)
{
	auc_cores_free(offers->taken);
	offers->taken = NULL;
}
