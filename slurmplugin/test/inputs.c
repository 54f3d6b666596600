/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Input files, and the settings of locality. */
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../request.h"
#include "../library.h"
#include "aucsched.h"
#include "units.h"

static const struct {
	const char *comment;
	auc_input_found_t want;
	uint64_t bytes;
	const char *words;	/* of the error */
} inputs[] = {
	{ NULL, AUC_INPUT_NONE, 0, NULL },
	{ "", AUC_INPUT_NONE, 0, NULL },
	{ "for the review; my input=/a:1", AUC_INPUT_NONE, 0, NULL },
	{ "INPUT=/a:1", AUC_INPUT_NONE, 0, NULL },
	{ "input", AUC_INPUT_NONE, 0, NULL },
	{ "input=/a:1", AUC_INPUT_OK, 1, NULL },
	{ "input=/data/genome.fa:4G", AUC_INPUT_OK, (uint64_t) 4 << 30, NULL },
	{ "note;input=/a b,c:12k;auc:gpu=1-3", AUC_INPUT_OK, 12 << 10, NULL },
	{ "input=s3://bucket/key:3:1T", AUC_INPUT_OK, (uint64_t) 1 << 40, NULL },
	{ "input=/a:1048576T", AUC_INPUT_OK, (uint64_t) 1 << 60, NULL },
	{ "input=/a:1152921504606846976", AUC_INPUT_OK, (uint64_t) 1 << 60, NULL },
	{ "input=", AUC_INPUT_BAD, 0, "input=: must be PATH:SIZE" },
	{ "input=;x", AUC_INPUT_BAD, 0, "input=: must be PATH:SIZE" },
	{ "input=/a", AUC_INPUT_BAD, 0, "input=/a: must be PATH:SIZE" },
	{ "input=:5G", AUC_INPUT_BAD, 0, "input=:5G: its path must" },
	{ "input=a:5G", AUC_INPUT_BAD, 0, "input=a:5G: its path must begin with / or be a URL" },
	{ "input=://x:5", AUC_INPUT_BAD, 0, "its path must" },
	{ "input=/a:", AUC_INPUT_BAD, 0, "input=/a:: its size must" },
	{ "input=/a:0", AUC_INPUT_BAD, 0, "input=/a:0: its size must" },
	{ "input=/a:G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:-1", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1.5G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:5 G", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:5GB", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1048577T", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1152921504606846977", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:99999999999999999999999", AUC_INPUT_BAD, 0, "its size must" },
	{ "input=/a:1;input=/b:2", AUC_INPUT_BAD, 0, "input=/b:2: is a second input" },
};

static uint64_t _file_of(const char *comment)
{
	auc_input_t input = { 0 };

	(void) auc_input_parse(comment, &input, NULL);
	return input.file;
}

static void _test_inputs(void)
{
	char long_name[2000];

	for (int i = 0; i < ARRAY_SIZE(inputs); i++) {
		auc_input_t input = { 0 };
		char *error = NULL;
		auc_input_found_t found =
			auc_input_parse(inputs[i].comment, &input, &error);

		CHECK((found == inputs[i].want) && (!error == !inputs[i].words),
		      "%s: %d, %s", inputs[i].comment, found, error);
		CHECK((found != AUC_INPUT_OK) ||
		      (input.file && (input.bytes == inputs[i].bytes)), "%s: %llu",
		      inputs[i].comment, (unsigned long long) input.bytes);
		CHECK(!inputs[i].words || strstr(error, inputs[i].words), "%s",
		      error);
		xfree(error);
	}
	CHECK(_file_of("input=/a:1") == _file_of("x;input=/a:2G"), "the path alone");
	CHECK(_file_of("input=/a:1") != _file_of("input=/b:1"), "another path");
	/* As it is in saved files. */
	CHECK(auc_id_of("", 0) == 0xcbf29ce484222325, "%llx", (unsigned long long) auc_id_of("", 0));
	CHECK(auc_id_of("foobar", 6) == 0x85944171f73967e8, "%llx", (unsigned long long) auc_id_of("foobar", 6));
	memset(long_name, 'a', sizeof(long_name));
	memcpy(long_name, "input=", 6);
	long_name[sizeof(long_name) - 1] = '\0';
	{
		auc_input_t input;
		char *error = NULL;

		CHECK((auc_input_parse(long_name, &input, &error) ==
		       AUC_INPUT_BAD) && (strlen(error) < 300), "%zu", strlen(error));
		xfree(error);
	}
}

static void _fuzz_inputs(unsigned seed, int rounds)
{
	static const char *parts[] = {
		"input=", "/", ":", ";", "9", "0", "G", "t", "://", "a", " ",
		"99999999999999999999", "\xff", "=",
	};

	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char text[256] = "";
		auc_input_t input = { 0 };
		char *error = NULL;
		auc_input_found_t found;

		for (int k = rand() % 10; k > 0; k--)
			strcat(text, parts[rand() % ARRAY_SIZE(parts)]);
		found = auc_input_parse(text, &input, &error);
		CHECK((found == AUC_INPUT_BAD) == !!error, "%s", text);
		CHECK((found != AUC_INPUT_OK) || (input.file && input.bytes &&
		      (input.bytes <= AUCSCHED_MAX_FILE)), "%s", text);
		xfree(error);
	}
}

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

extern void test_inputs(unsigned seed)
{
	_test_inputs();
	_fuzz_inputs(seed, 100000);
	_test_locality();
}
