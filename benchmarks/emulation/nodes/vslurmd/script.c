/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a job takes: see vslurmd.h. A line among the first of its script says so:
 *
 *	# aucsched-emulation: 3600.5
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vslurmd.h"

#define MARK "# aucsched-emulation:"
#define LINES 20

/* A hundred years. */
#define MOST_SECONDS 3.2e9

/* RET the seconds that the text, up to the end of its line, is; -1 if it is no number */
static double _seconds(const char *text)
{
	double seconds;
	char *rest;

	text += strspn(text, " \t");
	if (!isdigit((unsigned char) *text))
		return -1;
	seconds = strtod(text, &rest);
	rest += strspn(rest, " \t");
	if ((*rest && (*rest != '\n')) || !isfinite(seconds) ||
	    (seconds > MOST_SECONDS))
		return -1;
	return seconds;
}

extern double script_seconds(const char *script)
{
	for (int i = 0; script && (i < LINES); i++) {
		if (!xstrncmp(script, MARK, strlen(MARK)))
			return _seconds(script + strlen(MARK));
		script = strchr(script, '\n');
		if (script)
			script++;
	}
	return -1;
}
