/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: vslurmd -f slurm.conf [-v]...
 *
 * Stays in the foreground, and says what happens on stderr, with -v more of it. Ends by a
 * signal, or by scontrol shutdown.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vslurmd.h"

static void _usage(const char *name)
{
	fprintf(stderr, "usage: %s -f slurm.conf [-v]...\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	log_options_t log = LOG_OPTS_STDERR_ONLY;
	const char *path = NULL;
	uint16_t port;
	int c, fd;

	log.stderr_level = LOG_LEVEL_INFO;
	while ((c = getopt(argc, argv, "f:v")) != -1) {
		switch (c) {
		case 'f':
			path = optarg;
			break;
		case 'v':
			log.stderr_level++;
			break;
		default:
			_usage(argv[0]);
		}
	}
	if (!path || (optind != argc))
		_usage(argv[0]);
	log_init("vslurmd", log, 0, NULL);
	signal(SIGPIPE, SIG_IGN);
	slurm_init(path);	/* ends the process if that can't be read */
	load_plugins();
	if (!(port = nodes_read()))
		return 1;
	controller_find();
	if ((fd = slurm_init_msg_engine_port(port)) < 0)
		fatal("can't listen at port %u: %m", port);
	info("%d nodes at port %u", nodes_count(), port);
	serve_start(fd);
	report_start();
	register_start();
	while (true)
		pause();
}
