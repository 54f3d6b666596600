/* Arrays that grow: see scheduler.h. */
#include "scheduler.h"

extern void *auc_grow(void *array, size_t *cap, size_t len, size_t size)
{
	if (len <= *cap)
		return array;
	*cap = MAX(2 * *cap, len + 16);
	return xrealloc(array, *cap * size);
}
