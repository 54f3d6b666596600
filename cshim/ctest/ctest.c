/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tests of libaucsched through its header alone. Prints what fails and exits with 1.
 * With the argument "sanitized", bounds on memory allow for the sanitizer's own.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aucsched.h"
#include "record.h"

#define MAX_NODES 300
#define MAX_JOBS 60

static int failures;

static void fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	if (++failures > 20)
		exit(1);
}

#define EXPECT(condition)                                              \
	do {                                                           \
		if (!(condition))                                      \
			fail(__FILE__, __LINE__, "not so: %s", #condition); \
	} while (0)

/* xorshift64*: the same numbers everywhere. */
static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717u;
}

static uint32_t below(uint32_t n) { return n ? (uint32_t)(next() >> 33) % n : 0; }

static long resident(void)
{
	long pages = 0, all = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%ld %ld", &all, &pages) != 2)
		pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static int64_t must_open(const char *settings)
{
	char err[200];
	int64_t h = aucsched_open(settings, err, sizeof err);

	if (h <= 0) {
		fprintf(stderr, "aucsched_open(%s): %s\n", settings, err);
		exit(1);
	}
	return h;
}

/* A window, in arrays of its own size, so that the sanitizer sees reads beyond them. */
struct window {
	struct aucsched_input in;
	struct aucsched_node *nodes;
	struct aucsched_running *running;
	struct aucsched_segment *segments;
	struct aucsched_job *jobs;
	struct aucsched_alternative *others;
	struct aucsched_store *stores;
	struct aucsched_read *job_reads, *running_reads;
	uint64_t *masks;
	uint32_t *sizes;
	struct aucsched_shared_gpu *shared;
};

static void *array(size_t n, size_t size)
{
	void *p = malloc(n * size > 0 ? n * size : 1);

	if (p == NULL)
		abort();
	memset(p, 0, n * size);
	return p;
}

static void allocate(struct window *w, uint32_t nodes, uint32_t running, uint32_t segments, uint32_t jobs, uint32_t masks)
{
	memset(w, 0, sizeof *w);
	w->in.abi = AUCSCHED_ABI;
	w->in.size = sizeof w->in;
	w->in.nodes_len = nodes;
	w->in.running_len = running;
	w->in.running_segments_len = segments;
	w->in.jobs_len = jobs;
	w->in.masks_len = masks;
	w->in.mask_words = (nodes + 63) / 64;
	w->in.nodes = w->nodes = array(nodes, sizeof *w->nodes);
	w->in.running = w->running = array(running, sizeof *w->running);
	w->in.running_segments = w->segments = array(segments, sizeof *w->segments);
	w->in.jobs = w->jobs = array(jobs, sizeof *w->jobs);
	w->in.masks = w->masks = array((size_t)masks * w->in.mask_words, sizeof *w->masks);
}

static void release(struct window *w)
{
	free(w->nodes);
	free(w->running);
	free(w->segments);
	free(w->jobs);
	free(w->others);
	free(w->stores);
	free(w->job_reads);
	free(w->running_reads);
	free(w->masks);
	free(w->sizes);
	free(w->shared);
}

static int by_priority(const void *a, const void *b)
{
	uint64_t p = ((const struct aucsched_job *)a)->priority, q = ((const struct aucsched_job *)b)->priority;

	return p < q ? 1 : p > q ? -1 : 0;
}

static void random_job(struct aucsched_job *j, uint32_t nodes, uint32_t cores, uint32_t gpus)
{
	uint32_t most = below(nodes / 4 + 1) + 1;

	j->priority = next() % ((uint64_t)1 << 32) + 1;
	j->time_limit = below(20) == 0 ? AUCSCHED_NO_LIMIT : below(3000) + 1;
	j->waited = below(100000);
	j->min_gpus = (uint8_t)below(gpus + 1);
	j->max_gpus = (uint8_t)(j->min_gpus + below(gpus + 1 - j->min_gpus));
	j->flags = below(6) == 0 ? AUCSCHED_CONTIGUOUS : 0;
	j->mask = (int32_t)below(3) - 1;
	switch (below(3)) {
	case 0:
		j->cores = below(cores * most) + 1;
		break;
	case 1:
		j->min_nodes = below(most) + 1;
		j->max_nodes = j->min_nodes + below(3);
		j->cores = j->min_nodes + below(j->min_nodes * cores);
		break;
	default:
		j->cores_per_node = below(cores) + 1;
		j->cores = j->cores_per_node * most;
	}
}

/* Every third job has 1 to 3 alternatives. */
static void random_others(struct window *w, uint32_t nodes, uint32_t cores, uint32_t gpus)
{
	uint32_t of[MAX_JOBS], len = 0;

	for (uint32_t j = 0; j < w->in.jobs_len; j++)
		len += of[j] = below(3) == 0 ? below(3) + 1 : 0;
	w->in.alternatives_len = len;
	w->in.alternatives = w->others = array(len, sizeof *w->others);
	len = 0;
	for (uint32_t j = 0; j < w->in.jobs_len; j++) {
		while (of[j]-- > 0) {
			struct aucsched_job a = {0};

			random_job(&a, nodes, cores, gpus);
			w->others[len++] = (struct aucsched_alternative){.job = j, .cores = a.cores, .min_nodes = a.min_nodes, .max_nodes = a.max_nodes,
				.cores_per_node = a.cores_per_node, .min_gpus = a.min_gpus, .max_gpus = a.max_gpus, .flags = a.flags, .mask = a.mask};
		}
	}
}

static struct aucsched_read *random_reads(uint32_t jobs)
{
	struct aucsched_read *reads = array(jobs, sizeof *reads);

	for (uint32_t j = 0; j < jobs; j++)
		reads[j] = (struct aucsched_read){.job = j, .file = below(9) + 1, .bytes = below(60) + 1};
	return reads;
}

/* Of half of the windows the jobs read files. */
static void random_files(struct window *w)
{
	if (below(2) == 0)
		return;
	w->in.stores_len = w->in.nodes_len;
	w->in.stores = w->stores = array(w->in.nodes_len, sizeof *w->stores);
	for (uint32_t n = 0; n < w->in.nodes_len; n++)
		w->stores[n] = (struct aucsched_store){.id = n + 1, .bytes = below(100)};
	w->in.job_reads_len = w->in.jobs_len;
	w->in.job_reads = w->job_reads = random_reads(w->in.jobs_len);
	w->in.running_reads_len = w->in.running_len;
	w->in.running_reads = w->running_reads = random_reads(w->in.running_len);
}

/* Jobs that want shares of GPUs, of which some are in shared use already, by nobody that is known. */
static void random_shares(struct window *w)
{
	w->in.share_sizes_len = w->in.nodes_len;
	w->in.share_sizes = w->sizes = array(w->in.nodes_len, sizeof *w->sizes);
	w->in.shared_gpus = w->shared = array(w->in.nodes_len, sizeof *w->shared);
	for (uint32_t n = 0; n < w->in.nodes_len; n++) {
		w->sizes[n] = below(6);
		if (w->sizes[n] == 0 || w->nodes[n].free_gpus == 0 || below(2) == 0)
			continue;
		w->nodes[n].free_gpus--;
		w->shared[w->in.shared_gpus_len++] = (struct aucsched_shared_gpu){.node = n, .free = below(w->sizes[n]), .bin = (uint8_t)(below(2 * w->nodes[n].gpus) + 1)};
	}
	for (uint32_t j = 0; j < w->in.jobs_len; j++)
		if (below(2) == 0)
			w->jobs[j] = (struct aucsched_job){.priority = w->jobs[j].priority, .cores = below(4), .max_nodes = 1, .time_limit = 60, .mask = -1, .share = below(5) + 1};
	for (uint32_t k = 0; k < w->in.alternatives_len; k++)
		if (below(3) == 0)
			w->others[k] = (struct aucsched_alternative){.job = w->others[k].job, .cores = below(2), .max_nodes = 1, .mask = -1, .share = below(5) + 1};
}

static void random_prices(struct window *w)
{
	for (uint32_t r = 0; r < w->in.running_len; r++)
		if (below(4) > 0)
			w->running[r].price = next() >> 33, w->running[r].preempt_class = (uint8_t)below(64);
	for (uint32_t j = 0; j < w->in.jobs_len; j++)
		w->jobs[j].preempts = below(2) == 0 ? next() | next() : 0;
}

static void random_window(struct window *w)
{
	uint32_t nodes = below(MAX_NODES) + 1, jobs = below(MAX_JOBS + 1), cores = below(40) + 1, gpus = below(5);
	uint32_t running = below(10);

	allocate(w, nodes, running, running, jobs, 2);
	w->in.now = (int64_t)next();
	w->in.seed = next();
	for (uint32_t n = 0; n < nodes; n++) {
		w->nodes[n].cores = w->nodes[n].free_cores = (uint16_t)cores;
		w->nodes[n].gpus = w->nodes[n].free_gpus = (uint8_t)gpus;
		w->nodes[n].up = below(30) != 0;
	}
	for (uint32_t r = 0; r < running; r++) { /* one after the other, so that they can't overlap */
		struct aucsched_segment *s = &w->segments[r];

		s->first = nodes * r / running;
		s->last = nodes * (r + 1) / running;
		if (s->first >= s->last) {
			w->running[r].segments = 0;
			continue;
		}
		s->last--;
		s->cores = (uint16_t)(below(cores) + 1);
		s->gpus = (uint8_t)below(gpus + 1);
		w->running[r].end = w->in.now + (w->in.now < INT64_MAX - 5000 ? (int64_t)below(5000) : 0);
		w->running[r].first_segment = r;
		w->running[r].segments = 1;
		for (uint32_t n = s->first; n <= s->last; n++) {
			w->nodes[n].free_cores = (uint16_t)(w->nodes[n].free_cores - s->cores);
			w->nodes[n].free_gpus = (uint8_t)(w->nodes[n].free_gpus - s->gpus);
		}
	}
	for (uint32_t i = 0; i < 2 * w->in.mask_words; i++)
		w->masks[i] = next() | next();
	for (uint32_t j = 0; j < jobs; j++)
		random_job(&w->jobs[j], nodes, cores, gpus);
	qsort(w->jobs, jobs, sizeof *w->jobs, by_priority);
	random_others(w, nodes, cores, gpus);
	random_files(w);
	switch (below(3)) {
	case 0: random_shares(w); break;
	case 1: random_prices(w);
	}
}

/* A window that no cycle can prove soon. */
static void hard_window(struct window *w)
{
	allocate(w, MAX_NODES, 0, 0, MAX_JOBS, 0);
	w->in.deadline_us = 150000;
	for (uint32_t n = 0; n < MAX_NODES; n++)
		w->nodes[n] = (struct aucsched_node){.cores = 16, .free_cores = (uint16_t)(below(16) + 1), .gpus = 2, .free_gpus = (uint8_t)below(3), .up = 1};
	for (uint32_t j = 0; j < MAX_JOBS; j++)
		w->jobs[j] = (struct aucsched_job){.priority = 1000 - j, .cores = 40 + 13 * below(9), .min_nodes = 10, .time_limit = 50, .min_gpus = (uint8_t)(j % 2), .max_gpus = 2, .mask = -1};
}

/* Job i with the request that was met; 0 if there is none of that number. */
static int asked(const struct window *w, uint32_t i, uint32_t number, struct aucsched_job *j)
{
	*j = w->jobs[i];
	for (uint32_t k = 0; number > 0 && k < w->in.alternatives_len; k++) {
		const struct aucsched_alternative *a = &w->others[k];

		if (a->job != i || --number > 0)
			continue;
		j->cores = a->cores, j->min_nodes = a->min_nodes, j->max_nodes = a->max_nodes, j->cores_per_node = a->cores_per_node;
		j->min_gpus = a->min_gpus, j->max_gpus = a->max_gpus, j->flags = a->flags, j->share = a->share;
		j->mask = a->mask >= 0 ? a->mask : j->mask;
	}
	return number == 0;
}

/* What is free for a start on node n: what nobody has, and what those have that it waits for. */
static void free_for(const struct window *w, const struct aucsched_decision *d, const struct aucsched_output *out, uint32_t n, uint32_t *cores, uint32_t *gpus)
{
	*cores = w->nodes[n].free_cores, *gpus = w->nodes[n].free_gpus;
	for (uint32_t k = 0; k < d->victims; k++) {
		const struct aucsched_running *r = &w->running[out->victims[d->first_victim + k]];

		for (uint32_t i = r->first_segment; i < r->first_segment + r->segments; i++)
			if (w->segments[i].first <= n && n <= w->segments[i].last)
				*cores += w->segments[i].cores, *gpus += w->segments[i].gpus;
	}
}

/* Running jobs that end for job i have a price, and are of a class that it may preempt. */
static int check_victims(const struct window *w, uint32_t i, const struct aucsched_output *out, uint8_t *ends)
{
	const struct aucsched_decision *d = &out->decisions[i];

	if (d->victims > 0 && (d->why != AUCSCHED_STARTS || w->in.share_sizes_len > 0))
		return 0;
	if ((uint64_t)d->first_victim + d->victims > out->victims_len)
		return 0;
	for (uint32_t k = 0; k < d->victims; k++) {
		uint32_t r = out->victims[d->first_victim + k];

		if (r >= w->in.running_len || w->running[r].price == 0 || !(w->jobs[i].preempts >> w->running[r].preempt_class & 1))
			return 0;
		if (k > 0 && out->victims[d->first_victim + k - 1] >= r)
			return 0;
		ends[r] = 1;
	}
	return 1;
}

/* A share on a GPU: taken is by node and bin; one that begins to be shared is one of gpus. */
static int check_share(const struct window *w, const struct aucsched_segment *s, uint32_t share, uint32_t *gpus)
{
	static uint32_t taken[MAX_NODES][32];
	uint32_t free = w->sizes[s->first], in_use = 0, *sum = &taken[s->first][s->bin & 31];

	if (share == 0) { /* a new check */
		memset(taken, 0, sizeof taken);
		return 1;
	}
	for (uint32_t k = 0; k < w->in.shared_gpus_len; k++)
		if (w->shared[k].node == s->first && w->shared[k].bin == s->bin)
			free = w->shared[k].free, in_use = 1;
	gpus[s->first] += !in_use && *sum == 0;
	*sum += share;
	return s->bin > 0 && s->bin <= 2 * w->nodes[s->first].gpus && s->first == s->last && s->gpus == 0 && *sum <= free;
}

/* The referee: counts node by node. */
static int check_job(const struct window *w, uint32_t i, const struct aucsched_output *out, uint32_t *cores, uint32_t *gpus)
{
	const struct aucsched_decision *d = &out->decisions[i];
	struct aucsched_job request, *j = &request;
	uint64_t sum = 0, count = 0, next_node = 0;

	if ((d->holders != 0 && (w->in.job_reads_len == 0 || d->why != AUCSCHED_STARTS)) || d->why > AUCSCHED_WAITS_QUOTA || !asked(w, i, d->alternative, j))
		return 0;
	if (d->why != AUCSCHED_STARTS)
		return d->segments == 0 && d->alternative == 0 && d->bid_class == 0 && (d->expected == 0 || d->why == AUCSCHED_WAITS_RESERVED || d->why == AUCSCHED_WAITS_QUOTA);
	if (((d->bid_class < 'A' || d->bid_class > 'C') && d->bid_class != 'I') || d->gpus < j->min_gpus || d->gpus > j->max_gpus ||
	    (uint64_t)d->first_segment + d->segments > out->segments_len)
		return 0;
	for (uint32_t k = 0; k < d->segments; k++) {
		const struct aucsched_segment *s = &out->segments[d->first_segment + k];

		if (s->first < next_node || s->last < s->first || s->last >= w->in.nodes_len || (s->cores == 0) != (j->cores == 0) || s->gpus != d->gpus || (s->bin == 0) != (j->share == 0))
			return 0;
		if (j->share > 0 && !check_share(w, s, j->share, gpus))
			return 0;
		if ((j->flags & AUCSCHED_CONTIGUOUS) && count > 0 && s->first != next_node)
			return 0;
		for (uint32_t n = s->first; n <= s->last; n++) {
			if (!w->nodes[n].up || (j->cores_per_node && s->cores != j->cores_per_node))
				return 0;
			if (j->mask >= 0 && !(w->masks[(uint32_t)j->mask * w->in.mask_words + n / 64] >> n % 64 & 1))
				return 0;
			uint32_t free_cores, free_gpus;

			free_for(w, d, out, n, &free_cores, &free_gpus);
			if (out->preempted > 0) { /* the library has looked at who has what of whom: here each by itself */
				if (s->cores > free_cores || s->gpus > free_gpus)
					return 0;
			} else {
				cores[n] += s->cores;
				gpus[n] += s->gpus;
			}
			if (cores[n] > free_cores || gpus[n] > free_gpus)
				return 0;
			sum += s->cores;
			count++;
		}
		next_node = (uint64_t)s->last + 1;
	}
	return sum == j->cores && count >= j->min_nodes && (j->max_nodes == 0 || count <= j->max_nodes);
}

static int check(const struct window *w, const struct aucsched_output *out)
{
	static uint32_t cores[MAX_NODES], gpus[MAX_NODES];
	static uint8_t ends[MAX_NODES];
	static const struct aucsched_segment none;
	uint32_t starts = 0, preempted = 0;

	memset(ends, 0, sizeof ends);
	if (w->in.share_sizes_len > 0)
		check_share(w, &none, 0, NULL);
	memset(cores, 0, sizeof cores);
	memset(gpus, 0, sizeof gpus);
	if (out->decisions_len != w->in.jobs_len || out->objective > out->bound)
		return 0;
	for (uint32_t i = 0; i < out->decisions_len; i++) {
		if (!check_victims(w, i, out, ends) || !check_job(w, i, out, cores, gpus))
			return 0;
		starts += out->decisions[i].why == AUCSCHED_STARTS;
	}
	for (uint32_t r = 0; r < w->in.running_len; r++)
		preempted += ends[r];
	return starts == out->starts && preempted == out->preempted;
}

static void prepare(struct aucsched_output *out)
{
	memset(out, 0xaa, sizeof *out);
	out->abi = AUCSCHED_ABI;
	out->size = sizeof *out;
}

static int cycle(int64_t h, const struct window *w, struct aucsched_output *out)
{
	prepare(out);
	return aucsched_cycle(h, &w->in, out);
}

static const char *last_error(int64_t h)
{
	static char text[400];

	aucsched_last_error(h, text, sizeof text);
	return text;
}

static void test_version(void)
{
	EXPECT(aucsched_abi() == AUCSCHED_ABI);
	EXPECT(aucsched_version() != NULL && aucsched_version()[0] >= '0' && aucsched_version()[0] <= '9');
	EXPECT(aucsched_version() == aucsched_version());
	EXPECT(aucsched_handles() == 0);
}

/* The file of shadow mode: a run of a job, and a look at the machine. */
static void test_shadow(void)
{
	char path[] = "/tmp/aucsched-ctestXXXXXX", text[4096] = "";
	struct aucsched_node nodes[] = {{.cores = 4, .free_cores = 1, .up = 1}};
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .now = 100, .nodes_len = 1, .nodes = nodes};
	struct aucsched_run run = {.job = 7, .task = AUCSCHED_NO_JOB, .user = 5, .partition = "p", .state = "FAILED", .end = 40,
				   .slurm = {.time = 30, .nodes = "n1", .cpus = 3}, .before = AUCSCHED_WAITS_LOST + 1};
	struct aucsched_shadow shadow = {.path = path, .slurm = "22.05.8", .settings = "", .limit = 1 << 20, .mode = 0600, .interval = 3,
					 .in = &in, .runs = &run, .runs_len = 1};
	int64_t h = must_open(NULL);
	FILE *file;
	int fd = mkstemp(path);

	EXPECT(fd >= 0);
	EXPECT(aucsched_shadow(h, &shadow) == AUCSCHED_OK);
	file = fdopen(fd, "r");
	EXPECT(fread(text, 1, sizeof text - 1, file) > 0);
	EXPECT(strstr(text, "{\"job\":7,\"user\":5,") != NULL && strstr(text, "\"nodes\":\"n1\",\"before\":\"lost\"}") != NULL);
	EXPECT(strstr(text, "{\"sample\":100,") != NULL && strstr(text, "\"cores\":4,\"cores_used\":3,") != NULL);
	fclose(file);
	unlink(path);
	shadow.path = "/nonexistent/x";
	EXPECT(aucsched_shadow(h, &shadow) == AUCSCHED_EFAILED && strstr(last_error(h), "no such file") != NULL);
	shadow.runs = NULL;
	EXPECT(aucsched_shadow(h, &shadow) == AUCSCHED_EINVAL);
	EXPECT(aucsched_shadow(h, NULL) == AUCSCHED_EINVAL);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* Two running jobs, of which the one that has run longer is dearer. */
static void test_price(void)
{
	struct aucsched_node nodes[] = {{.cores = 8, .up = 1}};
	struct aucsched_segment segments[] = {{.cores = 4}, {.cores = 4}};
	struct aucsched_running running[] = {{.end = 90, .segments = 1}, {.end = 90, .first_segment = 1, .segments = 1}};
	struct aucsched_job job = {.priority = 1000, .cores = 4, .time_limit = 10, .mask = -1, .preempts = 1};
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .nodes_len = 1, .nodes = nodes, .running_len = 2, .running = running,
				    .running_segments_len = 2, .running_segments = segments, .jobs_len = 1, .jobs = &job};
	struct aucsched_stake stakes[] = {{.running = 0, .answers = 1, .cores = 4, .ran = 5}, {.running = 1, .answers = 1, .cores = 4, .ran = 500}};

	struct aucsched_preference preferences[1] = {{0}};
	struct aucsched_output out = {.abi = AUCSCHED_ABI, .size = sizeof out};
	int64_t h = must_open("");

	in.preferences = preferences, in.stakes = stakes;
	in.preferences_len = 1, in.stakes_len = 2;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.shift == 30 && out.victims_len == 1 && out.victims[0] == 0);
	EXPECT(job.priority == 1000 && running[0].price == 0 && job.preempts == 1); /* they are the caller's */
	stakes[0].ran = 5000;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.victims_len == 1 && out.victims[0] == 1);
	in.stakes_len = 0;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.shift == 0 && out.victims_len == 0);
	in.stakes_len = 2, stakes[1].running = 2;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "stakes") != NULL);
	in.preferences_len = 0;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "preferences") != NULL);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* The figures as JSON, whatever is in them. */
