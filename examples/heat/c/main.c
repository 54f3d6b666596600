/* SPDX-License-Identifier: BSD-3-Clause */

#include "heat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_AWAITS = 32 };

struct options {
	int size, steps, every;
	int wait, limit; /* seconds: for a place to be ready, and for anything else */
	const char *join, *start, *checkpoint;
	int pause; /* seconds from one checkpoint to the next */
	int awaits;
	struct { int step, ranks; } await[MAX_AWAITS];
};

/* What rank 0 has all do between two steps. The last is GO, or END. */
enum verb { GO, HOLD, LEAVE, PUSH, SPREAD, SAVE, SUM, END };

struct order {
	int verb;
	int step, until;         /* GO: steps to do */
	int size, before;        /* SPREAD: of the field, and the ranks that have its rows */
	int keep;                /* LEAVE: groups that don't part */
	char leaves[MAX_PLACES]; /* LEAVE: groups that go */
};

struct run {
	struct options o;
	struct team team;
	struct grid grid;
	struct places *places; /* of rank 0 */
	int step, until;       /* the next step, and the one before which there may be a change */
	double saved;          /* when rank 0 had the newest checkpoint written, of saved_step */
	int saved_step;
	double spread_took;    /* the newest redistribution, in seconds */
	int awaited;           /* how many of o.await have been seen */
	bool gone;             /* this group has left */
};

static int number(const char *what, const char *text, int least, int most)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text == 0 || *end != 0 || n < least || n > most)
		fail("%s %s: must be a number from %d to %d", what, text, least, most);
	return (int)n;
}

/* STEP:RANKS */
static void add_await(struct options *o, char *text)
{
	char *colon = strchr(text, ':');

	if (colon == NULL || o->awaits == MAX_AWAITS)
		fail("-w %s: must be STEP:RANKS, up to %d times", text, MAX_AWAITS);
	*colon = 0;
	o->await[o->awaits].step = number("-w", text, 0, INT_MAX);
	o->await[o->awaits++].ranks = number("-w", colon + 1, 1, MAX_RANKS);
}

static struct options options(int argc, char **argv)
{
	struct options o = { .size = 1000, .steps = 10000, .every = 10, .wait = 30, .limit = 120, .pause = 60,
			     .start = getenv("HEAT_START"), .checkpoint = getenv("HEAT_CHECKPOINT") };
	int c;

	if (o.checkpoint != NULL && *o.checkpoint == 0)
		o.checkpoint = NULL;
	while ((c = getopt(argc, argv, "n:s:e:w:t:l:j:c:")) != -1)
		switch (c) {
		case 'n':
			o.size = number("-n", optarg, 1, 30000);
			break;
		case 's':
			o.steps = number("-s", optarg, 0, INT_MAX);
			break;
		case 'e':
			o.every = number("-e", optarg, 1, INT_MAX);
			break;
		case 'w':
			add_await(&o, optarg);
			break;
		case 't':
			o.wait = number("-t", optarg, 1, 86400);
			break;
		case 'l':
			o.limit = number("-l", optarg, 1, 86400);
			break;
		case 'c':
			o.pause = number("-c", optarg, 0, 86400);
			break;
		case 'j':
			o.join = optarg;
			break;
		default:
			fail("options: see README.md");
		}
	if (optind < argc)
		fail("%s: there are no arguments, only options", argv[optind]);
	return o;
}

static int rank_in(MPI_Comm comm)
{
	int rank;

	MPI_Comm_rank(comm, &rank);
	return rank;
}

/* leaves hands on the rows of ranks that go, and lets go of them. Groups that stay join again where they have parted. */
static void leaves(struct run *r, const struct order *order)
{
	int was[MAX_RANKS], is[MAX_RANKS], ranks = r->team.groups * r->team.per, after = 0;
	int mine = r->team.mine;
	double began = MPI_Wtime();

	for (int k = 0; k < ranks; k++) {
		was[k] = k;
		is[k] = order->leaves[k / r->team.per] ? -1 : after++;
	}
	grid_spread(&r->grid, r->team.all, was, ranks, is, after);
	r->spread_took = MPI_Wtime() - began;
	team_pop(&r->team, order->keep);
	if (mine < order->keep)
		return;
	if (order->leaves[mine])
		r->gone = true;
	else
		team_join(&r->team);
}

