/* SPDX-License-Identifier: BSD-3-Clause */

#include "heat.h"

#include "../../../invasive/malleable/c/aucsched_malleable.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Others may be on their way when the first place is ready: it waits so long for them. */
static const double gather = 1;

/* Pauses between two looks whether a place is ready. */
static const double look = 0.05;

struct places {
	struct aucsched_job job;
	bool told; /* job is open */
	struct aucsched_change change;
	bool answer; /* change waits for one */
	const char *start;
	int wait, most;
	int started; /* counts commands, for names */
	double looked;
	int n;
	struct place place[2 * MAX_PLACES]; /* a number may be there twice, once as ENDING */
};

struct places *places_open(const char *start, int wait, int most)
{
	struct places *p = need(calloc(1, sizeof *p));

	p->start = start;
	p->wait = wait;
	p->most = most < MAX_PLACES ? most : MAX_PLACES;
	p->told = aucsched_open(&p->job) == 0;
	p->n = 1; /* this one, which stays */
	p->place[0].state = MEMBER;
	return p;
}

static void become(struct place *l, enum state state)
{
	l->state = state;
	l->since = MPI_Wtime();
}

static void start(struct places *p, int number)
{
	struct place *l = &p->place[p->n++];
	char text[16];
	char *argv[] = { (char *)p->start, "--place", text, l->name, NULL };
	int err;

	memset(l, 0, sizeof *l);
	l->number = number;
	l->wanted = true;
	become(l, STARTING);
	snprintf(text, sizeof text, "%d", number);
	snprintf(l->name, sizeof l->name, "heat-%d-%d-%d", (int)getpid(), number, p->started++);
	if ((err = posix_spawn(&l->pid, p->start, NULL, NULL, argv, environ)) != 0) {
		fprintf(stderr, "heat: place %d: %s: %s\n", number, p->start, strerror(err));
		l->pid = 0;
		become(l, LEFT_OUT);
	}
}

static void stop(struct place *l, enum state state)
{
	if (l->pid > 0)
		kill(l->pid, SIGTERM);
	become(l, state);
}

/* The place is not tried again before a change was without it. */
static void leave_out(struct place *l, const char *why)
{
	fprintf(stderr, "heat: place %d is left out: %s\n", l->number, why);
	stop(l, LEFT_OUT);
}

/* Whether its command has ended. */
static bool ended(struct place *l)
{
	if (l->pid > 0 && waitpid(l->pid, NULL, WNOHANG) == l->pid)
		l->pid = 0;
	return l->pid == 0;
}

static void drop(struct places *p, int k)
{
	memmove(&p->place[k], &p->place[k + 1], (size_t)(p->n - k - 1) * sizeof p->place[0]);
	p->n--;
}

static int used(const struct places *p)
{
	int n = 0;

	for (int k = 0; k < p->n; k++)
		if (p->place[k].state != ENDING)
			n++;
	return n;
}

static struct place *find(struct places *p, int number)
{
	for (int k = 0; k < p->n; k++)
		if (p->place[k].number == number && p->place[k].state != ENDING)
			return &p->place[k];
	return NULL;
}

static void take_change(struct places *p, struct aucsched_change *change)
{
	aucsched_free(&p->change);
	p->change = *change;
	p->answer = true;
	for (int k = 1; k < p->n; k++)
		p->place[k].wanted = false;
	for (size_t k = 0; k < change->ncores; k++) {
		struct place *l = find(p, change->cores[k]);

		if (l != NULL)
			l->wanted = true;
		else if (used(p) < p->most && p->n < 2 * MAX_PLACES)
			start(p, change->cores[k]);
		else
			fprintf(stderr, "heat: place %d is not used: there are %d\n", change->cores[k], used(p));
	}
	for (int k = 1; k < p->n; k++)
		if (!p->place[k].wanted && p->place[k].state != MEMBER && p->place[k].state != ENDING)
			stop(&p->place[k], ENDING);
}

/* watch sees which places have become ready, or won't, or are lost. */
static void watch(struct places *p)
{
	double now = MPI_Wtime();
	bool is_time = now - p->looked >= look;

	for (int k = 1; k < p->n; k++) {
		struct place *l = &p->place[k];

		if (l->state == MEMBER && ended(l))
			fail("place %d is lost, and its rows", l->number);
		if (l->state != STARTING && l->state != READY)
			continue;
		if (ended(l))
			leave_out(l, "its command has ended");
		else if (l->state == STARTING && is_time && team_find(l->name, l->port)) {
			l->took = now - l->since;
			become(l, READY);
		} else if (l->state == STARTING && now - l->since > p->wait)
			leave_out(l, "it was not ready in time");
	}
	if (is_time)
		p->looked = now;
}

/* forget drops places whose command has ended, and kills one that has not in ten seconds. */
static void forget(struct places *p)
{
	for (int k = p->n - 1; k > 0; k--) {
		struct place *l = &p->place[k];

		if (l->state != ENDING)
			continue;
		if (ended(l))
			drop(p, k);
		else if (MPI_Wtime() - l->since > 10)
			kill(l->pid, SIGKILL);
	}
}

/* A change is answered once nothing runs on other places than it names. */
static void answer(struct places *p)
{
	for (int k = 1; k < p->n; k++)
		if (!p->place[k].wanted || p->place[k].state == ENDING)
			return;
	if (p->answer)
		aucsched_done(&p->job, &p->change);
	p->answer = false;
}

void places_poll(struct places *p)
{
	struct aucsched_change change;

	if (!p->told)
		return;
	switch (aucsched_poll(&p->job, 0, &change)) {
	case 1:
		take_change(p, &change);
		break;
	case -1:
		fail("lines of places: %s", strerror(errno));
	}
	watch(p);
	forget(p);
	answer(p);
}

int places_leaving(struct places *p, struct place **list)
{
	int n = 0;

	for (int k = 1; k < p->n; k++)
		if (p->place[k].state == MEMBER && !p->place[k].wanted)
			list[n++] = &p->place[k];
	return n;
}

int places_joining(struct places *p, struct place **list)
{
	bool wait = false;
	double longest = 0;
	int n = 0;

	for (int k = 1; k < p->n; k++) {
		struct place *l = &p->place[k];

		if (l->state == STARTING)
			wait = true;
		if (l->state != READY)
			continue;
		list[n++] = l;
		if (MPI_Wtime() - l->since > longest)
			longest = MPI_Wtime() - l->since;
	}
	return wait && longest < gather ? 0 : n;
}

struct place *places_group(struct places *p, int group)
{
	for (int k = 0; k < p->n; k++)
		if (p->place[k].state == MEMBER && p->place[k].group == group)
			return &p->place[k];
	fail("no place has group %d", group);
}

/* Their commands end by themselves. */
void places_left(struct place **list, int n)
{
	for (int k = 0; k < n; k++)
		become(list[k], ENDING);
}

void places_close(struct places *p)
{
	double until = MPI_Wtime() + 10;

	for (int k = 1; k < p->n; k++) {
		if (p->place[k].state != MEMBER && p->place[k].state != ENDING)
			stop(&p->place[k], ENDING);
		become(&p->place[k], ENDING);
	}
	while (p->n > 1 && MPI_Wtime() < until) {
		usleep(10000);
		forget(p);
	}
	for (int k = 1; k < p->n; k++)
		if (p->place[k].pid > 0)
			kill(p->place[k].pid, SIGKILL);
	answer(p);
	aucsched_free(&p->change);
	if (p->told)
		aucsched_close(&p->job);
	free(p);
}
