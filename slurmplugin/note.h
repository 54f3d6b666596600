/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Notes on a job: parts KEY=VALUE of a comment, with ';' between them and what others have
 * written there. They are in the job's record, and so outlast a restart of slurmctld.
 * Plain string work.
 */
#ifndef AUC_NOTE_H
#define AUC_NOTE_H

#include <stddef.h>

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
