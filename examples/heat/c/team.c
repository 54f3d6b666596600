/* SPDX-License-Identifier: BSD-3-Clause */

#include "heat.h"

#include <string.h>

void team_init(struct team *t)
{
	memset(t, 0, sizeof *t);
	MPI_Comm_size(MPI_COMM_WORLD, &t->per);
	t->groups = 1;
	t->all = MPI_COMM_WORLD;
}

void team_publish(struct team *t, const char *name)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank > 0)
		return;
	MPI_Open_port(MPI_INFO_NULL, t->port);
	MPI_Publish_name(name, MPI_INFO_NULL, t->port);
}

bool team_find(const char *name, char port[MPI_MAX_PORT_NAME])
{
	int err;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	err = MPI_Lookup_name(name, MPI_INFO_NULL, port);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	return err == MPI_SUCCESS;
}

/* merged makes one communicator of a team and a group that joins. */
static void merge(struct team *t, MPI_Comm inter, int joins)
{
	MPI_Comm all;
	int ranks;

	MPI_Intercomm_merge(inter, joins, &all);
	MPI_Comm_size(all, &ranks);
	t->groups = ranks / t->per;
	if (ranks % t->per != 0 || t->groups > MAX_PLACES)
		fail("%d ranks: not %d for each of up to %d places", ranks, t->per, MAX_PLACES);
	if (joins)
		t->mine = t->groups - 1;
	t->inter[t->groups - 1] = inter;
	t->merged[t->groups - 1] = t->all = all;
}

void team_push(struct team *t, const char *port)
{
	MPI_Comm inter;

	MPI_Comm_connect(port, MPI_INFO_NULL, 0, t->all, &inter);
	merge(t, inter, 0);
}

void team_join(struct team *t)
{
	MPI_Comm inter;

	MPI_Comm_accept(t->port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
	merge(t, inter, 1);
}

/*
 * With Open MPI 4.1 a merged communicator that is disconnected hangs: it is freed, and the intercommunicator alone is
 * disconnected.
 */
void team_pop(struct team *t, int groups)
{
	int alone = t->mine >= groups;

	for (int last = t->groups - 1; last >= groups && last >= t->mine && last > 0; last--) {
		MPI_Comm_free(&t->merged[last]);
		MPI_Comm_disconnect(&t->inter[last]);
	}
	t->groups = alone ? 1 : groups;
	t->all = alone || groups == 1 ? MPI_COMM_WORLD : t->merged[groups - 1];
	if (alone)
		t->mine = 0;
}

void team_end(struct team *t, const char *name)
{
	if (t->port[0] == 0)
		return;
	MPI_Unpublish_name(name, MPI_INFO_NULL, t->port);
	MPI_Close_port(t->port);
}
