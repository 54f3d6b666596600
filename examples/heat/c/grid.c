/* SPDX-License-Identifier: BSD-3-Clause */

#include "heat.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first row of a block, and of the one behind the last. */
static int first_row(int n, int block, int blocks)
{
	return (int)((long long)n * block / blocks);
}

static size_t cells(const struct grid *g)
{
	return ((size_t)g->rows + 2) * (size_t)g->n;
}

/* row gives a row by its number in the block: -1 and rows are a neighbour's. */
static double *row(const struct grid *g, double *field, int r)
{
	return field + ((size_t)r + 1) * (size_t)g->n;
}

static void set_block(struct grid *g, int block, int blocks)
{
	g->first = block < 0 ? 0 : first_row(g->n, block, blocks);
	g->rows = block < 0 ? 0 : first_row(g->n, block + 1, blocks) - g->first;
	g->now = need(calloc(cells(g), sizeof(double)));
	g->next = need(calloc(cells(g), sizeof(double)));
}

/* Something without symmetry, so that rows in a wrong order are noticed. */
static double initial(int r, int c)
{
	return (double)((r * 31 + c * 17 + r * c % 101) % 1000) / 1000;
}

void grid_init(struct grid *g, int n, int rank, int ranks)
{
	g->n = n;
	set_block(g, rank, ranks);
	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < n; c++)
			row(g, g->now, r)[c] = initial(g->first + r, c);
}

static void exchange(struct grid *g, MPI_Comm all)
{
	int rank, ranks, up, down;

	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &ranks);
	up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Sendrecv(row(g, g->now, 0), g->n, MPI_DOUBLE, up, 0,
		     row(g, g->now, g->rows), g->n, MPI_DOUBLE, down, 0, all, MPI_STATUS_IGNORE);
	MPI_Sendrecv(row(g, g->now, g->rows - 1), g->n, MPI_DOUBLE, down, 1,
		     row(g, g->now, -1), g->n, MPI_DOUBLE, up, 1, all, MPI_STATUS_IGNORE);
}

void grid_step(struct grid *g, MPI_Comm all)
{
	double *other = g->next;

	exchange(g, all);
	for (int r = 0; r < g->rows; r++) {
		const double *above = row(g, g->now, r - 1), *here = row(g, g->now, r), *below = row(g, g->now, r + 1);
		double *to = row(g, g->next, r);

		if (g->first + r == 0 || g->first + r == g->n - 1) { /* the border stays as it is */
			memcpy(to, here, (size_t)g->n * sizeof *to);
			continue;
		}
		to[0] = here[0];
		to[g->n - 1] = here[g->n - 1];
		for (int c = 1; c < g->n - 1; c++)
			to[c] = 0.25 * ((above[c] + below[c]) + (here[c - 1] + here[c + 1]));
	}
	g->next = g->now;
	g->now = other;
}

/* overlap counts the rows that two blocks share, and where they begin in the first of them. */
static int overlap(int n, int a, int as, int b, int bs, int *offset)
{
	int from, to;

	*offset = 0;
	if (a < 0 || b < 0)
		return 0;
	from = first_row(n, a, as) > first_row(n, b, bs) ? first_row(n, a, as) : first_row(n, b, bs);
	to = first_row(n, a + 1, as) < first_row(n, b + 1, bs) ? first_row(n, a + 1, as) : first_row(n, b + 1, bs);
	if (to <= from)
		return 0;
	*offset = from - first_row(n, a, as);
	return to - from;
}

void grid_spread(struct grid *g, MPI_Comm all, const int *was, int before, const int *is, int after)
{
	struct grid old = *g;
	int rank, ranks, *counts;
	MPI_Datatype whole_row;

	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &ranks);
	counts = need(calloc((size_t)ranks * 4, sizeof *counts));
	for (int r = 0; r < ranks; r++) {
		counts[r] = overlap(g->n, was[rank], before, is[r], after, &counts[ranks + r]);
		counts[2 * ranks + r] = overlap(g->n, is[rank], after, was[r], before, &counts[3 * ranks + r]);
	}
	set_block(g, is[rank], after);
	MPI_Type_contiguous(g->n, MPI_DOUBLE, &whole_row);
	MPI_Type_commit(&whole_row);
	MPI_Alltoallv(row(&old, old.now, 0), counts, counts + ranks, whole_row,
		      row(g, g->now, 0), counts + 2 * ranks, counts + 3 * ranks, whole_row, all);
	MPI_Type_free(&whole_row);
	free(counts);
	grid_free(&old);
}

