/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the tests of the plug-ins' parts share. */
#ifndef AUC_UNITS_H
#define AUC_UNITS_H

#include <stdbool.h>
#include <stdio.h>

#include "../compat.h"
#include "../library.h"
#include "../request.h"

extern int units_failed, units_checked;

#define CHECK(what, ...)						\
	do {								\
		units_checked++;					\
		if (!(what)) {						\
			units_failed++;					\
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #what); \
			fprintf(stderr, __VA_ARGS__);			\
			fputc('\n', stderr);				\
		}							\
	} while (0)

/* The longest name of a type. */
#define NAME_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A range that a job may have. */
extern bool units_sound_range(const auc_gpus_t *range);

/* Any text: as a request of GPUs, and as a note. */
extern void units_fuzz_range(const char *text);
extern void units_fuzz_note(const char *text);

/* The file of libaucsched.so, the directory with liar.so; and the library, loaded. */
extern const char *units_library, *units_dir;
extern auc_library_t *units_loaded(void);

/* The settings that SchedulerParameters give, by the library. The texts stay until the next call. */
extern auc_settings_t units_settings(const char *params);

/* A file each. The same seed gives the same inputs. */
extern void test_ranges(unsigned seed);
extern void test_alternatives(unsigned seed);
extern void test_inputs(void);
extern void test_settings(void);
extern void test_updates(void);
extern void test_bytes(unsigned seed);
extern void test_memos(void);
extern void test_journal(unsigned seed);
extern void test_savers(void);
extern void test_status(void);
extern void test_library(unsigned seed);
extern void test_shadows(void);

#endif
