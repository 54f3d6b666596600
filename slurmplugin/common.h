/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What all the plug-ins use: the clock, arrays, settings that are yes or no, PluginDir, notes. */
#ifndef AUC_COMMON_H
#define AUC_COMMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "select_hooks.h"

/* The monotonic clock, in microseconds and in seconds. Any thread, no lock. */
extern int64_t auc_now_us(void);
extern int64_t auc_now_s(void);

/* A condition that is waited for by that clock; until_us is auc_now_us()'s. */
extern void auc_cond_init(pthread_cond_t *cond);
extern void auc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			  int64_t until_us);

/* Grows an array of elements of size to hold len; what it holds stays. */
static inline void *auc_grow(void *array, size_t *cap, size_t len, size_t size)
{
	if (len <= *cap)
		return array;
	*cap = MAX(2 * *cap, len + 16);
	return xrealloc(array, *cap * size);
}

#define AUC_GROW(array, cap, len) \
	(array) = auc_grow((array), &(cap), (len), sizeof(*(array)))

/* Adds an element to an array NAME that has NAME_len of NAME_cap. */
#define AUC_APPEND(name, ...) \
	(AUC_GROW(name, name##_cap, name##_len + 1), name[name##_len++] = __VA_ARGS__)

/* xfree(), for a table's elements. */
extern void auc_free(void *element);

/* Sets a text, NULL for none, to a copy of another. RET whether it was another one */
extern bool auc_set_text(char **text, const char *to);

/*
 * Logs that a file can't be written, once for each fault, and when that is over.
 * IN/OUT said - the fault that was logged
 * IN fault - NULL: it is written; what - comes of it
 */
extern void auc_say_file(char **said, const char *path, const char *fault,
			 const char *what);

/* Lists, and bitmaps. */

static inline list_itr_t *auc_each_begin(list_t *list)
{
	return list ? list_iterator_create(list) : NULL;
}

static inline void auc_each_end(list_itr_t **iter)
{
	if (*iter)
		list_iterator_destroy(*iter);
}

/* Goes through a list, which may be NULL. However the loop is left, its iterator is destroyed. */
#define AUC_EACH(x, list)						\
	for (list_itr_t *x##_iter __attribute__((cleanup(auc_each_end))) = \
		     auc_each_begin(list);				\
	     x##_iter && ((x) = list_next(x##_iter)); )

/* Goes through the bits that are set, of those that were so at first. */
#define AUC_EACH_BIT(n, bits)						\
	for (int n = bit_ffs((bitstr_t *) (bits)),			\
	     n##_last = bit_fls((bitstr_t *) (bits));			\
	     (n >= 0) && (n <= n##_last); n++)				\
		if (!bit_test((bitstr_t *) (bits), n)) {		\
		} else

/* For list_find_first(): an element by itself. */
static inline int auc_is_same(void *x, void *key)
{
	return x == key;
}

/* The data of the first entry of a gres list, which may be NULL, for a gres; NULL if there is none. */
extern void *auc_gres_data(list_t *gres_list, uint32_t id);

/*
 * Settings of SchedulerParameters, read where they are: for job_submit, which has no settings of
 * its own, and for what is to be known before the library is loaded. Plain string work.
 */

/*
 * The last value among params that is yes or no.
 * IN params - may be NULL
 * IN key - with its '='
 * RET normal if there is none
 */
extern bool auc_yes(const char *params, const char *key, bool normal);

/*
 * The last value with a key among params, if it is an absolute path; see auc_param() of request.h.
 * RET NULL if there is none; caller must xfree()
 */
extern char *auc_path_param(const char *params, const char *key);

/* Whether a name is in a list with commas. IN list - may be NULL */
extern bool auc_is_listed(const char *list, const char *name);

/* Finding shared objects along PluginDir, and the select shim. */

typedef enum {
	AUC_OURS,	/* the object has our marker */
	AUC_STOCK,	/* it has not */
} auc_origin_t;

/*
 * Opens the first FILE of that origin along slurm.conf's PluginDir, with dlopen()'s flags
 * (RTLD_NOLOAD finds loaded ones only). Conf read lock.
 * IN file - name without directory, such as "select_cons_tres.so"
 * RET handle or NULL
 */
extern void *auc_plugin_open(const char *file, int flags, auc_origin_t origin);

/* Directory of the object that holds address; caller must xfree(). NULL on failure. */
extern char *auc_object_dir(const void *address);

/* Keeps the object that holds address loaded for good. */
extern void auc_object_keep(const void *address);

/* Finds the shim's instance in the process; NULL if it is not loaded. Conf read lock. */
extern auc_select_hooks_t *auc_find_select_hooks(void);

/*
 * Notes on a job: parts KEY=VALUE of a comment, with ';' between them and what others have
 * written there. They are in the job's record, and so outlast a restart of slurmctld.
 * Plain string work.
 */

/*
 * The value of the first note with the key.
 * IN comment - may be NULL
 * IN key - with its '='
 * OUT len - of the value, which ends at the next ';' or with the comment
 * RET NULL if there is none
 */
extern const char *auc_note_find(const char *comment, const char *key,
				 size_t *len);

/* Adds a note to *comment, in place of those with the key. IN value - without ';' */
extern void auc_note_set(char **comment, const char *key, const char *value);

/* Takes all notes with the key out of *comment, which becomes NULL when nothing else is left. */
extern void auc_note_drop(char **comment, const char *key);

#endif