/* spread hands rows to the ranks that have joined. */
static void spread(struct run *r, const struct order *order)
{
	int was[MAX_RANKS], is[MAX_RANKS], ranks = r->team.groups * r->team.per;
	double began = MPI_Wtime();

	for (int k = 0; k < ranks; k++) {
		was[k] = k < order->before ? k : -1;
		is[k] = k;
	}
	if (r->grid.now == NULL)
		grid_init(&r->grid, order->size, -1, 1);
	grid_spread(&r->grid, r->team.all, was, order->before, is, ranks);
	r->spread_took = MPI_Wtime() - began;
}

/* obey does what all ranks do at an order, where rank 0 has the port of a group that joins. */
static void obey(struct run *r, struct order *order, const char *port)
{
	unsigned long long sum;

	MPI_Bcast(order, sizeof *order, MPI_BYTE, 0, r->team.all);
	watch_for(r->o.limit, "a change of ranks");
	switch (order->verb) {
	case LEAVE:
		leaves(r, order);
		break;
	case PUSH:
		team_push(&r->team, port);
		break;
	case SPREAD:
		spread(r, order);
		break;
	case GO:
		r->step = order->step;
		r->until = order->until;
		break;
	case HOLD:
		usleep(10000);
		break;
	case SAVE:
		grid_save(&r->grid, r->team.all, r->step, r->o.checkpoint);
		break;
	case SUM:
		sum = grid_sum(&r->grid, r->team.all);
		if (rank_in(r->team.all) == 0)
			printf("heat: %d steps, sum %016llx\n", r->step, sum);
		break;
	case END:
		team_pop(&r->team, 1);
		r->gone = true;
	}
}

static void command(struct run *r, enum verb verb, const char *port)
{
	struct order order = { .verb = verb };

	obey(r, &order, port);
}

/* let_go is rank 0's part of a change with places that leave. */
static void let_go(struct run *r, struct place **list, int n)
{
	struct order order = { .verb = LEAVE, .keep = r->team.groups };
	struct place *again[MAX_PLACES];
	int groups = r->team.groups, rejoin = 0;

	for (int k = 0; k < n; k++) {
		order.leaves[list[k]->group] = 1;
		if (list[k]->group < order.keep)
			order.keep = list[k]->group;
	}
	for (int k = order.keep; k < groups; k++)
		if (!order.leaves[k])
			again[rejoin++] = places_group(r->places, k);
	obey(r, &order, NULL);
	for (int k = 0; k < rejoin; k++) {
		command(r, PUSH, again[k]->port);
		again[k]->group = r->team.groups - 1;
	}
	places_left(list, n);
}

/* take_in is rank 0's part of a change with places that come. It returns how long the slowest took to be ready. */
static double take_in(struct run *r, struct place **list, int n)
{
	struct order order = { .verb = SPREAD, .size = r->grid.n, .before = r->team.groups * r->team.per };
	double slowest = 0;

	for (int k = 0; k < n; k++) {
		command(r, PUSH, list[k]->port);
		list[k]->state = MEMBER;
		list[k]->group = r->team.groups - 1;
		if (list[k]->took > slowest)
			slowest = list[k]->took;
	}
	obey(r, &order, NULL);
	return slowest;
}

static void report(struct run *r, int before, double began)
{
	double took = MPI_Wtime() - began;
	int ranks = r->team.groups * r->team.per;

	printf("heat: step %d: %d -> %d ranks in %.3f s: redistribute %.3f, connect %.3f",
	       r->step, before, ranks, took, r->spread_took, took - r->spread_took);
	if (r->awaited < r->o.awaits && r->o.await[r->awaited].ranks == ranks)
		r->awaited++;
}

