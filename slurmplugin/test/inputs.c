/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The settings of locality, and the number that files and nodes are known by. */
#include "../common.h"
#include "../request.h"
#include "units.h"

static const struct {
	const char *params;
	bool on;
} localities[] = {
	{ NULL, false }, { "", false }, { "bf_interval=5", false },
	{ "auc_locality=yes", true }, { "auc_locality=yes,auc_interval=3", true },
	{ "bf_interval=5, auc_locality=yes", true },
	{ "auc_locality=no", false }, { "auc_locality=yes,auc_locality=no", false },
	{ "auc_locality=no,auc_locality=yes", true },
	{ "xauc_locality=yes", false }, { "auc_locality=yess", false },
	{ "auc_status=/auc_locality=yes", false }, { "auc_locality=yes,auc_locality=maybe", true },
};

/* Whoever looks says the same. */
static void _test_locality(void)
{
	for (int i = 0; i < ARRAY_SIZE(localities); i++) {
		const char *params = localities[i].params;
		auc_settings_t s = units_settings(params);

		CHECK(s.locality == localities[i].on, "%s", params);
		CHECK(auc_yes(params, "auc_locality=", false) == localities[i].on, "%s", params);
	}
}

extern void test_inputs(void)
{
	/* As it is in saved files. */
	CHECK(auc_id_of("", 0) == 0xcbf29ce484222325, "%llx", (unsigned long long) auc_id_of("", 0));
	CHECK(auc_id_of("foobar", 6) == 0x85944171f73967e8, "%llx", (unsigned long long) auc_id_of("foobar", 6));
	_test_locality();
}
