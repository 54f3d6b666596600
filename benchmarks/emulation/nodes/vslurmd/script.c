/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a job takes: see vslurmd.h. A line among the first of its script says so:
 *
 *	# aucsched-emulation: 3600.5
 *	# aucsched-emulation: 3600.5 gpus=1
 *
 * The second is that long with one GPU a node, and the sooner done the more it has
 * (aucsched2, equation 5).
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vslurmd.h"

#define MARK "# aucsched-emulation:"
#define GPUS "gpus="
#define LINES 20

/* A hundred years. */
#define MOST_SECONDS 3.2e9

/* RET the end of the number that text begins with; NULL if it begins with none */
static const char *_number(const char *text, double *number)
{
	char *rest;

	text += strspn(text, " \t");
	if (!isdigit((unsigned char) *text))
		return NULL;
	*number = strtod(text, &rest);
	return (isfinite(*number) && (*number <= MOST_SECONDS)) ? rest : NULL;
}

/* RET whether the text, up to the end of its line, says how long a job takes */
static bool _read(const char *text, work_t *work)
{
	work->gpus = 0;
	if (!(text = _number(text, &work->seconds)))
		return false;
	text += strspn(text, " \t");
	if (!xstrncmp(text, GPUS, strlen(GPUS)) &&
	    (!(text = _number(text + strlen(GPUS), &work->gpus)) ||
	     (work->gpus < 1)))
		return false;
	text += strspn(text, " \t");
	return !*text || (*text == '\n');
}

extern bool script_work(const char *script, work_t *work)
{
	for (int i = 0; script && (i < LINES); i++) {
		if (!xstrncmp(script, MARK, strlen(MARK)))
			return _read(script + strlen(MARK), work);
		script = strchr(script, '\n');
		if (script)
			script++;
	}
	return false;
}

extern double work_seconds(const work_t *work, uint32_t gpus)
{
	if (!work->gpus || (gpus <= work->gpus))
		return work->seconds;
	return ceil(work->seconds * work->gpus / gpus);
}
