/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A choice of features, as users write it. */
#include <stdlib.h>
#include <string.h>

#include "../request.h"
#include "units.h"

static const struct {
	const char *text;
	uint8_t names;		/* 0: it is no choice of one */
} choices[] = {
	{ "[a|b]", 2 }, { "[rack1|rack2|rack10]", 3 },
	{ NULL, 0 }, { "", 0 }, { "a", 0 }, { "a|b", 0 }, { "[a]", 0 },
	{ "[]", 0 }, { "[|]", 0 }, { "[a|]", 0 }, { "[|b]", 0 },
	{ "[a||b]", 0 }, { "[a|b", 0 }, { "a|b]", 0 }, { "[a|b]&c", 0 },
	{ "c&[a|b]", 0 }, { "[a&b|c]", 0 }, { "[a,b|c]", 0 },
	{ "[a*2|b]", 0 }, { "[(a|b)]", 0 }, { "[[a|b]]", 0 }, { "[a|b][c|d]", 0 },
};

/* As many as queue.c finds between the same signs. */
static void _test_names(const char *text)
{
	char *copy = xstrdup(text), *save = NULL;
	uint8_t names = auc_one_of_features(text);
	int found = 0;

	for (char *name = strtok_r(copy, "[]&|,", &save); name;
	     name = strtok_r(NULL, "[]&|,", &save))
		found++;
	CHECK(!names || (names == found), "%s: %d", text, found);
	xfree(copy);
}

extern void test_features(unsigned seed)
{
	static const char letters[] = "ab|[]&*(),";

	for (int i = 0; i < ARRAY_SIZE(choices); i++) {
		uint8_t names = auc_one_of_features(choices[i].text);

		CHECK(names == choices[i].names, "%s: %d", choices[i].text,
		      names);
	}
	srand(seed);
	for (int i = 0; i < 50000; i++) {
		char text[16] = "[";
		int len = 1 + rand() % 12;

		for (int k = 1; k < len; k++)
			text[k] = letters[rand() % ((rand() % 4) ? 3 : 10)];
		text[len] = (rand() % 8) ? ']' : 'a';
		text[len + 1] = 0;
		_test_names(text);
	}
}