static void test_status(void)
{
	struct aucsched_left left[] = {{"gres", 3}, {NULL, 1}};
	struct aucsched_status s = {.state = "on", .state_text = "a\"b\n", .interval = 3, .queue = 4, .left = left, .left_len = 2,
				    .misses = {.of = {{"busy", 5}}, .len = 1},
				    .cycle_us = {.last = 2, .max = 7, .sum = 9, .count = 2}};
	/* Two jobs for a place: one loses. */
	struct aucsched_node node = {.cores = 4, .free_cores = 4, .up = 1};
	struct aucsched_job jobs[] = {{.priority = 8, .cores = 4, .time_limit = 9, .mask = -1}, {.priority = 4, .cores = 4, .time_limit = 9, .mask = -1}};
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .now = 100, .nodes_len = 1, .nodes = &node, .jobs_len = 2, .jobs = jobs};
	struct aucsched_output out;
	int64_t h = must_open("preset=none reservations=0");
	char buf[4096];
	size_t len;

	EXPECT(aucsched_status(h, &s, buf, sizeof buf) == AUCSCHED_OK);
	EXPECT(strstr(buf, "\"state_text\":\"a\\\"b\\n\"") != NULL && strstr(buf, "\"interval_s\":3,") != NULL);
	EXPECT(strstr(buf, "\"handed\":{\"\":1,\"gres\":3}") != NULL && strstr(buf, "\"missed\":{\"busy\":5}") != NULL);
	EXPECT(strstr(buf, "\"cycle_us\":{\"last\":2,\"mean\":5,\"max\":7,\"sum\":9,\"count\":2}") != NULL);
	EXPECT(strstr(buf, "\"lost\":0,") != NULL && strstr(buf, "\"objective\":0,") != NULL && strstr(buf, "\"window\":0}") != NULL);
	EXPECT(strstr(buf, "\"files\"") == NULL);
	len = strlen(buf);
	EXPECT(aucsched_status(h, &s, buf, len) == AUCSCHED_EINVAL);
	EXPECT(aucsched_status(h, &s, buf, len + 1) == AUCSCHED_OK);
	s.locality = 1;
	EXPECT(aucsched_status(h, &s, buf, sizeof buf) == AUCSCHED_OK && strstr(buf, "\"files\":{\"copies\":0,") != NULL);
	EXPECT(aucsched_status(h, NULL, buf, sizeof buf) == AUCSCHED_EINVAL);
	for (in.jobs_len = 2; in.jobs_len + 2 > 2; in.jobs_len -= 2) { /* one without jobs tells nothing else */
		prepare(&out);
		EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK);
		EXPECT(aucsched_status(h, &s, buf, sizeof buf) == AUCSCHED_OK && strstr(buf, "\"lost\":1,") != NULL);
		EXPECT(strstr(buf, "\"objective\":9,") != NULL && strstr(buf, "\"window\":2}") != NULL);
	}
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* Cycles in a file, as record.h has them: the settings but for record=, then the input and what was answered. */
static void test_record(void)
{
	char path[] = "/tmp/aucsched-ctestXXXXXX", settings[200], magic[9] = "", words[64] = "";
	struct aucsched_node nodes[] = {{.cores = 4, .free_cores = 4, .up = 1}};
	struct aucsched_job job = {.priority = 1, .cores = 2, .time_limit = 10, .mask = -1};
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .now = 5, .nodes_len = 1, .nodes = nodes, .jobs_len = 1, .jobs = &job}, was;
	struct aucsched_output out, answered;
	struct aucsched_decision decision;
	uint32_t kind;
	uint64_t bytes;
	FILE *file = fdopen(mkstemp(path), "r");
	int64_t h;

	snprintf(settings, sizeof settings, "depth=7 record=%s window=9", path);
	h = must_open(settings);
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.starts == 1 && !out.unrecorded);
	EXPECT(fread(magic, 8, 1, file) == 1 && !strcmp(magic, AUCSCHED_RECORD_MAGIC));
	EXPECT(fread(&kind, 4, 1, file) == 1 && kind == 'S' && fread(&bytes, 8, 1, file) == 1 && bytes < sizeof words);
	EXPECT(fread(words, bytes, 1, file) == 1 && !strcmp(words, "depth=7 window=9"));
	EXPECT(fread(&kind, 4, 1, file) == 1 && kind == 'C' && fread(&bytes, 8, 1, file) == 1);
	EXPECT(bytes == sizeof in + sizeof nodes + sizeof job + sizeof out + sizeof decision + out.segments_len * sizeof *out.segments);
	EXPECT(fread(&was, sizeof was, 1, file) == 1 && was.now == 5 && fread(nodes, sizeof nodes, 1, file) == 1 && nodes[0].cores == 4);
	EXPECT(fread(&job, sizeof job, 1, file) == 1 && job.cores == 2 && fread(&answered, sizeof answered, 1, file) == 1);
	EXPECT(answered.starts == 1 && fread(&decision, sizeof decision, 1, file) == 1 && decision.segments == 1);
	fclose(file);
	unlink(path);
	EXPECT(aucsched_configure(h, "record=/nonexistent/x") == AUCSCHED_OK);
	for (int i = 0; i < 2; i++) { /* it is told once */
		prepare(&out);
		EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.starts == 1 && out.unrecorded == !i);
		EXPECT(i || strstr(last_error(h), "/nonexistent/x") != NULL);
	}
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* What the plug-ins are told of SchedulerParameters, in a buffer of any size. */
static void test_parameters(void)
{
	const char *text = "defer,auc_interval=7,auc_status=/s,auc_partitions=a,b,auc_mode=odd,auc_work=5,auc_objective=size";
	struct aucsched_settings s;
	char buf[512];

	EXPECT(aucsched_settings(text, &s, buf, sizeof buf) == AUCSCHED_OK);
	EXPECT(s.enabled == 0 && s.interval == 7 && s.shadow == 0 && s.limit == 700); /* for the wrong mode */
	EXPECT(!strcmp(s.engine, "objective=size deadline_ms=500") && !strcmp(s.status, "/s") && !strcmp(s.partitions, "a,b"));
	EXPECT(!strncmp(s.said, "!auc_mode=odd: must be on, shadow", 32) && strstr(s.said, "\nauc_work has no effect any more") != NULL);
	for (size_t len = 0; len < sizeof buf; len++) {
		int rc;

		memset(buf, 'x', sizeof buf);
		rc = aucsched_settings(text, &s, buf, len);
		EXPECT(buf[len] == 'x' && (rc ? rc == AUCSCHED_EINVAL && len < 48 : !strcmp(s.partitions, "a,b") && strlen(s.said) < len));
	}
	EXPECT(aucsched_settings(NULL, &s, buf, sizeof buf) == AUCSCHED_OK && s.said == NULL && s.net_s == 60);
}

