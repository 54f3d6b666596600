/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What slurmctld and its engine, the process that has libaucsched.so, share. */
#ifndef AUC_ENGINE_H
#define AUC_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aucsched.h"

/*
 * The engine is started with the library's path, the address of the memory in hexadecimal, and
 * AUC_ENGINE_FORM: an upgrade may have replaced its file since slurmctld began. A
 * byte on the socket hands the memory over: slurmctld writes a call into it, the engine its answer.
 * Both have it at the same address, so that what points into it holds in both.
 */
#define AUC_ENGINE_SOCKET 3
#define AUC_ENGINE_MEMORY 4
#define AUC_ENGINE_BYTES (4ULL << 30)	/* reserved; what was not used takes no memory */

typedef enum {
	AUC_CALL_HELLO,		/* the library's version or, with rc other than 0, why there is none */
	AUC_CALL_SETTINGS,
	AUC_CALL_SUBMISSION,
	AUC_CALL_TOPOLOGY,
	AUC_CALL_SHAPE,
	AUC_CALL_NOTED,
	AUC_CALL_INPUT_FILE,
	AUC_CALL_OPEN,
	AUC_CALL_CONFIGURE,
	AUC_CALL_DECIDE,
	AUC_CALL_KEEP_FILES,
	AUC_CALL_SHADOW,
	AUC_CALL_STATUS,
} auc_call_number_t;

/* The begin of the memory. Pointers are NULL or into the rest of it. */
typedef struct {
	size_t used;		/* bytes of the memory, this included */
	bool full;		/* something had no room */
	auc_call_number_t call;
	int64_t handle;		/* of aucsched_open() */
	int64_t rc;		/* what the library returned */
	char error[512];	/* with rc other than 0, and after a cycle: aucsched_last_error() */
	const char *text;	/* settings, places of nodes, a path, or what is to be read */
	int end;		/* of aucsched_keep_files() */
	char *buf;		/* of buf_len bytes */
	size_t buf_len;
	struct aucsched_settings settings;
	struct aucsched_submission submission;
	struct aucsched_submission_answer submission_answer;
	uint32_t len;		/* CPUs a task; nodes */
	const char *sizes;	/* of blocks */
	struct aucsched_input in;
	struct aucsched_output out;
	struct aucsched_shadow shadow;
	struct aucsched_status status;
} auc_call_t;

/* In what form both read the memory. */
#define AUC_ENGINE_FORM ((unsigned long long) AUCSCHED_ABI << 32 | sizeof(auc_call_t))

/* Copies into the memory. RET where; NULL for nothing, or if it is full */
static inline void *auc_engine_put(auc_call_t *call, const void *from,
				   size_t bytes)
{
	size_t at = (call->used + 15) & ~(size_t) 15;

	if (!from || !bytes)
		return NULL;
	if ((at > AUC_ENGINE_BYTES) || (bytes > AUC_ENGINE_BYTES - at)) {
		call->full = true;
		return NULL;
	}
	call->used = at + bytes;
	return memcpy((char *) call + at, from, bytes);
}

#define AUC_ENGINE_PUT(call, from, len) \
	auc_engine_put(call, from, (size_t) (len) * sizeof(*(from)))

#endif
