/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: vsubmit -f slurm.conf <jobs
 *
 * Submits batch jobs as sbatch does, all by one process: one RPC a job, one after the other.
 * A line of the input is a job, nine whole numbers:
 *
 *	POSITION PRIORITY MINUTES TASKS MIN_NODES MAX_NODES TASKS_PER_NODE GPUS_PER_NODE SECONDS
 *
 * 0 is what is not asked for. SECONDS is how long the nodes' daemon lets the job last. Ends at the
 * first job that is refused, with status 1 and a message that names the line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"

enum { POSITION, PRIORITY, MINUTES, TASKS, MIN_NODES, MAX_NODES, PER_NODE, GPUS, SECONDS, FIELDS };

/* Whether the line is FIELDS numbers that fit 32 bits, and nothing else. */
static bool _parse(const char *line, uint32_t f[FIELDS])
{
	char *end;

	for (int i = 0; i < FIELDS; i++) {
		unsigned long n;

		line += strspn(line, " ");
		if ((*line < '0') || (*line > '9'))
			return false;
		errno = 0;
		n = strtoul(line, &end, 10);
		if (errno || (n >= NO_VAL))
			return false;
		f[i] = n;
		line = end;
	}
	return !strcmp(line, "\n");
}

/* Slurm's structure wants text that may be written to. */
static int _submit(const uint32_t f[FIELDS])
{
	char name[16], script[64], gres[24];
	char dir[] = "/", none[] = "/dev/null", path[] = "PATH=/usr/bin:/bin";
	char *env[] = { path, NULL };
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t job;

	slurm_init_job_desc_msg(&job);
	snprintf(name, sizeof(name), "j%"PRIu32, f[POSITION]);
	snprintf(script, sizeof(script), "#!/bin/sh\n# aucsched-emulation: %"PRIu32"\n", f[SECONDS]);
	snprintf(gres, sizeof(gres), "gres:gpu:%"PRIu32, f[GPUS]);
	job.name = name;
	job.script = script;
	job.environment = env;
	job.env_size = 1;
	job.work_dir = dir;
	job.std_in = job.std_out = job.std_err = none;
	job.user_id = getuid();
	job.group_id = getgid();
	job.priority = f[PRIORITY];
	job.time_limit = f[MINUTES];
	job.min_nodes = f[MIN_NODES] ? f[MIN_NODES] : 1;
	if (f[MAX_NODES])
		job.max_nodes = f[MAX_NODES];
	if (f[TASKS])
		job.num_tasks = job.min_cpus = f[TASKS];
	if (f[PER_NODE])
		job.ntasks_per_node = f[PER_NODE];
	if (f[GPUS])
		job.tres_per_node = gres;
	if (slurm_submit_batch_job(&job, &answer))
		return errno;
	slurm_free_submit_response_response_msg(answer);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t f[FIELDS];
	char line[256];
	long n = 0;

	if ((argc != 3) || strcmp(argv[1], "-f")) {
		fprintf(stderr, "usage: %s -f slurm.conf <jobs\n", argv[0]);
		return 2;
	}
	slurm_init(argv[2]);	/* ends the process if that can't be read */
	while (fgets(line, sizeof(line), stdin)) {
		int error;

		n++;
		if (!_parse(line, f)) {
			fprintf(stderr, "vsubmit: line %ld: %d whole numbers are expected: %s\n", n, FIELDS, line);
			return 1;
		}
		if ((error = _submit(f))) {
			fprintf(stderr, "vsubmit: line %ld: job %"PRIu32": %s\n", n, f[POSITION], slurm_strerror(error));
			return 1;
		}
	}
	return ferror(stdin) ? 1 : 0;
}
