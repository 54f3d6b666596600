/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Settings that are yes or no: see yes_no.h. */
#include "word.h"
#include "yes_no.h"

extern bool auc_yes(const char *params, const char *key, bool normal)
{
	bool yes = normal;

	for (const char *at = params; at && *at;
	     at += strcspn(at, ", "), at += strspn(at, ", ")) {
		word_t value = { at, strcspn(at, ", ") };

		if (!auc_begins(value, key))
			continue;
		value = auc_after(value, strlen(key));
		if (auc_is(value, "yes"))
			yes = true;
		else if (auc_is(value, "no"))
			yes = false;
	}
	return yes;
}
