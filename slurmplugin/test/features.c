/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A choice of features, as users write it. */
#include <stdlib.h>
#include <string.h>

#include "../shape.h"
#include "units.h"

static const struct {
	const char *text;
	uint8_t names;		/* 0: it is no choice of one */
	const char *last;
} choices[] = {
	{ "[a|b]", 2, "b" }, { "[rack1|rack2|rack10]", 3, "rack10" },
	{ NULL, 0 }, { "", 0 }, { "a", 0 }, { "a|b", 0 }, { "[a]", 0 },
	{ "[]", 0 }, { "[|]", 0 }, { "[a|]", 0 }, { "[|b]", 0 },
	{ "[a||b]", 0 }, { "[a|b", 0 }, { "a|b]", 0 }, { "[a|b]&c", 0 },
	{ "c&[a|b]", 0 }, { "[a&b|c]", 0 }, { "[a,b|c]", 0 },
	{ "[a*2|b]", 0 }, { "[(a|b)]", 0 }, { "[[a|b]]", 0 }, { "[a|b][c|d]", 0 },
};

/* Whatever a text has, its names put together again are the text. */
static void _test_names(const char *text)
{
	char again[64] = "[";
	uint8_t names = auc_one_of_features(text);

	for (int i = 0; i < names; i++) {
		char *name = auc_feature_of(text, i);

		CHECK(name[0], "%s: name %d", text, i);
		strcat(strcat(again, i ? "|" : ""), name);
		xfree(name);
	}
	strcat(again, "]");
	CHECK(!names || !strcmp(again, text), "%s: %s", text, again);
}

extern void test_features(unsigned seed)
{
	static const char letters[] = "ab|[]&*(),";

	for (int i = 0; i < ARRAY_SIZE(choices); i++) {
		uint8_t names = auc_one_of_features(choices[i].text);
		char *last = names ? auc_feature_of(choices[i].text, names - 1) :
			NULL;

		CHECK((names == choices[i].names) &&
		      !xstrcmp(last, choices[i].last), "%s: %d, %s",
		      choices[i].text, names, last);
		xfree(last);
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
