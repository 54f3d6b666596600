/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For whom the auction is. */
#include "../common.h"
#include "../library.h"
#include "units.h"

/* slurmctld's. */
extern part_record_t *find_part_record(char *name)
{
	return NULL;
}

static void _test_share(void)
{
	int in = 0, all = 0, none = 0, neighbours = 0;

	for (uint32_t uid = 0; uid < 100000; uid++) {
		in += auc_user_in_share(uid, 20);
		all += auc_user_in_share(uid, 100);
		none += auc_user_in_share(uid, 0);
		neighbours += auc_user_in_share(uid, 20) &&
			auc_user_in_share(uid + 1, 20);
		CHECK(!auc_user_in_share(uid, 20) || auc_user_in_share(uid, 30),
		      "%u: a larger share has those of a smaller one", uid);
	}
	CHECK((in > 19500) && (in < 20500), "%d", in);
	CHECK((neighbours > 3600) && (neighbours < 4400), "%d", neighbours);
	CHECK((all == 100000) && !none, "%d %d", all, none);
	/* They are the same ones in every version. */
	CHECK(auc_user_in_share(1000, 77) &&
	      !auc_user_in_share(1000, 76), "of user 1000");
	CHECK(auc_is_listed("a,bc", "bc") && auc_is_listed("a,bc", "a") &&
	      !auc_is_listed("a,bc", "b") && !auc_is_listed("bc", "c") &&
	      !auc_is_listed(NULL, "a"), "names");
}

extern void test_shadows(void)
{
	_test_share();
}
