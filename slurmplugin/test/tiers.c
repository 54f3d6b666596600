/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The tiers of nodes, against what their header says, pair by pair. */
#include <stdlib.h>

#include "../shape.h"
#include "units.h"

/* A node as tiers know it. */
typedef struct {
	int weight;		/* its place among all */
	bool asleep, gpus;
	uint32_t cores, free_cores;
	uint8_t tier, loaded;
} place_t;

#define PLACES 40

static int _sign(int x) { return (x > 0) - (x < 0); }

/* Eighths of its cores that are in use, rounded up: nobody is on 0, all is taken on 7. */
static int _load(const place_t *p)
{
	int load = 0;

	while (load * p->cores < 7 * (p->cores - p->free_cores))
		load++;
	return load;
}

/*
 * Of two nodes of one weight that one comes first which is awake, or else has no GPUs; no node comes
 * before one of a lower weight if there is room for all weights.
 */
static void _test_pair(const place_t *a, const place_t *b, int weights)
{
	int by_weight = _sign(a->weight - b->weight);
	int by_kind = a->asleep != b->asleep ? a->asleep - b->asleep :
		a->gpus - b->gpus;
	int by_load = _sign(_load(a) - _load(b));
	int got = _sign(a->tier - b->tier);
	int loaded = _sign(a->loaded - b->loaded);

	if (weights <= 64)
		CHECK(got == (by_weight ? by_weight : _sign(by_kind)),
		      "%d of %d", a->weight, weights);
	else if (!by_kind)
		CHECK(!got || (got == by_weight), "%d of %d", a->weight, weights);
	if (!by_weight)
		CHECK(got == _sign(by_kind), "%d of %d", a->weight, weights);
	/* Neighbours that are one group, or not: what differs is told apart. */
	CHECK(got || ((a->asleep == b->asleep) && (a->gpus == b->gpus)),
	      "%d and %d of %d", a->weight, b->weight, weights);

	CHECK(!by_load || (loaded == by_load), "%d of %d", a->weight, weights);
	if (!by_load && (weights <= 8))
		CHECK(loaded == got, "%d and %d of %d", a->weight, b->weight,
		      weights);
	if (!by_load)
		CHECK((loaded == got) || !loaded ||
		      ((weights > 8) && (loaded == _sign(by_kind))),
		      "%d and %d of %d", a->weight, b->weight, weights);
	CHECK(loaded || ((a->asleep == b->asleep) && (a->gpus == b->gpus)),
	      "%d and %d of %d", a->weight, b->weight, weights);
}

extern void test_tiers(unsigned seed)
{
	place_t all[PLACES];

	srand(seed);
	for (int round = 0; round < 60; round++) {
		int weights = 1 + rand() % (round % 2 ? 12 : 200);
		uint8_t highest = 0;

		for (int i = 0; i < PLACES; i++) {
			place_t *p = &all[i];

			*p = (place_t) { .weight = i ? rand() % weights :
				weights - 1, .asleep = rand() % 2,
				.gpus = rand() % 2, .cores = 1 + rand() % 200 };
			p->free_cores = rand() % (p->cores + 1);
			p->tier = auc_tier(p->weight, weights, p->asleep,
					   p->gpus, AUC_TIERS);
			highest = MAX(highest, p->tier);
		}
		for (int i = 0; i < PLACES; i++)
			all[i].loaded = auc_loaded_tier(all[i].tier, highest,
							all[i].cores,
							all[i].free_cores);
		for (int i = 0; i < PLACES; i++)
			for (int k = 0; k < PLACES; k++)
				_test_pair(&all[i], &all[k], weights);
	}
}