/* The note of a script's alternatives, and where nodes stand. */
static void test_texts(void)
{
	struct aucsched_submission_answer a;
	struct aucsched_numbers numbers = {.min_nodes = 1, .asked_nodes = 1, .min_cpus = 1, .threads = 1, .switches = 2};
	struct aucsched_shape shape;
	int64_t h = must_open("");
	char buf[512];
#define SUBMISSION(...) aucsched_submission(&(struct aucsched_submission){__VA_ARGS__}, &a, buf, sizeof buf)

	EXPECT(SUBMISSION(.script = "#AUCSCHED --alternative -n2 --gres=gpu:a:1\n", .nodes = "2 b 2\n4 a 4\n", .admin_comment = "x") == AUCSCHED_OK);
	EXPECT(!strcmp(a.admin_comment, "x;auc:alt=n2,N1-0,gpu:a:1-1") && a.gres == NULL && a.comment == NULL && a.job_comment == NULL && a.socket == NULL);
	EXPECT(SUBMISSION(.gres = "gres:gpu:a:1-3,x:1", .nodes = "4 a 4\n") == AUCSCHED_OK && a.gpus.low == 1 && a.gpus.high == 3 && !strcmp(a.gpus.type, "a"));
	EXPECT(!strcmp(a.gres, "gres:gpu:a:1,x:1") && !strcmp(a.admin_comment, "auc:gpu=a:1-3"));
	EXPECT(SUBMISSION(.gres = "gpu:3-1", .nodes = "4 a 4\n") == AUCSCHED_EINVAL && a.wrong_gres && !strncmp(buf, "gpu:3-1: the range ends below its beginning (", 45) && a.gpus.high == 0);
	EXPECT(SUBMISSION(.settings = "auc_gpu_ranges=no", .gres = "gpu:1-3", .nodes = "4\n") == AUCSCHED_EINVAL && a.wrong_gres);
	EXPECT(SUBMISSION(.settings = "auc_gpu_ranges=no", .gres = "gpu:v100-pcie", .nodes = "4 v100-pcie 4") == AUCSCHED_OK && a.gpus.high == 0);
	EXPECT(SUBMISSION(0) == AUCSCHED_OK && a.gpus.high == 0 && a.gpus.type[0] == '\0' && a.admin_comment == NULL && !a.wrong_gres);
	EXPECT(SUBMISSION(.script = "#AUCSCHED -n2") == AUCSCHED_EINVAL && !strncmp(buf, "#AUCSCHED in script line 1: -n2: ", 33) && !a.wrong_gres);
	EXPECT(SUBMISSION(.settings = "auc_alternatives=no", .script = "#AUCSCHED --alternative -n2") == AUCSCHED_EINVAL);
	EXPECT(SUBMISSION(.settings = "auc_locality=yes", .comment = "input=x") == AUCSCHED_EINVAL && strstr(buf, "must be PATH:SIZE"));
	EXPECT(SUBMISSION(.comment = "auc:gpu=1-2", .gres_prefix = "gres/", .nodes = "4\n") == AUCSCHED_OK && a.comment[0] == '\0' && !strcmp(a.gres, "gres/gpu:1"));
	EXPECT(aucsched_submission(&(struct aucsched_submission){.gres = "gpu:1-2", .nodes = "4\n"}, &a, buf, 8) == AUCSCHED_EINVAL && !strcmp(buf, "call: a"));
	EXPECT(aucsched_topology(h, "n1 top.a.n1 switch.switch.node\n\nn3 top.b.n3\n", 3, NULL) == AUCSCHED_OK);
	EXPECT(aucsched_shape(h, &numbers, &shape) == AUCSCHED_OK && shape.switches == 2 && shape.within == 0);
	EXPECT(aucsched_topology(h, "n1\nn2\n", 3, NULL) == AUCSCHED_EINVAL);
	EXPECT(aucsched_topology(h, "n1 b0.n1 block.node\n", 1, NULL) == 1);
	EXPECT(aucsched_topology(h, NULL, 0, "x") == AUCSCHED_OK);
	EXPECT(aucsched_shape(h, &numbers, &shape) == AUCSCHED_OK && shape.switches == 0);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

static void test_settings(void)
{
	static const char *bad[] = {"window=0", "odd=1", "window", "solver=auto", "deadline_ms=0", "drafts=4097", "objective=\xff", ",=,", "policy=odd", "paper=yes throughput=yes"};
	char err[200];
	int64_t h = must_open(" window=3,depth=0\tobjective=size ");

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		memset(err, 'x', sizeof err);
		EXPECT(aucsched_open(bad[i], err, sizeof err) == AUCSCHED_EINVAL);
		EXPECT(strncmp(err, "setting ", 8) == 0 && strlen(err) < sizeof err);
		EXPECT(aucsched_configure(h, bad[i]) == AUCSCHED_EINVAL);
		EXPECT(strcmp(last_error(h), err) == 0);
	}
	EXPECT(aucsched_configure(h, NULL) == AUCSCHED_OK);
	EXPECT(aucsched_open("odd=1", NULL, 0) == AUCSCHED_EINVAL);
	EXPECT(aucsched_open("", NULL, 5) == AUCSCHED_EINVAL);
	/* Texts are cut to the buffer, with a NUL, and no further. */
	memset(err, 'x', sizeof err);
	EXPECT(aucsched_open("odd=1", err, 8) == AUCSCHED_EINVAL);
	EXPECT(memcmp(err, "setting\0x", 9) == 0);
	memset(err, 'x', sizeof err);
	EXPECT(aucsched_last_error(h, err, 1) > 20 && err[0] == '\0' && err[1] == 'x');
	EXPECT(aucsched_last_error(h, err, 0) > 20 && err[1] == 'x');
	EXPECT(aucsched_last_error(h, NULL, 9) > 20);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* Every field of the input arrives, and every code and field of the output. */
static void test_fields(void)
{
	int64_t h = must_open("preset=none window=4 depth=0");
	struct window w;
	struct aucsched_output out;
	static const uint8_t why[] = {AUCSCHED_WAITS_NEVER, AUCSCHED_WAITS_RESERVED, AUCSCHED_STARTS, AUCSCHED_WAITS_LOST, AUCSCHED_WAITS_FIT, AUCSCHED_NOT_LOOKED_AT};
	static const uint32_t cores[] = {9, 8, 4, 4, 4, 1};

	allocate(&w, 2, 1, 1, 6, 1);
	w.in.now = 5000000000;
	w.nodes[0] = (struct aucsched_node){.cores = 4, .gpus = 3, .free_gpus = 2, .up = 1};
	w.nodes[1] = (struct aucsched_node){.cores = 4, .free_cores = 4, .gpus = 3, .free_gpus = 3, .up = 1};
	w.running[0] = (struct aucsched_running){.end = 5000000077, .segments = 1};
	w.segments[0] = (struct aucsched_segment){.cores = 4, .gpus = 1};
	w.masks[0] = 3;
	for (uint32_t j = 0; j < 6; j++)
		w.jobs[j] = (struct aucsched_job){.priority = 100 - j, .cores = cores[j], .time_limit = 10};
	w.jobs[2].min_gpus = 1, w.jobs[2].max_gpus = 2;
	w.jobs[3].min_gpus = 1, w.jobs[3].max_gpus = 2;
	w.jobs[4].min_nodes = w.jobs[4].max_nodes = 2;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out));
	for (uint32_t j = 0; j < 6; j++)
		EXPECT(out.decisions[j].why == why[j]);
	EXPECT(out.decisions[1].expected == 5000000077);
	EXPECT(out.decisions[2].bid_class == 'A' && out.decisions[2].gpus == 2);
	EXPECT(out.segments_len == 1 && out.segments[0].first == 1 && out.segments[0].last == 1);
	EXPECT(out.segments[0].cores == 4 && out.segments[0].gpus == 2 && out.segments[0].bin == 0);
	EXPECT(out.starts == 1 && out.window >= 3 && out.bids >= 2 && out.optimal == 1 && out.late == 0);
	EXPECT(out.objective >= 98 && out.bound >= out.objective && out.shift == 0 && out.cycle_us > 0);
	EXPECT(out.unrecorded == 0 && out.reserved == 0);

	w.running[0].end = w.in.now - 9; /* overdue: it may end at any moment, but not now */
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && out.decisions[1].expected == w.in.now + 1);

	/* The seed: equal ones give equal decisions; others make a difference somewhere. */
	EXPECT(aucsched_configure(h, "deadline_ms=60000 work=1000000 reservations=0") == AUCSCHED_OK);
	int differ = 0;
	for (int i = 0; i < 60 && differ == 0; i++) {
		double objective[3] = {0, 0, 0};

		release(&w);
		random_window(&w);
		for (int k = 0; k < 3; k++) {
			w.in.seed = k < 2 ? 1 : 2;
			EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.late == 0);
			objective[k] = out.objective;
		}
		EXPECT(objective[0] == objective[1]);
		differ += objective[1] != objective[2];
	}
	EXPECT(differ > 0);

	/* A deadline of the call's own comes before the handle's. */
	EXPECT(aucsched_configure(h, "deadline_ms=60000 work=0 drafts=0") == AUCSCHED_OK); /* without drafts: not proven at once */
	release(&w);
	hard_window(&w);
	w.in.deadline_us = 500; /* too short for any proof */
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out));
	EXPECT(out.late == 1 && out.cycle_us < 10000000);
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* Two nodes, the second of which holds file 7 after a cycle with a job that reads it there. */
static void test_files(void)
{
	struct aucsched_node nodes[2] = {{.cores = 4, .free_cores = 4, .up = 1}, {.cores = 4, .free_cores = 0, .up = 1}};
	struct aucsched_store stores[2] = {{.id = 11, .bytes = 100}, {.id = 12, .bytes = 100}};
	struct aucsched_segment segment = {.first = 1, .last = 1, .cores = 4};
	struct aucsched_running running = {.end = 90, .segments = 1};
	struct aucsched_read read = {.file = 7, .bytes = 60};
	struct aucsched_job job = {.priority = 1, .cores = 4, .time_limit = 10, .mask = -1};
	struct aucsched_input in = {.abi = AUCSCHED_ABI, .size = sizeof in, .now = 50, .nodes_len = 2, .nodes = nodes, .running_len = 1,
		.running = &running, .running_segments_len = 1, .running_segments = &segment, .stores_len = 2, .stores = stores,
		.running_reads_len = 1, .running_reads = &read};
	struct aucsched_output out;
	char dir[] = "/tmp/aucsched-ctestXXXXXX", path[64], byte;
	int64_t h = must_open(NULL);
	FILE *file;

	EXPECT(mkdtemp(dir) != NULL);
	snprintf(path, sizeof path, "%s/files", dir);
	EXPECT(aucsched_keep_files(h, path, 0) == AUCSCHED_OK); /* nothing is there */
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.files == 1 && out.copies == 1 && out.file_changes > 0);
	EXPECT(aucsched_keep_files(h, NULL, 0) == AUCSCHED_EINVAL && strstr(last_error(h), "path is NULL") != NULL);
	EXPECT(aucsched_keep_files(h, path, 0) == AUCSCHED_OK && access(path, R_OK) == 0);
	unlink(path);
	EXPECT(aucsched_keep_files(h, path, 1) == AUCSCHED_OK && access(path, R_OK) != 0); /* nothing has changed */
	read.file = 8; /* takes the place of the other */
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.files == 1);
	EXPECT(aucsched_keep_files(h, path, 1) == AUCSCHED_OK && access(path, R_OK) == 0);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
	EXPECT(aucsched_keep_files(h, path, 0) == AUCSCHED_EHANDLE);

	h = must_open(NULL);
	EXPECT(aucsched_keep_files(h, path, 0) == AUCSCHED_OK);
	nodes[1].free_cores = 4, in.running_len = in.running_segments_len = in.running_reads_len = 0;
	in.jobs_len = in.job_reads_len = 1, in.jobs = &job, in.job_reads = &read;
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.starts == 1 && out.segments[0].first == 1 && out.decisions[0].holders == 1);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
	file = fopen(path, "r+");
	EXPECT(fseek(file, 20, SEEK_SET) == 0 && fread(&byte, 1, 1, file) == 1);
	byte ^= 1;
	EXPECT(fseek(file, 20, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1 && fclose(file) == 0);
	h = must_open(NULL);
	EXPECT(aucsched_keep_files(h, path, 0) == AUCSCHED_EINVAL && strstr(last_error(h), "files: damaged") != NULL);
	unlink(path);
	rmdir(dir);
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_OK && out.files == 0 && out.decisions[0].holders == 0);
	in.reserved = 1;
	prepare(&out);
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "reserved") != NULL);
	in.reserved = 0, in.stores = NULL;
	EXPECT(aucsched_cycle(h, &in, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "stores is NULL") != NULL);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

