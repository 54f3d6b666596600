/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The question of nodeset.Table.Scan, put to Slurm's bit strings. Compiled and run by
 * the command benchmarks/cmd/tables against the Slurm that is installed.
 *
 * First come, as text, the number of nodes, the cores of a node in all, and g and k of
 * the query; then for each node whether it may be used, its free cores and free GPUs.
 * After that a line is one of
 *
 *	c TIMES	count the nodes that suit: bit_copybits, bit_and, bit_set_count
 *	r TIMES	find their runs and count the free cores of each
 *	p	print the runs of the last r: FIRST LAST CORES, and a line "end"
 *
 * c and r are answered by the nanoseconds taken and the number of nodes or runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/common/bitstring.h"

struct run {
	int first, last, cores;
};

static int nodes, width; /* width: bits of a node in cores */
static bitstr_t *usable; /* nodes that may be used */
static bitstr_t *gpus;	 /* nodes with g free GPUs */
static bitstr_t *enough; /* nodes with k free cores */
static bitstr_t *cores;	 /* free cores, as Slurm's selection keeps them */
static bitstr_t *suit;
static struct run *runs;

static void die(const char *what)
{
	fprintf(stderr, "scan: %s\n", what);
	exit(1);
}

static void find_suiting(void)
{
	bit_copybits(suit, usable);
	bit_and(suit, gpus);
	bit_and(suit, enough);
}

static long count(void)
{
	find_suiting();
	return bit_set_count(suit);
}

/* Node by node from the first to the last, as job_test.c does: bit strings can't be
 * asked for the next bit from some bit on. */
static long find_runs(void)
{
	long found = 0;
	int open = 0;

	find_suiting();
	int first = bit_ffs(suit), last = bit_fls(suit);
	if (first < 0)
		return 0;
	for (int n = first; n <= last; n++) {
		if (!bit_test(suit, n)) {
			open = 0;
			continue;
		}
		if (!open)
			runs[found++].first = n;
		open = 1;
		runs[found - 1].last = n;
	}
	for (struct run *r = runs; r < runs + found; r++)
		r->cores = bit_set_count_range(cores, r->first * width, (r->last + 1) * width);
	return found;
}

static void read_machine(void)
{
	int g, k;

	if (scanf("%d %d %d %d", &nodes, &width, &g, &k) != 4 || nodes < 1 || nodes > 1 << 20 || width < 1 || width > 256)
		die("bad machine");
	usable = bit_alloc(nodes);
	gpus = bit_alloc(nodes);
	enough = bit_alloc(nodes);
	suit = bit_alloc(nodes);
	cores = bit_alloc((bitoff_t)nodes * width);
	runs = calloc(nodes, sizeof(*runs));
	if (!runs)
		die("no memory");
	for (int n = 0; n < nodes; n++) {
		int up, c, gpu;
		if (scanf("%d %d %d", &up, &c, &gpu) != 3 || c < 0 || c > width)
			die("bad node");
		if (up)
			bit_set(usable, n);
		if (gpu >= g)
			bit_set(gpus, n);
		if (c >= k)
			bit_set(enough, n);
		if (c)
			bit_nset(cores, (bitoff_t)n * width, (bitoff_t)n * width + c - 1);
	}
}

static void timed(long (*what)(void))
{
	struct timespec begin, end;
	long times, answer = 0;

	if (scanf("%ld", &times) != 1)
		die("how many times?");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < times; i++)
		answer = what();
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%lld %ld\n", (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec), answer);
}

static void print(void)
{
	long found = find_runs();
	for (struct run *r = runs; r < runs + found; r++)
		printf("%d %d %d\n", r->first, r->last, r->cores);
	printf("end\n");
}

int main(void)
{
	char command;

	read_machine();
	while (scanf(" %c", &command) == 1) {
		switch (command) {
		case 'c':
			timed(count);
			break;
		case 'r':
			timed(find_runs);
			break;
		case 'p':
			print();
			break;
		default:
			die("unknown command");
		}
		fflush(stdout);
	}
	return 0;
}