static void change(struct run *r)
{
	struct place *list[MAX_PLACES];
	int n, before = r->team.groups * r->team.per;
	double began = MPI_Wtime();

	if ((n = places_leaving(r->places, list)) > 0) {
		let_go(r, list, n);
		report(r, before, began);
		printf("\n");
	}
	before = r->team.groups * r->team.per;
	began = MPI_Wtime();
	if ((n = places_joining(r->places, list)) > 0) {
		double started = take_in(r, list, n);

		report(r, before, began);
		printf("; started before in %.3f\n", started);
	}
	fflush(stdout);
}

/* Whether rank 0 is to wait here until there have been as many ranks as -w says. */
static bool waits(const struct run *r)
{
	return r->awaited < r->o.awaits && r->o.await[r->awaited].step <= r->step;
}

/* The step before which rank 0 looks again. */
static int next_look(const struct run *r)
{
	int until = r->o.steps - r->step < r->o.every ? r->o.steps : r->step + r->o.every;

	if (r->awaited < r->o.awaits && r->o.await[r->awaited].step < until)
		until = r->o.await[r->awaited].step;
	return until;
}

static void save_if_due(struct run *r)
{
	if (r->o.checkpoint == NULL || r->step == r->saved_step || MPI_Wtime() - r->saved < r->o.pause)
		return;
	command(r, SAVE, NULL);
	r->saved = MPI_Wtime();
	r->saved_step = r->step;
}

/* lead is what rank 0 does between two steps. */
static void lead(struct run *r)
{
	struct order go = { .verb = GO, .step = r->step };
	double until = MPI_Wtime() + r->o.limit;

	for (;;) {
		places_poll(r->places);
		change(r);
		save_if_due(r);
		if (!waits(r))
			break;
		if (MPI_Wtime() > until)
			fail("step %d: there are still %d ranks", r->step, r->team.groups * r->team.per);
		command(r, HOLD, NULL);
	}
	if (r->step < r->o.steps) {
		go.until = next_look(r);
		obey(r, &go, NULL);
		return;
	}
	command(r, SUM, NULL);
	command(r, END, NULL);
}

static void follow(struct run *r)
{
	struct order order = { .verb = HOLD };

	while (order.verb != GO && !r->gone)
		obey(r, &order, NULL);
}

static void first_group(struct run *r)
{
	int rank = rank_in(MPI_COMM_WORLD), most = r->o.size / r->team.per;

	if (most < 1)
		fail("-n %d: fewer rows than ranks", r->o.size);
	if (r->team.per * most > MAX_RANKS)
		most = MAX_RANKS / r->team.per;
	grid_init(&r->grid, r->o.size, rank, r->team.per);
	if (r->o.checkpoint != NULL)
		r->step = r->saved_step = grid_load(&r->grid, r->o.checkpoint);
	r->saved = MPI_Wtime();
	while (r->awaited < r->o.awaits && r->o.await[r->awaited].step < r->step)
		r->awaited++;
	if (rank == 0 && r->step > 0)
		fprintf(stderr, "heat: goes on from step %d\n", r->step);
	if (rank == 0)
		r->places = places_open(r->o.start, r->o.wait, most);
}

static void work(struct run *r)
{
	for (;;) {
		if (r->places != NULL)
			lead(r);
		else
			follow(r);
		if (r->gone)
			return;
		for (; r->step < r->until; r->step++) {
			grid_step(&r->grid, r->team.all);
			watch_for(r->o.limit, "a step");
		}
	}
}

int main(int argc, char **argv)
{
	static struct run r;

	MPI_Init(&argc, &argv);
	r.o = options(argc, argv);
	team_init(&r.team);
	watch_for(r.o.limit, "to be taken in");
	if (r.o.join == NULL) {
		first_group(&r);
	} else {
		team_publish(&r.team, r.o.join);
		team_join(&r.team);
	}
	work(&r);
	watch_for(r.o.limit + 20, "the end");
	team_end(&r.team, r.o.join);
	if (r.places != NULL)
		places_close(r.places);
	grid_free(&r.grid);
	MPI_Finalize();
	return 0;
}