#define REFUSED(code, words)                                                      \
	do {                                                                      \
		int got = cycle(h, &w, &out);                                     \
		if (got != (code) || strstr(last_error(h), (words)) == NULL)      \
			fail(__FILE__, __LINE__, "%d: %s", got, last_error(h));   \
		EXPECT(out.decisions_len == 0 && out.decisions == NULL);          \
	} while (0)

static void test_bad_calls(void)
{
	struct aucsched_alternative other = {.cores = 1, .mask = -1};
	int64_t h = must_open(NULL);
	struct window w;
	struct aucsched_output out;

	random_window(&w);
	while (w.in.jobs_len == 0 || w.in.running_len == 0) {
		release(&w);
		random_window(&w);
	}
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out));
	EXPECT(aucsched_last_error(h, NULL, 0) == 0);

	EXPECT(aucsched_cycle(h, NULL, &out) == AUCSCHED_EINVAL);
	EXPECT(aucsched_cycle(h, &w.in, NULL) == AUCSCHED_EINVAL);
	out.abi = AUCSCHED_ABI - 1;
	EXPECT(aucsched_cycle(h, &w.in, &out) == AUCSCHED_EINVAL);
	out.abi = AUCSCHED_ABI, out.size--;
	EXPECT(aucsched_cycle(h, &w.in, &out) == AUCSCHED_EINVAL);
	EXPECT(strstr(last_error(h), "output has ") != NULL);

	w.in.abi = 0;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "abi 0") != NULL);
	w.in.abi = AUCSCHED_ABI, w.in.size += 8;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "input has ") != NULL);
	w.in.size -= 8;

	w.in.nodes = NULL;
	REFUSED(AUCSCHED_EINVAL, "nodes is NULL");
	w.in.nodes = w.nodes, w.in.running = NULL;
	REFUSED(AUCSCHED_EINVAL, "running is NULL");
	w.in.running = w.running, w.in.running_segments = NULL;
	REFUSED(AUCSCHED_EINVAL, "running_segments is NULL");
	w.in.running_segments = w.segments, w.in.jobs = NULL;
	REFUSED(AUCSCHED_EINVAL, "jobs is NULL");
	w.in.jobs = w.jobs, w.in.masks = NULL;
	REFUSED(AUCSCHED_EINVAL, "masks is NULL");
	w.in.masks = w.masks, w.in.mask_words++;
	REFUSED(AUCSCHED_EINVAL, "mask_words: ");
	w.in.mask_words--;
	w.in.jobs = (const struct aucsched_job *)((const char *)w.jobs + 1);
	REFUSED(AUCSCHED_EINVAL, "jobs is not aligned");
	w.in.jobs = w.jobs;
	w.in.alternatives = NULL, w.in.alternatives_len = 1;
	REFUSED(AUCSCHED_EINVAL, "alternatives is NULL");
	w.in.alternatives = &other;
	w.in.alternatives_len = UINT32_MAX; /* refused before they are read */
	REFUSED(AUCSCHED_EINVAL, "alternatives: 4294967295");
	w.in.alternatives_len = 0;
	w.in.nodes_len = 0;
	REFUSED(AUCSCHED_EINVAL, "nodes: 0");
	w.in.nodes_len = UINT32_MAX; /* refused before it is read */
	REFUSED(AUCSCHED_EINVAL, "nodes: 4294967295");
	w.in.nodes_len = (w.in.mask_words - 1) * 64 + 1;
	w.in.nodes_len = 1;
	EXPECT(cycle(h, &w, &out) != AUCSCHED_OK || check(&w, &out));
	EXPECT(aucsched_close(h) == AUCSCHED_OK);

	EXPECT(aucsched_close(h) == AUCSCHED_EHANDLE);
	EXPECT(aucsched_close(0) == AUCSCHED_EHANDLE);
	EXPECT(aucsched_close(INT64_MIN) == AUCSCHED_EHANDLE);
	EXPECT(cycle(h, &w, &out) == AUCSCHED_EHANDLE);
	EXPECT(aucsched_configure(h, "") == AUCSCHED_EHANDLE);
	EXPECT(strstr(last_error(h), "no such handle") != NULL);
	EXPECT(aucsched_handles() == 0);
	release(&w);
}

