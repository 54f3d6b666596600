/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "tier.h"

extern uint8_t auc_tier(int at, int weights, bool asleep, bool gpus, int tiers)
{
	int groups = tiers / AUC_TIER_KINDS;

	if (weights > groups)
		at = (int64_t) at * groups / weights;
	return at * AUC_TIER_KINDS + 2 * asleep + gpus;
}

extern uint8_t auc_loaded_tier(uint8_t tier, uint8_t highest, uint32_t cores,
			       uint32_t free_cores)
{
	uint32_t load = ((AUC_LOADS - 1) * (cores - free_cores) + cores - 1) /
		cores;

	return load * AUC_LOAD_TIERS +
		auc_tier(tier / AUC_TIER_KINDS, highest / AUC_TIER_KINDS + 1,
			 tier & 2, tier & 1, AUC_LOAD_TIERS);
}
