/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The cores of nodes: who holds them, and which are idle. An array of bitmaps has one for each
 * node, by its index, or NULL; it is the caller's, and freed with auc_cores_free().
 *
 * Job and node read locks.
 */
#ifndef AUC_CORES_H
#define AUC_CORES_H

#include "compat.h"

/* A completing job has given all back; its nodes are busy until they are clean. */
extern bool auc_holds_nodes(const job_record_t *job_ptr);

/*
 * A job that was suspended by hand (which takes its priority) keeps its memory and GPUs,
 * but select/cons_tres gives its cores to others. Those that gang scheduling suspends
 * keep them.
 */
extern bool auc_gave_cores(const job_record_t *job_ptr);

/* The idle cores of the nodes in want; NULL elsewhere. */
extern bitstr_t **auc_idle_cores(const bitstr_t *want);

/* Takes the cores that a job holds off them. */
extern void auc_cores_take(const job_resources_t *held, bitstr_t **idle);

/* Adds them, on nodes of which there is a bitmap. */
extern void auc_cores_add(const job_resources_t *held, bitstr_t **nodes);
extern void auc_cores_free(bitstr_t **cores);

#endif
