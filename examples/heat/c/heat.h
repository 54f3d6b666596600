/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A malleable MPI program: the heat equation on a square, whose ranks come and go while it runs. See README.md.
 */
#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>
#include <stdbool.h>

enum { MAX_PLACES = 256, MAX_RANKS = 4096 };

/* grid.c: the field, in blocks of rows, one for each rank */

struct grid {
	int n;           /* rows and columns of the whole field */
	int first, rows; /* this rank's block; first is 0 if it has no rows */
	double *now, *next; /* rows + 2 rows: with a neighbour's one before and after */
};

/* Makes the block of a rank out of ranks, as it is before the first step; of rank -1 one without rows. */
void grid_init(struct grid *g, int n, int rank, int ranks);

/* One step of all ranks. */
void grid_step(struct grid *g, MPI_Comm all);

/* Hands rows on. Rank r of all has block was[r] of before blocks, and gets block is[r] of after; -1: no block. */
void grid_spread(struct grid *g, MPI_Comm all, const int *was, int before, const int *is, int after);

/* FNV-1a, 64 bits, of the bytes of all rows, at rank 0. */
unsigned long long grid_sum(const struct grid *g, MPI_Comm all);

/* Rank 0 replaces a checkpoint: the field before a step. Others need no path. */
void grid_save(const struct grid *g, MPI_Comm all, int step, const char *path);

/* Reads this rank's block of a checkpoint, and gives its step; 0 if there is none. */
int grid_load(struct grid *g, const char *path);

void grid_free(struct grid *g);

/* team.c: groups of ranks, each with an MPI_COMM_WORLD of its own, that become one communicator */

/*
 * Each group but the first has joined those before it, through an intercommunicator. So the last to join is the first to
 * part: to let a group go, all that joined later part too, and join again.
 */
struct team {
	int groups, per;              /* ranks of a group */
	int mine;                     /* this group, from 0 */
	MPI_Comm all;                 /* of all groups */
	MPI_Comm inter[MAX_PLACES];   /* by which this group, or a later one, joined */
	MPI_Comm merged[MAX_PLACES];  /* of the groups up to this one */
	char port[MPI_MAX_PORT_NAME]; /* of this group's first rank, except for the first group */
};

/* A group begins alone. */
void team_init(struct team *t);

/* Makes the port at which the team finds this group, and gives it a name. */
void team_publish(struct team *t, const char *name);

/* Finds the port of that name: false if there is none yet. */
bool team_find(const char *name, char port[MPI_MAX_PORT_NAME]);

/* All of the team take in the group at a port, which only rank 0 has to know. */
void team_push(struct team *t, const char *port);

/* Waits to be taken in. */
void team_join(struct team *t);

/* Parts from the last groups, so that so many are left. The groups that parted are alone. */
void team_pop(struct team *t, int groups);

/* Takes back the port and its name, if it has one. */
void team_end(struct team *t, const char *name);

/* places.c: which places there are; rank 0 alone has this */

struct places;

/* What a place is to the program. */
enum state { STARTING, READY, MEMBER, LEFT_OUT, ENDING };

struct place {
	int number;
	enum state state;
	bool wanted;   /* the newest change names it */
	int group;     /* of the team, if it is a member */
	int pid;       /* of the command that has its ranks */
	double since;  /* when it came to its state */
	double took;   /* to be ready, in seconds */
	char name[64]; /* of its port */
	char port[MPI_MAX_PORT_NAME];
};

/* start is a command that is called with --place, the place and the name of a port; wait is how long it may take, in seconds.
 * Not more than most places are used. */
struct places *places_open(const char *start, int wait, int most);

/* Hears of places, starts commands on new ones, and ends those that take too long. It doesn't wait. */
void places_poll(struct places *p);

/* Counts places to let go, and those to take in: these only once none is starting, or for a second no other has come. */
int places_leaving(struct places *p, struct place **list);
int places_joining(struct places *p, struct place **list);

/* The member that is a group of the team. */
struct place *places_group(struct places *p, int group);

/* These have left. */
void places_left(struct place **list, int n);

/* Waits for the ends of all commands, and kills what has not ended in ten seconds. */
void places_close(struct places *p);

/* watch.c: no wait is for ever */

/* From now on this process ends, with a message, unless watch_for is called again within so many seconds. */
void watch_for(int seconds, const char *what);

/* Ends all ranks of this group, with a message. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

void *need(void *memory);

#endif
