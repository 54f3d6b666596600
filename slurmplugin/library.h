/* SPDX-License-Identifier: GPL-2.0-or-later */

/* libaucsched.so, in a process of its own: the engine; and the settings, which it reads. */
#ifndef AUC_LIBRARY_H
#define AUC_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "compat.h"
#include "engine.h"
#include "src/common/xhash.h"

typedef struct aucsched_settings auc_settings_t;

/*
 * Starting the engine with libaucsched.so, and calling it. One thread at a time: the agent's,
 * mostly without a lock; job_submit has a library_t, and so an engine, of its own. An engine that
 * has ended, or does not answer in time, is killed, and what it was to do fails; the next call
 * starts another, which goes by the same settings: at once, and if that fails too after 1 s, 2 s,
 * and up to a minute.
 */

/* Arrays of an answer, which are copied. */
typedef enum { AUC_DECISIONS, AUC_SEGMENTS, AUC_VICTIMS, AUC_TAKEN } auc_taken_t;

typedef struct auc_library {
	char *path;		/* of the library; NULL: none was asked for yet */
	char version[64];	/* "": it was never loaded */
	char error[1024];	/* why the last call failed */
	pid_t pid;		/* of the engine; 0: none runs */
	int socket, memory, log;	/* to it, shared with it, its standard error; while memory > 0 */
	auc_call_t *call;	/* the memory */
	const char *lent;	/* where in it a buffer of the caller's was; the engine could change call->buf */
	char *settings;		/* of the scheduler that is open; NULL: none is */
	char *places, *sizes;	/* of places_len nodes: see aucsched_topology(); NULL: it was not told yet */
	uint32_t places_len;
	int64_t scheduler;	/* of aucsched_open(), in the engine that runs; 0: none yet */
	int deadline_ms;	/* of a cycle */
	int64_t resume_us;	/* no engine is started before */
	int64_t pause_us;	/* what resume_us was put off by last */
	struct {
		void *of;
		size_t cap;
	} taken[AUC_TAKEN];
	xhash_t *known;		/* questions to auc_library_read() */
	struct auc_known **unread; /* those that are not answered yet */
	size_t unread_len, unread_cap;
	char *key;		/* of the question that is looked up */
	size_t key_cap;
} auc_library_t;

/*
 * Starts the engine with the library that SchedulerParameters name, unless it runs. To be called
 * after slurmctld has daemonised.
 * RET SLURM_SUCCESS, or SLURM_ERROR with the reason in library->error; so for all that follow
 */
extern int auc_library_load(auc_library_t *library, const char *params);

/* Reads SchedulerParameters; texts are in buf then, as by aucsched_settings(). */
extern int auc_library_settings(auc_library_t *library, const char *params,
				auc_settings_t *settings, char *buf,
				size_t len);

/* aucsched_submission(). OUT out - its texts are in buf; or, on an error, buf has words for the user */
extern int auc_library_submission(auc_library_t *library,
				  const struct aucsched_submission *job,
				  struct aucsched_submission_answer *out,
				  char *buf, size_t len);

/* aucsched_topology(), for each engine that comes. RET what that returns; other answers are forgotten */
extern int auc_library_topology(auc_library_t *library, const char *nodes,
				uint32_t nodes_len, const char *sizes);

/*
 * What a job asks for, as the library reads it. Answers are remembered. A question that is new is noted,
 * and answered by auc_library_answer(), without a lock of slurmctld's: it may take its time.
 * IN call - AUC_CALL_SHAPE, struct aucsched_numbers; AUC_CALL_NOTED, a note, detail is CPUs a task; or
 *	AUC_CALL_INPUT_FILE, a comment. len is the question's, with the NUL of a text
 * OUT answer - struct aucsched_shape, aucsched_noted[AUCSCHED_MAX_ALTERNATIVES], aucsched_read
 * RET as the library's; or AUC_UNREAD
 */
#define AUC_UNREAD INT32_MIN
extern int auc_library_read(auc_library_t *library, auc_call_number_t call,
			    uint32_t detail, const void *question, size_t len,
			    void *answer, size_t size);
extern int auc_library_answer(auc_library_t *library);

/* Opens a scheduler with the settings, or has the one that is open go by others. */
extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings);

/*
 * Decides. What the engine answers is checked: no number in out is beyond what it counts or
 * names in the input.
 * OUT out - its arrays are the library's, until the next call of this
 */
extern int auc_library_decide(auc_library_t *library,
			      const struct aucsched_input *in,
			      struct aucsched_output *out);

/* aucsched_keep_files(), aucsched_shadow(), aucsched_status() */
extern int auc_library_keep_files(auc_library_t *library, const char *path,
				  bool end);
extern int auc_library_shadow(auc_library_t *library,
			      const struct aucsched_shadow *shadow);
extern int auc_library_status(auc_library_t *library,
			      const struct aucsched_status *status, char *buf,
			      size_t len);

/* Ends the engine. */
extern void auc_library_close(auc_library_t *library);

/* What SchedulerParameters=auc_... say; docs/reference/settings.md has the list. The agent's thread alone. */

/*
 * Reads SchedulerParameters, by the library. A wrong value is logged by name and its default used. No lock.
 * IN library - NULL: there is none, and all that is read is whether there is to be one, and auc_status
 * OUT settings - whose texts stay until the next call
 */
extern void auc_settings_read(auc_settings_t *settings,
			      auc_library_t *library, const char *params);

/*
 * From the begin of a cycle to that of the next, at least, so that cycles hold the locks for no more
 * than a tenth of the time; a minute at most. Starts do not count: they are what cycles are
 * for, and come to an end.
 * IN held - how long the cycle has held the locks, us, except for starts
 * RET ms
 */
extern int64_t auc_pace_ms(int64_t held);

/*
 * For whom the auction is, where a site has it for a part of its jobs: auc_partitions and
 * auc_users_share. All others' jobs are Slurm's.
 */

/* Takes the settings over, and logs partitions that there are not. Job write lock, part read lock. */
extern void auc_scope_refresh(const auc_settings_t *settings);

/*
 * Why a job is not the auction's: NULL, "partition" or "user". A job of several partitions is the
 * auction's if all of them are. Job read lock.
 */
extern const char *auc_out_of_scope(const job_record_t *job_ptr,
				    const part_record_t *part_ptr);

/* Whether a user is among the first share of a hundred, always the same ones. */
extern bool auc_user_in_share(uint32_t uid, int share);

extern void auc_scope_free(void);

#endif