/* Faults of single elements: the words of the first, the job that it is about, and how the others fare. */
static void test_faults(void)
{
	struct aucsched_alternative other = {.job = 2, .cores = 1, .mask = -1};
	int64_t h = must_open(NULL);
	struct window w;
	struct aucsched_output out;

	allocate(&w, 2, 1, 1, 3, 0);
	for (int n = 0; n < 2; n++)
		w.nodes[n] = (struct aucsched_node){.cores = 4, .free_cores = 4, .up = 1};
	w.running[0].segments = 1;
	for (uint32_t j = 0; j < 3; j++)
		w.jobs[j] = (struct aucsched_job){.priority = 10 - j, .cores = 2, .time_limit = 10, .mask = -1};
	w.in.running_len = 0;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 3);
	EXPECT(out.faults == 0 && out.left_out == 0 && out.first_fault == AUCSCHED_NO_JOB && out.timed_out == 0 && last_error(h)[0] == '\0');

	w.in.running_len = 1, w.segments[0].last = 2; /* there are two nodes */
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 3);
	EXPECT(out.faults == 1 && out.first_fault == AUCSCHED_NO_JOB && strstr(last_error(h), "running_segments[0].last: 2: ") != NULL);
	w.in.running_len = 0, w.jobs[1].cores = 3000000000;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 2 && out.decisions[1].why == AUCSCHED_FAULTY);
	EXPECT(out.faults == 1 && out.left_out == 1 && out.first_fault == 1);
	EXPECT(strcmp(last_error(h), "jobs[1].cores: 3000000000: must be at most 2147483647") == 0);
	w.jobs[1].cores = 2;
	w.in.alternatives = &other, w.in.alternatives_len = 1;
	other.cores_per_node = other.cores = 80000;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 2 && out.decisions[2].why == AUCSCHED_FAULTY);
	EXPECT(out.first_fault == 2 && strstr(last_error(h), "alternatives[0].cores_per_node: 80000: ") != NULL);
	other.job = 3;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 3 && out.left_out == 0 && out.faults == 1);
	w.in.alternatives_len = 0, w.jobs[2].priority = 99; /* the order counts */
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 3 && out.left_out == 0 && out.first_fault == 2);
	EXPECT(strstr(last_error(h), "jobs[2].priority: 99: ") != NULL);
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

