/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Places of decisions as exact cores and GPUs: see pin.h.
 *
 * Job and node read locks.
 */
#include <string.h>

#include "cores.h"
#include "gpu_shares.h"
#include "model.h"
#include "nodes.h"
#include "pin.h"
#include "shared_gpus.h"

/*
 * Takes count cores of those idle: all on one socket if one has enough (the fullest that
 * does), else from the first on.
 */
static bitstr_t *_pick_cores(const node_record_t *node_ptr, bitstr_t *idle,
			     int count)
{
	int cores = bit_size(idle), per_socket = node_ptr->cores, from = 0;
	int best = cores + 1;
	bitstr_t *picked = bit_alloc(cores);

	for (int first = 0; per_socket && (first + per_socket <= cores);
	     first += per_socket) {
		int free = bit_set_count_range(idle, first, first + per_socket);

		if ((free >= count) && (free < best)) {
			best = free;
			from = first;
		}
	}
	for (int i = 0; i < cores && count; i++) {
		int core = (from + i) % cores;

		if (bit_test(idle, core)) {
			bit_set(picked, core);
			count--;
		}
	}
	return picked;
}

/* Whether GPU index gpu is close to the cores; true too if nobody said which are. */
static bool _is_near(const gres_node_state_t *gpus, int gpu, bitstr_t *cores)
{
	for (int t = 0; t < gpus->topo_cnt; t++) {
		bitstr_t *near = gpus->topo_core_bitmap ?
			gpus->topo_core_bitmap[t] : NULL;

		if (!gpus->topo_gres_bitmap || !gpus->topo_gres_bitmap[t] ||
		    (gpu >= bit_size(gpus->topo_gres_bitmap[t])) ||
		    !bit_test(gpus->topo_gres_bitmap[t], gpu))
			continue;
		return !near || (bit_size(near) != bit_size(cores)) ||
			bit_overlap_any(near, cores);
	}
	return true;
}

/*
 * Takes count GPUs of which nobody has anything, near ones first.
 * RET NULL if the node does not tell its GPUs apart: any will do
 */
static bitstr_t *_pick_gpus(const node_record_t *node_ptr,
			    const gres_node_state_t *gpus, bitstr_t *cores,
			    int count)
{
	bitstr_t *picked;
	int size;

	if (!gpus || !gpus->gres_bit_alloc)
		return NULL;
	size = bit_size(gpus->gres_bit_alloc);
	picked = bit_alloc(size);
	for (int far = 0; far <= 1; far++)
		for (int gpu = 0; gpu < size && count; gpu++) {
			if (bit_test(gpus->gres_bit_alloc, gpu) ||
			    auc_is_shared_gpu(node_ptr, gpu) ||
			    bit_test(picked, gpu) ||
			    (!far && !_is_near(gpus, gpu, cores)))
				continue;
			bit_set(picked, gpu);
			count--;
		}
	if (count)
		FREE_NULL_BITMAP(picked);
	return picked;
}

extern void auc_pin_free(auc_pin_t *pin)
{
	FREE_NULL_BITMAP(pin->nodes);
	auc_cores_free(pin->cores);
	auc_cores_free(pin->gpus);
	memset(pin, 0, sizeof(*pin));
}

static bool _pin_node(auc_pin_t *pin, int n,
		      const struct aucsched_segment *segment, bitstr_t **idle,
		      bool binds_gpus)
{
	node_record_t *node_ptr = node_record_table_ptr[n];
	gres_node_state_t *gpus;

	if (!node_ptr || !idle[n] || !auc_takes_jobs(n) ||
	    (bit_set_count(idle[n]) < segment->cores))
		return false;
	bit_set(pin->nodes, n);
	pin->cores[n] = _pick_cores(node_ptr, idle[n], segment->cores);
	if (!segment->gpus)
		return true;
	gpus = auc_node_gpus(node_ptr);
	if (!gpus || (gpus->gres_cnt_alloc + segment->gpus +
		      auc_shared_gpus(node_ptr) > gpus->gres_cnt_avail))
		return false;
	/* Which of them are of the job's type, or go with its cores, Slurm knows. */
	if (binds_gpus || (auc_gpu_type(gpus) == AUC_GPU_TYPES))
		return true;
	pin->gpus[n] = _pick_gpus(node_ptr, gpus, pin->cores[n],
				  segment->gpus);
	return true;
}

static void _begin(auc_pin_t *pin)
{
	pin->nodes = bit_alloc(node_record_count);
	pin->cores = xcalloc(node_record_count, sizeof(bitstr_t *));
	pin->gpus = xcalloc(node_record_count, sizeof(bitstr_t *));
}

extern bool auc_pin_make(auc_pin_t *pin, const struct aucsched_segment *segment,
			 uint32_t len, bitstr_t **idle, bool binds_gpus)
{
	_begin(pin);
	for (uint32_t i = 0; i < len; i++, segment++)
		for (uint32_t n = segment->first; n <= segment->last; n++)
			if (!_pin_node(pin, n, segment, idle, binds_gpus))
				return false;
	return true;
}

typedef struct {
	const gres_node_state_t *gpus;
	bitstr_t *cores;
} auc_near_t;

static bool _near_cores(int gpu, void *arg)
{
	const auc_near_t *near = arg;

	return !near->gpus || _is_near(near->gpus, gpu, near->cores);
}

extern bool auc_pin_share(auc_pin_t *pin, const auc_snapshot_t *s,
			  const struct aucsched_segment *segment,
			  uint32_t share)
{
	int n = segment->first;
	auc_near_t near = { auc_node_gpus(node_record_table_ptr[n]),
			    pin->cores[n] };

	pin->share_gres = auc_share_gres();
	pin->share_node = n;
	pin->device = auc_share_device(s, n, segment->bin, share, _near_cores,
				       &near);
	return pin->device >= 0;
}

/* Idle cores first, then those of jobs that are to end. */
static bool _pin_later(auc_pin_t *pin, int n, int cores, bitstr_t **idle,
		       bitstr_t **later)
{
	bitstr_t *rest;
	int now;

	if (!node_record_table_ptr[n] || !idle[n] || !later[n])
		return false;
	now = MIN(bit_set_count(idle[n]), cores);
	if (bit_set_count(later[n]) < cores - now)
		return false;
	rest = _pick_cores(node_record_table_ptr[n], later[n], cores - now);
	bit_set(pin->nodes, n);
	pin->cores[n] = _pick_cores(node_record_table_ptr[n], idle[n], now);
	bit_or(pin->cores[n], rest);
	FREE_NULL_BITMAP(rest);
	return true;
}

extern bool auc_pin_make_room(auc_pin_t *pin,
			      const struct aucsched_segment *segment,
			      uint32_t len, bitstr_t **idle, bitstr_t **later)
{
	_begin(pin);
	for (uint32_t i = 0; i < len; i++, segment++)
		for (uint32_t n = segment->first; n <= segment->last; n++)
			if (!_pin_later(pin, n, segment->cores, idle, later))
				return false;
	return true;
}

extern bool auc_pin_widen(auc_pin_t *pin, bitstr_t **idle)
{
	bool more = false;

	for (int n = 0; n < node_record_count; n++) {
		if (!pin->cores[n])
			continue;
		more |= !bit_equal(pin->cores[n], idle[n]) || pin->gpus[n];
		FREE_NULL_BITMAP(pin->cores[n]);
		pin->cores[n] = bit_copy(idle[n]);
		FREE_NULL_BITMAP(pin->gpus[n]);
	}
	return more;
}
