/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Alternative requests: see alternative.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "src/common/macros.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "alternative.h"
#include "word.h"

#define MAGIC "#AUCSCHED"
#define OPTIONS "-n, -N, --ntasks-per-node, --gres=gpu:..., --gpus-per-node and --contiguous"

/* Of a word that is wrong, so much is told. */
#define MOST_WORDS 60

/* Where the parser is. */
typedef struct {
	int line;
	word_t rest;		/* of the line */
	bool (*is_type)(const char *name);
	char **error;
} parser_t;

/* The next word of the line; an empty one at its end, or where a comment begins. */
static word_t _next(word_t *rest)
{
	word_t word;

	while (rest->len && auc_blank(*rest->at))
		*rest = auc_after(*rest, 1);
	word = (word_t) { rest->at, 0 };
	if (rest->len && (*rest->at == '#'))
		return word;
	while (rest->len && !auc_blank(*rest->at)) {
		*rest = auc_after(*rest, 1);
		word.len++;
	}
	return word;
}

static bool _bad(parser_t *p, word_t word, const char *what)
{
	char *text = xstrndup(word.at, word.len < MOST_WORDS ? word.len :
			      MOST_WORDS);

	*p->error = xstrdup_printf(MAGIC " in script line %d: %s: %s", p->line,
				   text, what);
	xfree(text);
	return false;
}

/* ---- options ---- */

static bool _tasks(parser_t *p, word_t value, auc_alternative_t *a)
{
	return auc_number(value, MOST_CPUS, &a->tasks) ||
		_bad(p, value, "the number of tasks must be 1 or more");
}

static bool _nodes(parser_t *p, word_t value, auc_alternative_t *a)
{
	return auc_range_of(value, MOST_NODES, &a->min_nodes, &a->max_nodes) ||
		_bad(p, value, "nodes are a number from 1 on, or a range MIN-MAX");
}

static bool _per_node(parser_t *p, word_t value, auc_alternative_t *a)
{
	return auc_number(value, MOST_PER_NODE, &a->per_node) ||
		_bad(p, value, "the number of tasks on each node must be 1 or more");
}

static bool _contiguous(parser_t *p, word_t value, auc_alternative_t *a)
{
	a->contiguous = true;
	return true;
}

static bool _type(parser_t *p, word_t type, auc_alternative_t *a)
{
	bool sound = type.len && (type.len < AUC_TYPE_SIZE);

	for (size_t i = 0; sound && (i < type.len); i++)
		sound = isalnum((unsigned char) type.at[i]) ||
			strchr("_-.+", type.at[i]);
	if (sound) {
		memcpy(a->type, type.at, type.len);
		a->type[type.len] = '\0';
		sound = !p->is_type || p->is_type(a->type);
	}
	return sound || _bad(p, type, "is neither a number, a range LOW-HIGH, nor a GPU type of this cluster");
}

/* [TYPE:]COUNT, TYPE or nothing; COUNT is a number or a range. */
static bool _gpus(parser_t *p, word_t value, auc_alternative_t *a)
{
	size_t colon = value.len;

	while (colon && (value.at[colon - 1] != ':'))
		colon--;
	if (!colon && (!value.len || isalpha((unsigned char) *value.at))) {
		a->low = a->high = 1;
		return !value.len || _type(p, value, a);
	}
	if (colon && !_type(p, (word_t) { value.at, colon - 1 }, a))
		return false;
	return auc_range_of(auc_after(value, colon), MOST_GPUS, &a->low, &a->high) ||
		_bad(p, value, "GPUs on each node are a number from 1 to 15, or a range LOW-HIGH such as 1-3");
}

static bool _gres(parser_t *p, word_t value, auc_alternative_t *a)
{
	if (auc_is(value, "gpu"))
		return _gpus(p, auc_after(value, 3), a);
	if (auc_begins(value, "gpu:"))
		return _gpus(p, auc_after(value, 4), a);
	return _bad(p, value, "an alternative can ask for gpu:... only");
}

static const struct {
	const char *name;	/* --name */
	char letter;
	bool valued;
	bool (*set)(parser_t *p, word_t value, auc_alternative_t *a);
	uint32_t bit;		/* those that say the same share it */
} options[] = {
	{ "ntasks", 'n', true, _tasks, 1 },
	{ "nodes", 'N', true, _nodes, 2 },
	{ "ntasks-per-node", 0, true, _per_node, 4 },
	{ "gres", 0, true, _gres, 8 },
	{ "gpus-per-node", 0, true, _gpus, 8 },
	{ "contiguous", 0, false, _contiguous, 16 },
};

/*
 * Finds a word's option.
 * OUT value - what is behind the '=', or the letter; its at is NULL if that is the next word
 * RET index in options, or -1
 */
