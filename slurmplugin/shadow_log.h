/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the auction would have started, and what Slurm did, as lines of JSON in a file; docs/slurm.md
 * tells of them. The agent's thread alone; nothing here takes a lock or needs one, and nothing
 * here but auc_shadow_flush() touches the file.
 */
#ifndef AUC_SHADOW_LOG_H
#define AUC_SHADOW_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* One run of a job: whatever is requeued is another one. */
typedef struct {
	uint32_t job;		/* of a task: its array's */
	uint32_t task;		/* NO_VAL: it is no task of an array */
	uint32_t restarts;
} auc_shadow_key_t;

/* A place: nodes NULL if there is none. */
typedef struct {
	time_t time;		/* from when */
	char *nodes;		/* owned */
	uint32_t cpus, gpus;
} auc_shadow_place_t;

typedef struct auc_shadow_entry {
	auc_shadow_key_t key;
	uint32_t user, cpus, nodes; /* as asked for */
	char *partition;	/* owned */
	time_t submit, eligible;
	auc_shadow_place_t would, slurm;
	char bid_class;
	uint32_t victims;	/* jobs that had to end first */
	const char *before;	/* what the last cycle before Slurm's start said of it; static text */
	const char *left;	/* the word why it was left to Slurm; static text, or NULL */
	time_t end;		/* 0: it has not ended */
	const char *state;	/* how it did; static text */
	bool dirty;		/* something of it is not in the file */
	uint32_t mark;		/* of the caller */
	struct auc_shadow_entry *next;
} auc_shadow_entry_t;

/* The machine at a moment. Stranded: GPUs that are free on nodes without a free core. */
typedef struct {
	time_t time;
	uint32_t queue, running;
	uint64_t cores, cores_used, gpus, gpus_used, gpus_stranded;
	/* With what the auction would have started just then. */
	uint64_t would_cores, would_gpus, would_stranded;
} auc_shadow_sample_t;

/* NULL: there is none, or with make, too many are known. */
extern auc_shadow_entry_t *auc_shadow_entry(const auc_shadow_key_t *key,
					    bool make);

/* Calls with each entry; those for which it returns false are forgotten once they are written. */
extern void auc_shadow_each(bool (*keep)(auc_shadow_entry_t *entry, void *arg),
			    void *arg);

/* At most once a minute; others are dropped. */
extern void auc_shadow_sample(const auc_shadow_sample_t *sample);

typedef struct {
	const char *path;
	int64_t limit;		/* bytes, of the file and the one before it together */
	int mode;		/* permissions */
	const char *version, *slurm, *settings;
	int interval;		/* s */
} auc_shadow_file_t;

/*
 * Appends what is new. The file is moved to PATH.old when it has half of the limit; what is not
 * over yet is written again. A fault is logged once, and what could not be written is tried again.
 */
extern void auc_shadow_flush(const auc_shadow_file_t *file, time_t now);

/* When the file was last written before this process opened it; 0: there was none. */
extern time_t auc_shadow_before(const char *path);

/* The line of an entry, with its end. The caller frees it. */
extern char *auc_shadow_line(const auc_shadow_entry_t *entry);

extern void auc_shadow_log_free(void);

#endif
