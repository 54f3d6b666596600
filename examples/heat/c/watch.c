/* SPDX-License-Identifier: BSD-3-Clause */

#include "heat.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *volatile doing;

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nobody is there to be told */
}

/* Only what a signal's handler may call. */
static void too_long(int signal)
{
	(void)signal;
	say("heat: took too long: ");
	say(doing);
	say("\n");
	_exit(3);
}

void watch_for(int seconds, const char *what)
{
	doing = what;
	signal(SIGALRM, too_long);
	alarm((unsigned)seconds);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("heat: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

void *need(void *memory)
{
	if (memory == NULL)
		fail("out of memory");
	return memory;
}