static int _find_option(word_t word, word_t *value)
{
	*value = (word_t) { NULL, 0 };
	for (int i = 0; i < ARRAY_SIZE(options); i++) {
		size_t len = strlen(options[i].name) + 2;

		if (options[i].letter && (word.len >= 2) &&
		    (word.at[0] == '-') && (word.at[1] == options[i].letter)) {
			if (word.len > 2)
				*value = auc_after(word, 2);
			return i;
		}
		if (!auc_begins(word, "--") ||
		    !auc_begins(auc_after(word, 2), options[i].name))
			continue;
		if (word.len == len)
			return i;
		if (word.at[len] == '=') {
			*value = auc_after(word, len + 1);
			return i;
		}
	}
	return -1;
}

static bool _option(parser_t *p, word_t word, auc_alternative_t *a,
		    uint32_t *seen)
{
	word_t value;
	int i = _find_option(word, &value);

	if (i < 0)
		return _bad(p, word, "is no option of an alternative, which has " OPTIONS);
	if (*seen & options[i].bit)
		return _bad(p, word, "is given twice");
	*seen |= options[i].bit;
	if (!options[i].valued)
		return value.at ? _bad(p, word, "takes no value") :
			options[i].set(p, value, a);
	if (!value.at && !(value = _next(&p->rest)).len)
		return _bad(p, word, "needs a value");
	return options[i].set(p, value, a);
}

/* ---- the whole ---- */

/* Tasks on each node and nodes fix the number of tasks, or the other way round. */
static bool _settle_per_node(parser_t *p, word_t all, auc_alternative_t *a)
{
	if (!a->min_nodes) {
		if (!a->tasks || (a->tasks % a->per_node))
			return _bad(p, all, "--ntasks-per-node needs --nodes, or as many tasks as fill some nodes");
		a->min_nodes = a->max_nodes = a->tasks / a->per_node;
	}
	if (a->min_nodes != a->max_nodes)
		return _bad(p, all, "--ntasks-per-node needs a number of nodes, not a range");
	if (a->tasks && (a->tasks != (uint64_t) a->min_nodes * a->per_node))
		return _bad(p, all, "--ntasks is not --nodes times --ntasks-per-node");
	if ((uint64_t) a->min_nodes * a->per_node > MOST_CPUS)
		return _bad(p, all, "too many tasks");
	a->tasks = a->min_nodes * a->per_node;
	return true;
}

static bool _settle(parser_t *p, word_t all, auc_alternative_t *a,
		    uint32_t cpus_per_task)
{
	bool fixed;

	if (!a->tasks && !a->min_nodes)
		return _bad(p, all, "an alternative needs --ntasks or --nodes");
	if (a->per_node && !_settle_per_node(p, all, a))
		return false;
	fixed = a->min_nodes && (a->min_nodes == a->max_nodes);
	if (!a->tasks && !fixed)
		return _bad(p, all, "a range of nodes needs --ntasks");
	if (!a->tasks)
		a->tasks = a->min_nodes;
	if (a->tasks < a->min_nodes)
		return _bad(p, all, "fewer tasks than nodes");
	if (!auc_alternative_counts(a, cpus_per_task))
		return _bad(p, all, "too many CPUs, in all or on each node");
	if ((cpus_per_task > 1) && (!fixed || (a->tasks % a->min_nodes)))
		return _bad(p, all, "with --cpus-per-task it needs a number of nodes, and as many tasks on each");
	if (!a->min_nodes)
		a->min_nodes = 1;
	a->max_nodes = (a->max_nodes > a->tasks) ? a->tasks : a->max_nodes;
	return true;
}

/* What stands behind MAGIC. */
static bool _directive(parser_t *p, uint32_t cpus_per_task,
		       auc_alternative_t *a)
{
	uint32_t seen = 0;
	word_t all = _next(&p->rest), word;

	if (!auc_is(all, "--alternative"))
		return _bad(p, all, "the directive is --alternative");
	memset(a, 0, sizeof(*a));
	while ((word = _next(&p->rest)).len)
		if (!_option(p, word, a, &seen))
			return false;
	return _settle(p, all, a, cpus_per_task);
}

/* Whether a line has a command in it: sbatch reads its directives down to there too. */
static bool _is_command(word_t line)
{
	return _next(&line).len;
}

extern int auc_alternatives_parse(const char *script, uint32_t cpus_per_task,
				  bool (*is_type)(const char *name),
				  auc_alternative_t *alternatives, char **error)
{
	parser_t p = { .is_type = is_type, .error = error };
	const char *end;
	int len = 0;

	for (; script && *script; script = *end ? end + 1 : end) {
		size_t magic = strlen(MAGIC);
		word_t line;

		p.line++;
		end = script + strcspn(script, "\n");
		line = (word_t) { script, end - script };
		if (!auc_begins(line, MAGIC) ||
		    ((line.len > magic) && !auc_blank(line.at[magic]))) {
			if (_is_command(line))
				break;
			continue;
		}
		p.rest = auc_after(line, magic);
		if (len == AUC_ALTERNATIVES) {
			(void) _bad(&p, _next(&p.rest), "a job can have 8 alternatives");
			return -1;
		}
		if (!_directive(&p, cpus_per_task, &alternatives[len]))
			return -1;
		len++;
	}
	return len;
}
