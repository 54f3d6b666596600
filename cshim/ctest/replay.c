/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Gives the library the cycles of a record again, one after the other, and compares what it decides:
 *
 *	replay LIBAUCSCHED RECORD
 *
 * Prints "cycles N late N decisions N starts N differ N"; the exit status is 1 if any decision is
 * another one. Cycles that the deadline cut short are the clock's and are not compared.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../record.h"

static struct {
	int64_t (*open)(const char *, char *, size_t);
	int (*configure)(int64_t, const char *);
	int (*cycle)(int64_t, const struct aucsched_input *, struct aucsched_output *);
	int (*close)(int64_t);
	int64_t handle;
} library;

static struct { unsigned long cycles, late, decisions, starts, differ; } count;

static void fail(const char *what)
{
	fprintf(stderr, "replay: %s\n", what);
	exit(2);
}

static void *sym(void *from, const char *name)
{
	void *found = dlsym(from, name);

	if (!found)
		fail(name);
	return found;
}

static void load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle)
		fail(dlerror());
	*(void **) &library.open = sym(handle, "aucsched_open");
	*(void **) &library.configure = sym(handle, "aucsched_configure");
	*(void **) &library.cycle = sym(handle, "aucsched_cycle");
	*(void **) &library.close = sym(handle, "aucsched_close");
}

/* Those of the record, but for the deadline: it is not to cut anything short here. */
static void configure(const char *text, size_t len)
{
	char settings[8192], err[512] = "";

	if ((size_t) snprintf(settings, sizeof(settings), "%.*s deadline_ms=600000", (int) len, text) >= sizeof(settings))
		fail("settings are too long");
	if (!library.handle)
		library.handle = library.open(settings, err, sizeof(err));
	else if (library.configure(library.handle, settings))
		library.handle = -1;
	if (library.handle <= 0)
		fail(err);
}

/* What is left of a record. */
struct rest { const char *at; size_t len; };

/* A copy, which malloc() aligns. */
static void *take(struct rest *rest, size_t len)
{
	void *copy = malloc(len + 1);

	if (!copy || (len > rest->len))
		fail("the record ends too early");
	memcpy(copy, rest->at, len);
	rest->at += len;
	rest->len -= len;
	return copy;
}

static int same(const struct aucsched_decision *a, const struct aucsched_segment *of_a,
		const struct aucsched_decision *b, const struct aucsched_segment *of_b)
{
	return (a->why == b->why) && (a->expected == b->expected) && (a->gpus == b->gpus) && (a->alternative == b->alternative) &&
		(a->bid_class == b->bid_class) && (a->victims == b->victims) && (a->segments == b->segments) &&
		!memcmp(of_a + a->first_segment, of_b + b->first_segment, a->segments * sizeof(*of_a));
}

static void cycle(struct rest rest)
{
	struct aucsched_input *in = take(&rest, sizeof(*in));
	struct aucsched_output *then, now = { .abi = AUCSCHED_ABI, .size = sizeof(now) };
	struct aucsched_decision *decisions;
	struct aucsched_segment *segments;

#define TAKE(array, len) in->array = take(&rest, (len) * sizeof(*in->array));
	AUCSCHED_RECORD_ARRAYS(TAKE, in)
	then = take(&rest, sizeof(*then));
	decisions = take(&rest, then->decisions_len * sizeof(*decisions));
	segments = take(&rest, then->segments_len * sizeof(*segments));
	in->deadline_us = 0;
	if (library.cycle(library.handle, in, &now) || (now.decisions_len != then->decisions_len))
		fail("a cycle has no decision");
	count.cycles++;
	if (then->late || now.late) {
		count.late++;
	} else {
		count.decisions += now.decisions_len;
		count.starts += now.starts;
		for (uint32_t i = 0; i < now.decisions_len; i++)
			count.differ += !same(&now.decisions[i], now.segments, &decisions[i], segments);
	}
#define FREE(array, len) free((void *) in->array);
	AUCSCHED_RECORD_ARRAYS(FREE, in)
	free(in);
	free(then);
	free(decisions);
	free(segments);
}

int main(int argc, char **argv)
{
	char magic[sizeof(AUCSCHED_RECORD_MAGIC)] = "", *text;
	uint32_t kind;
	uint64_t bytes;
	FILE *file;

	if (argc != 3)
		fail("replay LIBAUCSCHED RECORD");
	load(argv[1]);
	if (!(file = fopen(argv[2], "r")) || (fread(magic, sizeof(magic) - 1, 1, file) != 1) || strcmp(magic, AUCSCHED_RECORD_MAGIC))
		fail("not a record of this version");
	/* The last one may be half written. */
	while ((fread(&kind, sizeof(kind), 1, file) == 1) && (fread(&bytes, sizeof(bytes), 1, file) == 1)) {
		if ((bytes > (1 << 28)) || !(text = malloc(bytes + 1)))
			fail("a record is too long");
		if (fread(text, bytes, 1, file) == 1) {
			if (kind == 'S')
				configure(text, bytes);
			else
				cycle((struct rest) { text, bytes });
		}
		free(text);
	}
	library.close(library.handle);
	printf("cycles %lu late %lu decisions %lu starts %lu differ %lu\n", count.cycles, count.late, count.decisions, count.starts,
	       count.differ);
	return count.differ != 0;
}
