/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The number of a tier of nodes: those with lower ones are used first. Arithmetic alone: no record,
 * no lock.
 */
#ifndef AUC_TIER_H
#define AUC_TIER_H

#include <stdbool.h>
#include <stdint.h>

/* Nodes of one weight that are told apart: awake and asleep, each without and with GPUs. */
#define AUC_TIER_KINDS 4

/* How many tiers there can be: struct aucsched_node has a byte. */
#define AUC_TIERS 256

/* Loads of nodes that are told apart, where the least loaded come first, and the tiers of each. */
#define AUC_LOADS 8
#define AUC_LOAD_TIERS (AUC_TIERS / AUC_LOADS)

/*
 * The tier of nodes whose weight is number `at` of `weights` in ascending order, from 0; less than
 * `tiers`, a multiple of AUC_TIER_KINDS. Nodes that are asleep come after others of their weight,
 * and of both those with GPUs after those without. Where there are more weights than tiers have
 * room for, neighbours count as one: what is asleep, or has GPUs, is told from what is not all the
 * same.
 */
extern uint8_t auc_tier(int at, int weights, bool asleep, bool gpus, int tiers);

/*
 * The tier of a node of so many cores in all and so many free, where the least loaded come first,
 * whatever their weight. tier is by auc_tier() with AUC_TIERS, and highest the highest of these.
 * The node has a core.
 */
extern uint8_t auc_loaded_tier(uint8_t tier, uint8_t highest, uint32_t cores,
			       uint32_t free_cores);

#endif