/* The sum goes from rank to rank, as the bytes do. */
unsigned long long grid_sum(const struct grid *g, MPI_Comm all)
{
	unsigned long long sum = 14695981039346656037ULL;
	const unsigned char *byte = (const unsigned char *)row(g, g->now, 0);
	int rank, ranks;

	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &ranks);
	if (rank > 0)
		MPI_Recv(&sum, 1, MPI_UNSIGNED_LONG_LONG, rank - 1, 2, all, MPI_STATUS_IGNORE);
	for (size_t k = 0; k < (size_t)g->rows * (size_t)g->n * sizeof(double); k++)
		sum = (sum ^ byte[k]) * 1099511628211ULL;
	if (ranks == 1)
		return sum;
	MPI_Send(&sum, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % ranks, 2, all);
	if (rank == 0)
		MPI_Recv(&sum, 1, MPI_UNSIGNED_LONG_LONG, ranks - 1, 2, all, MPI_STATUS_IGNORE);
	return sum;
}

/* What a checkpoint begins with. All rows follow. */
struct head { int n, step; };

/* write_all has rank 0 write the head and all rows, of which it asks one rank after the other. */
static bool write_all(const struct grid *g, MPI_Comm all, int step, FILE *f)
{
	struct head head = { .n = g->n, .step = step };
	size_t bytes = (size_t)g->n * sizeof(double);
	bool good = fwrite(&head, sizeof head, 1, f) == 1;
	double *rows;
	int ranks;

	MPI_Comm_size(all, &ranks);
	good = fwrite(row(g, g->now, 0), bytes, (size_t)g->rows, f) == (size_t)g->rows && good;
	rows = need(malloc(((size_t)g->n / (size_t)ranks + 1) * bytes));
	for (int k = 1; k < ranks; k++) {
		int n = first_row(g->n, k + 1, ranks) - first_row(g->n, k, ranks);

		MPI_Recv(rows, n * g->n, MPI_DOUBLE, k, 3, all, MPI_STATUS_IGNORE);
		good = good && fwrite(rows, bytes, (size_t)n, f) == (size_t)n;
	}
	free(rows);
	return good && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

void grid_save(const struct grid *g, MPI_Comm all, int step, const char *path)
{
	char fresh[PATH_MAX];
	bool good;
	FILE *f;
	int rank;

	MPI_Comm_rank(all, &rank);
	if (rank > 0) {
		MPI_Send(row(g, g->now, 0), g->rows * g->n, MPI_DOUBLE, 0, 3, all);
		return;
	}
	snprintf(fresh, sizeof fresh, "%s.new", path);
	if ((f = fopen(fresh, "wb")) == NULL)
		fail("%s: %s", fresh, strerror(errno));
	good = write_all(g, all, step, f);
	if (fclose(f) != 0 || !good || rename(fresh, path) != 0)
		fail("%s can't be written: %s", fresh, strerror(errno));
}

int grid_load(struct grid *g, const char *path)
{
	struct head head;
	size_t bytes = (size_t)g->n * sizeof(double);
	FILE *f = fopen(path, "rb");

	if (f == NULL && errno == ENOENT)
		return 0;
	if (f == NULL || fread(&head, sizeof head, 1, f) != 1)
		fail("%s can't be read", path);
	if (head.n != g->n)
		fail("%s has %d rows, not %d", path, head.n, g->n);
	if (fseeko(f, (off_t)((size_t)g->first * bytes), SEEK_CUR) != 0 ||
	    fread(row(g, g->now, 0), bytes, (size_t)g->rows, f) != (size_t)g->rows)
		fail("%s ends too early", path);
	fclose(f);
	return head.step;
}

void grid_free(struct grid *g)
{
	free(g->now);
	free(g->next);
	g->now = g->next = NULL;
}
