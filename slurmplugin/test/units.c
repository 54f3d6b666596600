/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Tests of the plug-ins' parts that need no slurmctld. Linked with Slurm's own library, to be run under
 * AddressSanitizer:
 *
 *	units SEED LIBAUCSCHED DIRECTORY-OF-LIAR
 */
#include <stdio.h>
#include <stdlib.h>

#include "units.h"

int units_failed, units_checked;
const char *units_library, *units_dir;

int main(int argc, char **argv)
{
	log_options_t options = LOG_OPTS_STDERR_ONLY;
	unsigned seed = argc > 1 ? atoi(argv[1]) : 1;

	units_library = argc > 2 ? argv[2] : "libaucsched.so";
	units_dir = argc > 3 ? argv[3] : ".";
	options.stderr_level = LOG_LEVEL_QUIET;
	log_init(argv[0], options, SYSLOG_FACILITY_USER, NULL);
	test_ranges(seed);
	test_alternatives(seed);
	test_inputs();
	test_settings();
	test_updates();
	test_bytes(seed);
	test_memos();
	test_journal(seed);
	test_savers();
	test_status();
	test_library(seed);
	test_shadows();
	printf("%d checks, %d failed\n", units_checked, units_failed);
	return units_failed != 0;
}