static void test_quotas(void)
{
	struct window w;
	struct aucsched_output out;
	int64_t h = must_open(NULL);
	const uint64_t left[] = {5, 3};
	struct aucsched_charge charges[] = {{.of = 0, .quota = 1, .per_core = 1}, {.of = 1, .quota = 1, .per_job = 2}, {.of = 2, .quota = 0, .per_node = 1}};

	allocate(&w, 2, 0, 0, 3, 0);
	for (int n = 0; n < 2; n++)
		w.nodes[n] = (struct aucsched_node){.cores = 4, .free_cores = 4, .up = 1};
	for (uint32_t j = 0; j < 3; j++)
		w.jobs[j] = (struct aucsched_job){.priority = 10 - j, .cores = 2, .time_limit = 10, .mask = -1};
	w.in.quotas = left, w.in.quotas_len = 2;
	w.in.job_charges = charges, w.in.job_charges_len = 3;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 2 && out.faults == 0);
	EXPECT(out.decisions[1].why == AUCSCHED_WAITS_QUOTA && out.decisions[1].quota == 1);
	charges[1].quota = 2;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.decisions[1].why == AUCSCHED_FAULTY);
	EXPECT(strcmp(last_error(h), "job_charges[1].quota: 2: there are 2") == 0);
	w.in.job_charges = NULL;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_EINVAL && strstr(last_error(h), "job_charges is NULL") != NULL);
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* Two GPUs of four shares, of which a job has three of one, and jobs that want 1, 3 and 2. */
static void test_shares(void)
{
	const uint32_t want[] = {1, 3, 2};
	int64_t h = must_open(NULL);
	struct window w;
	struct aucsched_output out;

	allocate(&w, 1, 1, 1, 3, 0);
	w.nodes[0] = (struct aucsched_node){.cores = 16, .free_cores = 15, .gpus = 2, .free_gpus = 1, .up = 1};
	w.running[0] = (struct aucsched_running){.end = 90, .segments = 1, .share = 3};
	w.segments[0] = (struct aucsched_segment){.cores = 1, .bin = 4};
	for (uint32_t j = 0; j < 3; j++)
		w.jobs[j] = (struct aucsched_job){.priority = 10 - j, .cores = 1, .max_nodes = 1, .time_limit = 10, .mask = -1, .share = want[j]};
	w.in.share_sizes_len = w.in.shared_gpus_len = 1;
	w.in.share_sizes = w.sizes = array(1, sizeof *w.sizes);
	w.in.shared_gpus = w.shared = array(1, sizeof *w.shared);
	w.sizes[0] = 4;
	w.shared[0] = (struct aucsched_shared_gpu){.free = 1, .bin = 4};
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.faults == 0 && out.starts == 2);
	EXPECT(out.segments[0].bin == 4 && out.segments[1].bin != 4 && out.segments[1].bin != 0);
	EXPECT(out.decisions[2].why == AUCSCHED_WAITS_RESERVED && out.decisions[2].expected == 10);
	w.nodes[0].free_cores = 0, w.jobs[1].cores = 0; /* who takes no core starts, and who takes nothing is told */
	w.jobs[2].share = w.jobs[2].cores = 0;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.starts == 1 && out.decisions[1].why == AUCSCHED_STARTS && out.segments[0].cores == 0);
	EXPECT(out.faults == 1 && out.first_fault == 2 && strstr(last_error(h), "jobs[2].cores: 0: must be at least 1 for who takes nothing else") != NULL);
	w.jobs[2].share = 1;
	w.in.share_sizes_len = 2;
	REFUSED(AUCSCHED_EINVAL, "share_sizes: 2: there must be one for each of 1 nodes");
	w.in.share_sizes_len = 1, w.in.share_sizes = NULL;
	REFUSED(AUCSCHED_EINVAL, "share_sizes is NULL");
	w.in.share_sizes = w.sizes, w.in.shared_gpus = NULL;
	REFUSED(AUCSCHED_EINVAL, "shared_gpus is NULL");
	w.in.shared_gpus = (const struct aucsched_shared_gpu *)((const char *)w.shared + 1);
	REFUSED(AUCSCHED_EINVAL, "shared_gpus is not aligned");
	w.in.shared_gpus = w.shared, w.in.share_sizes_len = 0;
	REFUSED(AUCSCHED_EINVAL, "shared_gpus: 1: there are no share_sizes");
	w.in.share_sizes_len = 1, w.shared[0].bin = 5;
	REFUSED(AUCSCHED_EINVAL, "shared_gpus[0].bin: 5: must be 1 to 4 on a node with 2 GPUs");
	w.shared[0].bin = 3; /* the running job names another one */
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.faults == 1 && strstr(last_error(h), "running_segments[0].bin: 4: ") != NULL);
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* A job of two nodes ends the one on the first, if that is cheap enough. The victims live as long as the decisions do. */
static void test_preemption(void)
{
	int64_t h = must_open("reservations=0"), other = must_open(NULL);
	struct window w;
	struct aucsched_output out, last;

	allocate(&w, 2, 2, 2, 2, 0);
	for (uint32_t n = 0; n < 2; n++)
		w.nodes[n] = (struct aucsched_node){.cores = 5, .free_cores = n == 0 ? 0 : 4, .up = 1};
	for (uint32_t r = 0; r < 2; r++) {
		w.segments[r] = (struct aucsched_segment){.first = 1 - r, .last = 1 - r, .cores = r == 0 ? 1 : 5};
		w.running[r] = (struct aucsched_running){.end = 90, .first_segment = r, .segments = 1};
	}
	w.running[1].price = 5, w.running[1].preempt_class = 63;
	w.jobs[0] = (struct aucsched_job){.priority = 50, .cores = 8, .cores_per_node = 4, .time_limit = 10, .mask = -1, .preempts = (uint64_t)1 << 63};
	w.jobs[1] = (struct aucsched_job){.priority = 40, .cores = 4, .time_limit = 10, .mask = -1};
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.faults == 0 && out.starts == 1 && out.preempted == 1);
	EXPECT(out.decisions[0].why == AUCSCHED_STARTS && out.decisions[0].victims == 1 && out.victims[out.decisions[0].first_victim] == 1);
	EXPECT(out.decisions[1].victims == 0 && out.victims_len == 1);
	last = out;
	EXPECT(cycle(other, &w, &out) == AUCSCHED_OK && aucsched_close(other) == AUCSCHED_OK); /* which leaves the handle's output alone */
	EXPECT(last.victims[0] == 1);
	w.running[1].price = 15;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.decisions[1].why == AUCSCHED_STARTS);
	EXPECT(out.victims == NULL && out.victims_len == 0 && out.preempted == 0);
	w.running[1].price = AUCSCHED_MAX_PRIORITY + 1;
	EXPECT(cycle(h, &w, &out) == AUCSCHED_OK && check(&w, &out) && out.faults == 1 && out.victims_len == 0 && strstr(last_error(h), "running[1].price: ") != NULL);
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* A caller of an older ABI is told so, and nothing of its structures is read. */
static void test_old_callers(void)
{
	int64_t h = must_open(NULL);
	struct window w;
	struct aucsched_output out;
	uint32_t old[2] = {0, sizeof(uint32_t[2])}; /* no more than its number and its size */

	random_window(&w);
	for (uint32_t abi = 0; abi < AUCSCHED_ABI; abi++) {
		char want[40];

		old[0] = abi;
		snprintf(want, sizeof want, "abi %u of the input", abi);
		prepare(&out);
		EXPECT(aucsched_cycle(h, (const struct aucsched_input *)old, &out) == AUCSCHED_EINVAL && strstr(last_error(h), want) != NULL);
		EXPECT(aucsched_cycle(h, &w.in, (struct aucsched_output *)old) == AUCSCHED_EINVAL && strstr(last_error(h), " of the output") != NULL);
	}
	release(&w);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

static long growth; /* KiB that are put down to the sanitizer and the runtime */

static void test_open_close(void)
{
	int64_t last = 0;
	long before = 0;

	for (int i = 0; i < 10000; i++) {
		int64_t h = must_open("window=5");

		EXPECT(h > last && aucsched_handles() == 1);
		last = h;
		EXPECT(aucsched_close(h) == AUCSCHED_OK);
		if (i == 2000)
			before = resident();
	}
	EXPECT(aucsched_handles() == 0);
	if (resident() - before > growth)
		fail(__FILE__, __LINE__, "8000 handles: %ld KiB grew to %ld", before, resident());
	printf("open and close: %ld KiB, then %ld\n", before, resident());
}

static void test_cycles(void)
{
	static const char *settings[] = {"work=100000", "work=100000 reservations=0 window=20", "work=100000 objective=size drafts=3",
#ifdef OLDER
		"work=100000 policy=ipsched", "work=100000 policy=auction1"};
#else
		"work=100000 preset=default", "work=100000 preset=short"};
#endif
	int64_t h = must_open(settings[0]);
	long before = 0, starts = 0, others = 0, shares = 0, preempted = 0;
	struct aucsched_output out;
	struct window w;

	for (int i = 0; i < 2000; i++) {
		if (i % 400 == 399)
			EXPECT(aucsched_configure(h, settings[(i / 400 + 1) % 5]) == AUCSCHED_OK);
		random_window(&w);
		if (cycle(h, &w, &out) != AUCSCHED_OK)
			fail(__FILE__, __LINE__, "cycle %d: %s", i, last_error(h));
		else if (!check(&w, &out))
			fail(__FILE__, __LINE__, "cycle %d: the decisions are wrong", i);
		starts += out.starts;
		preempted += out.preempted;
		for (uint32_t k = 0; k < out.segments_len; k++)
			shares += out.segments[k].bin > 0;
		for (uint32_t j = 0; j < out.decisions_len; j++)
			others += out.decisions[j].alternative > 0;
		release(&w);
		if (i == 700)
			before = resident();
	}
	EXPECT(starts > 10000 && others > 500 && shares > 500 && preempted > 100);
	if (resident() - before > growth)
		fail(__FILE__, __LINE__, "1300 cycles: %ld KiB grew to %ld", before, resident());
	printf("2000 cycles: %ld starts, %ld on shares, %ld preempted; %ld KiB, then %ld\n", starts, shares, preempted, before, resident());
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

static void spoil(void *p, size_t bytes)
{
	for (uint32_t k = below(8); bytes > 0 && k > 0; k--)
		((unsigned char *)p)[below((uint32_t)bytes)] = (unsigned char)next();
}

static void test_garbage(void)
{
	int64_t h = must_open("work=20000 deadline_ms=50");
	int refused = 0, decided = 0;
	uint32_t left_out = 0;
	struct aucsched_output out;
	struct window w;

	for (int i = 0; i < 3000; i++) {
		int got;

		random_window(&w);
		switch (i % 10) {
		case 8: spoil(w.shared, w.in.shared_gpus_len * sizeof *w.shared); break;
		case 9: spoil(w.sizes, w.in.share_sizes_len * sizeof *w.sizes); break;
		case 0: spoil(w.nodes, w.in.nodes_len * sizeof *w.nodes); break;
		case 1: spoil(w.running, w.in.running_len * sizeof *w.running); break;
		case 2: spoil(w.segments, w.in.running_segments_len * sizeof *w.segments); break;
		case 3: spoil(w.jobs, w.in.jobs_len * sizeof *w.jobs); break;
		case 4: spoil(w.masks, (size_t)w.in.masks_len * w.in.mask_words * sizeof *w.masks); break;
		case 6: spoil(w.others, w.in.alternatives_len * sizeof *w.others); break;
		case 5: w.in.now = (int64_t)next(), w.in.deadline_us = (uint32_t)next() % 50000; break;
		default:
			for (size_t k = 0; k < w.in.jobs_len * sizeof *w.jobs; k++)
				((unsigned char *)w.jobs)[k] = (unsigned char)next();
		}
		got = cycle(h, &w, &out);
		if (got == AUCSCHED_OK && !check(&w, &out))
			fail(__FILE__, __LINE__, "garbage %d: the decisions are wrong", i);
		if (got != AUCSCHED_OK && (got != AUCSCHED_EINVAL || i % 10 % 8 > 1 || i % 10 == 1)) /* only nodes and their GPUs fail a cycle */
			fail(__FILE__, __LINE__, "garbage %d: %d: %s", i, got, last_error(h));
		left_out += got == AUCSCHED_OK ? out.left_out : 0;
		refused += got == AUCSCHED_EINVAL;
		decided += got == AUCSCHED_OK;
		release(&w);
	}
	EXPECT(refused > 100 && decided > 300 && left_out > 5000);
	printf("garbage: %d refused, %d decided, %u jobs left out\n", refused, decided, left_out);
	EXPECT(aucsched_close(h) == AUCSCHED_OK);
}

/* A large window keeps one thread busy while another calls. */
struct shared {
	int64_t handle;
	struct window w;
	int decided, busy, other;
};

static void *call(void *arg)
{
	struct shared *s = arg;
	struct aucsched_output out;
	int got = cycle(s->handle, &s->w, &out);

	__atomic_add_fetch(got == AUCSCHED_OK ? &s->decided : got == AUCSCHED_EBUSY ? &s->busy : &s->other, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void test_threads(void)
{
	struct shared s = {.handle = must_open("work=0")};
	pthread_t threads[6];
	int rounds = 0;

	hard_window(&s.w);
	/* On a busy machine the second thread may begin when the first has ended. */
	for (; rounds < 5 || (s.busy == 0 && rounds < 100); rounds++) {
		for (int i = 0; i < 2; i++)
			EXPECT(pthread_create(&threads[i], NULL, call, &s) == 0);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	/* A window that can be proven ends at once, so that both may get their turn. */
	EXPECT(s.other == 0 && s.decided >= rounds && s.decided + s.busy == 2 * rounds);
	printf("one handle: %d decided, %d busy\n", s.decided, s.busy);
	EXPECT(s.busy > 0);
	EXPECT(aucsched_close(s.handle) == AUCSCHED_OK);

	struct shared own[6];
	for (int i = 0; i < 6; i++) {
		own[i] = s;
		own[i].decided = own[i].busy = own[i].other = 0;
		own[i].handle = must_open("");
		EXPECT(pthread_create(&threads[i], NULL, call, &own[i]) == 0);
	}
	EXPECT(aucsched_handles() == 6);
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		EXPECT(own[i].decided == 1);
		EXPECT(aucsched_close(own[i].handle) == AUCSCHED_OK);
	}
	release(&s.w);
}

/* Open, cycle and close from many threads at once, all on the last handle that anybody opened. */
static int64_t newest;

static void *race(void *arg)
{
	struct window *w = arg;
	struct aucsched_output out;

	for (int i = 0; i < 60; i++) {
		int64_t own = must_open("work=1000");
		int got;

		__atomic_store_n(&newest, own, __ATOMIC_SEQ_CST);
		got = cycle(__atomic_load_n(&newest, __ATOMIC_SEQ_CST), w, &out);
		EXPECT(got == AUCSCHED_OK || got == AUCSCHED_EBUSY || got == AUCSCHED_EHANDLE);
		while (aucsched_close(own) == AUCSCHED_EBUSY)
			usleep(100);
	}
	return NULL;
}

static void test_closing_races(void)
{
	pthread_t threads[4];
	struct window w;

	random_window(&w);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&threads[i], NULL, race, &w) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT(aucsched_handles() == 0);
	release(&w);
}

int main(int argc, char **argv)
{
	growth = argc > 1 && strcmp(argv[1], "sanitized") == 0 ? 16 * 1024 : 8 * 1024;
	test_version();
	test_parameters();
	test_parameters();
	test_shadow();
	test_record();
	test_price();
	test_status();
	test_settings();
	test_texts();
	test_fields();
	test_bad_calls();
	test_faults();
	test_quotas();
	test_shares();
	test_preemption();
	test_old_callers();
	test_files();
	test_open_close();
	test_threads();
	test_closing_races();
	test_cycles();
	test_garbage();
	EXPECT(aucsched_handles() == 0);
	if (failures == 0)
		printf("all is well\n");
	return failures != 0;
}
