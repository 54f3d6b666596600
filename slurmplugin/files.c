/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the library is told of input files that jobs read, and nodes hold: see model.h. */
#include <string.h>

#include "aucsched.h"
#include "common.h"
#include "model.h"
#include "request.h"

extern void auc_add_stores(auc_snapshot_t *s, const auc_settings_t *settings)
{
	if (!settings->locality)
		return;
	AUC_GROW(s->stores, s->stores_cap, s->in.nodes_len);
	s->in.stores_len = s->in.nodes_len;
	for (int n = 0; n < s->in.nodes_len; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		struct aucsched_store *store = &s->stores[n];
		uint64_t mb;

		memset(store, 0, sizeof(*store));
		if (!node_ptr)
			continue;
		mb = node_ptr->real_memory;
		store->id = auc_id_of(node_ptr->name, strlen(node_ptr->name));
		store->bytes = MIN(mb, AUCSCHED_MAX_FILE >> 20) << 20;
	}
}

static bool _add(const auc_snapshot_t *s, struct aucsched_read **reads,
		 size_t *cap, uint32_t *len, uint32_t number,
		 const job_record_t *job_ptr)
{
	auc_input_t input;

	if (!s->in.stores_len ||
	    (auc_input_parse(job_ptr->comment, &input, NULL) != AUC_INPUT_OK))
		return false;
	AUC_GROW(*reads, *cap, *len + 1);
	(*reads)[(*len)++] = (struct aucsched_read) {
		.job = number, .file = input.file, .bytes = input.bytes };
	return true;
}

extern bool auc_add_job_read(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	return _add(s, &s->job_reads, &s->job_reads_cap, &s->in.job_reads_len,
		    s->in.jobs_len, job_ptr);
}

extern void auc_add_running_read(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	(void) _add(s, &s->running_reads, &s->running_reads_cap,
		    &s->in.running_reads_len, s->in.running_len, job_ptr);
}
