/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Faults of a daemon's files and clock, for a test that has this library loaded before libc
 * (LD_PRELOAD) into Slurm's daemons. The test and the daemons share a page of memory, the
 * file that AUCSCHED_FAULTS names: the test writes it, the daemons look at each call.
 *
 * files.c: calls on files below a directory take longer, or fail. clock.c: the wall clock
 * is shifted, the monotonic one is not.
 */
#ifndef AUCSCHED_FAULTS_H
#define AUCSCHED_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds of calls; FileOp of faults.go has the same order. */
enum {
	OP_OPEN,		/* open(), creat(), fopen() */
	OP_WRITE,
	OP_FSYNC,
	OP_LINK,
	OP_UNLINK,
	OP_RENAME,
	OP_STAT,		/* stat(), fstat(), access() */
	OPS
};

#define NAME_LEN 64
#define DIR_LEN 256

/* The test sets "on" to 0, then the rest, then "on" to 1. */
typedef struct {
	int64_t on;
	int64_t delay_us;
	int64_t error;		/* errno, or 0 */
	int64_t skip;		/* so many calls are let pass first */
	int64_t times;		/* so many have the fault then; 0: all */
	int64_t part;		/* bytes that a write that is to fail writes before */
	int64_t calls;		/* counted here: those that the fault is for */
	int64_t hits;		/* and those that had it */
	char name[NAME_LEN];	/* part of the file's path; "": any */
} op_t;

typedef struct {
	int64_t shift_s;	/* the wall clock is so much ahead */
	char dir[DIR_LEN];	/* whose files are meant, with a slash at its end */
	op_t ops[OPS];
} page_t;

/* NULL: no faults here. */
extern page_t *faults_page(void);

#define PUBLIC __attribute__((visibility("default")))

/* libc's own function of this name, with the version that programs are linked with. */
extern void *faults_real(const char *name, const char *version);
#define REAL(name, version)						\
	static __typeof__(&name) real;					\
	if (!real)							\
		real = (__typeof__(&name)) faults_real(#name, version)

#endif
