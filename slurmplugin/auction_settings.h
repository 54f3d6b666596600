/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Settings of the auction. Made: go test ./internal/settings -rewrite. */
#ifndef AUC_AUCTION_SETTINGS_H
#define AUC_AUCTION_SETTINGS_H

/* name, least, most, values, key of the library, why it goes with the next version */
#define AUC_AUCTION_SETTINGS \
	{ "preset", 0, 0, "default|none|short|throughput|packed|paper", "preset", NULL }, \
	{ "throughput", 0, 0, "no|yes", "throughput", "use auc_preset=packed" }, \
	{ "paper", 0, 0, "no|yes", "paper", "use auc_preset=paper" }, \
	{ "objective", 0, 0, "priority|size|rate", "objective", NULL }, \
	{ "window", 1, 1048576, NULL, "window", NULL }, \
	{ "depth", 0, 1048576, NULL, "depth", NULL }, \
	{ "reservations", 0, 64, NULL, "reservations", NULL }, \
	{ "patience", 0, 3153600000, NULL, "patience_s", NULL }, \
	{ "promise", 0, 3153600000, NULL, "promise_s", NULL }, \
	{ "compact", 0, 0, "no|yes", "compact", NULL }, \
	{ "keep_holes", 0, 0, "no|yes", "keep_holes", "it is always on" }, \
	{ "bids", 1, 4096, NULL, "bids", "presets say it" }, \
	{ "drafts", 0, 4096, NULL, "drafts", "presets say it" }, \
	{ "contiguous_bids", 0, 0, "no|yes", "contiguous_bids", "presets say it" }, \
	{ "work", 0, 1000000000000, NULL, "work", "presets say it" }

/* name, older name, window, depth */
#define AUC_PRESETS \
	{ "default", NULL, 200, 500 }, \
	{ "none", NULL, 200, 500 }, \
	{ "short", NULL, 500, 500 }, \
	{ "throughput", NULL, 500, 500 }, \
	{ "packed", "throughput", 200, 500 }, \
	{ "paper", "paper", 200, 0 }

#endif
