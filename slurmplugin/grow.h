/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arrays that grow. */
#ifndef AUC_GROW_H
#define AUC_GROW_H

#include "compat.h"

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

#endif
