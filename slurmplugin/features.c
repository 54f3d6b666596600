/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A choice of features, as users write it: see features.h. Plain string work. */
#include <string.h>

#include "compat.h"
#include "features.h"

extern uint8_t auc_one_of_features(const char *features)
{
	size_t len = features ? strlen(features) : 0;
	int names = 1;

	if ((len < 5) || (features[0] != '[') || (features[len - 1] != ']'))
		return 0;
	for (size_t i = 1; i < len - 1; i++) {
		if (strchr("[]()*!&,", features[i]))
			return 0;
		if (features[i] == '|') {
			if ((features[i - 1] == '|') || (i == 1) || (i == len - 2))
				return 0;
			names++;
		}
	}
	return ((names > 1) && (names <= UINT8_MAX)) ? names : 0;
}

extern char *auc_feature_of(const char *features, int i)
{
	const char *from = features + 1;

	while (i--)
		from = strchr(from, '|') + 1;
	return xstrndup(from, strcspn(from, "|]"));
}
