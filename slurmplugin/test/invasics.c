/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Invasive jobs: what a comment says. */
#include <string.h>

#include "../request.h"
#include "units.h"

static const struct {
	const char *comment;
	uint32_t cores;		/* that the request says */
	bool made;
	const char *note;	/* what becomes of the comment; NULL: it is wrong */
	const char *words;	/* of the error */
} invasics[] = {
	{ NULL, 0, false, "invasic=1-1,rigid,points=0", NULL },
	{ "for the review", 4, false,
	  "for the review;invasic=4-4,rigid,points=0", NULL },
	{ "invasic=2-8", 0, false, "invasic=2-8,moldable,points=0", NULL },
	{ "invasic=malleable,1-64;x", 2, false,
	  "x;invasic=1-64,malleable,points=0", NULL },
	{ "a;invasic=urgent;b", 3, false,
	  "a;b;invasic=3-3,rigid,urgent,points=0", NULL },
	{ "invasic=evolving,urgent", 3, false,
	  "invasic=3-3,evolving,urgent,points=0", NULL },
	{ "invasic=65000", 0, false, "invasic=65000-65000,rigid,points=0", NULL },
	{ "my invasic=nonsense", 1, false,
	  "my invasic=nonsense;invasic=1-1,rigid,points=0", NULL },
	{ "invasic=2-8,malleable,urgent,held,points=7", 0, true,
	  "invasic=2-8,malleable,urgent,held,points=7", NULL },
	{ "invasic=1-1,rigid,points=0", 0, true,
	  "invasic=1-1,rigid,points=0", NULL },
	{ "invasic=2-8,malleable,points=7", 0, false, NULL,
	  "invasic=2-8,malleable,points=7: must be CORES or MIN-MAX" },
	{ "invasic=held", 0, false, NULL, "must be CORES" },
	{ "invasic=", 0, false, NULL, "--comment: invasic=: must be CORES" },
	{ "invasic=;x", 0, false, NULL, "invasic=: must be" },
	{ "invasic=2-8,", 0, false, NULL, "must be CORES" },
	{ "invasic=8-2", 0, false, NULL, "its cores must be a number from 1, or MIN-MAX" },
	{ "invasic=0", 0, false, NULL, "its cores must" },
	{ "invasic=1-65001", 0, false, NULL, "its cores must" },
	{ "invasic=1-99999999999999999999", 0, false, NULL, "its cores must" },
	{ "invasic=1,2", 0, false, NULL, "two numbers of cores" },
	{ "invasic=1-2,malleable,rigid", 0, false, NULL, "two kinds" },
	{ "invasic=1-2,rigid", 0, false, NULL, "a rigid job has one number" },
	{ "invasic=2-8", 9, false, NULL, "--ntasks times --cpus-per-task" },
	{ "invasic=2-8", 1, false, NULL, "--ntasks times --cpus-per-task" },
	{ "invasic=1;invasic=2", 0, false, NULL, "is there twice" },
	{ "invasic=1-2,points=x", 0, true, NULL, "points must be a number" },
};

static void _test_invasics(void)
{
	static const char params[] =
		"auc_invasic=a,auc_invasic_socket=/x, auc_invasic=bc,auc_invasi=d,auc_invasic_urgent=";
	word_t value = { NULL, 0 };
	bool alone;

	for (int i = 0; i < ARRAY_SIZE(invasics); i++) {
		char *comment = xstrdup(invasics[i].comment), *error = NULL;
		auc_invasic_t want;
		bool ok = auc_invasic_parse(comment, invasics[i].cores,
					    invasics[i].made, &want, &error);

		CHECK((ok == !!invasics[i].note) && (ok == !error), "%s: %s",
		      invasics[i].comment, error);
		CHECK(ok || strstr(error, invasics[i].words), "%s", error);
		if (ok) {
			auc_invasic_note(&comment, &want);
			CHECK(!xstrcmp(comment, invasics[i].note), "%s",
			      comment);
		}
		xfree(comment);
		xfree(error);
	}
	CHECK(auc_param(params, "auc_invasic=", &value) && auc_is(value, "bc"),
	      "%.*s", (int) value.len, value.at);
	CHECK(!auc_param(params, "auc_invasic_urgent=", &value), "empty");
	CHECK(!auc_param(NULL, "auc_invasic=", &value), "none");
	value = (word_t) { "bc", 2 };
	CHECK(auc_names_partition("bc", value, &alone) && alone, "alone");
	CHECK(auc_names_partition("a,bc", value, &alone) && !alone, "not alone");
	CHECK(!auc_names_partition("b,bcd,abc", value, &alone) && !alone, "others");
	CHECK(!auc_names_partition(NULL, value, &alone), "none");
}

extern void test_invasics(void)
{
	_test_invasics();
}
