/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * cli_filter/aucsched: GPU ranges on the client's side. sbatch, salloc and srun keep the
 * request of a job for its steps as well, and a step can't ask for a range: it would be
 * refused. So the range moves from --gres or --gpus-per-node into the comment, from
 * where job_submit/aucsched takes it; the steps get all GPUs that the job got.
 */
#include <stdio.h>
#include <string.h>

#include "request.h"
#include "src/common/slurm_opt.h"

const char plugin_name[] = "GPU ranges for aucsched";
const char plugin_type[] = "cli_filter/aucsched";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern void fini(void)
{
}

extern int cli_filter_p_setup_defaults(slurm_opt_t *opt, bool early)
{
	return SLURM_SUCCESS;
}

/* The other elements of the list stay. RET NULL if there are none */
static char *_without_gpus(const char *list)
{
	char *copy = xstrdup(list), *save = NULL, *element, *rest = NULL;

	for (element = strtok_r(copy, ",", &save); element;
	     element = strtok_r(NULL, ",", &save)) {
		const char *name = element;

		if (!xstrncmp(name, "gres:", 5) || !xstrncmp(name, "gres/", 5))
			name += 5;

		if (!xstrncmp(name, "gpu:", 4) || !xstrcmp(name, "gpu"))
			continue;
		xstrfmtcat(rest, "%s%s", rest ? "," : "", element);
	}
	xfree(copy);
	return rest;
}

static void _note(slurm_opt_t *opt, const auc_gpus_t *range)
{
	char *comment = slurm_option_isset(opt, "comment") ?
		slurm_option_get(opt, "comment") : NULL;

	auc_range_add_note(&comment, range);
	slurm_option_set(opt, "comment", comment, false);
	xfree(comment);
}

static void _move(slurm_opt_t *opt, const char *option, const char *list,
		  const auc_gpus_t *range)
{
	char *rest = _without_gpus(list);

	_note(opt, range);
	slurm_option_reset(opt, option);
	if (rest)
		slurm_option_set(opt, option, rest, false);
	xfree(rest);
}

/* The option's value as a list of gres, NULL if it is not given. */
static char *_list(slurm_opt_t *opt, const char *option, const char *prefix)
{
	char *value, *list;

	if (!slurm_option_isset(opt, option))
		return NULL;
	value = slurm_option_get(opt, option);
	list = value ? xstrdup_printf("%s%s", prefix, value) : NULL;
	xfree(value);
	return list;
}

/*
 * Slurm's own check would refuse what is wrong behind a type before the controller sees it,
 * and without a word of ranges. Which types there are the controller knows: what may be one
 * passes.
 */
extern int cli_filter_p_pre_submit(slurm_opt_t *opt, int offset)
{
	char *gres = _list(opt, "gres", ""), *message = NULL;
	char *gpus = _list(opt, "gpus-per-node", "gpu:");
	char *all = xstrdup_printf("%s%s%s", gres ? gres : "",
				   (gres && gpus) ? "," : "", gpus ? gpus : "");
	auc_gpus_t range;
	auc_range_t found = auc_range_parse(all, NULL, &range, &message);

	if (found == AUC_RANGE_BAD)
		error("%s", message);
	else if ((found == AUC_RANGE_OK) && gpus)
		_move(opt, "gpus-per-node", gpus, &range);
	else if (found == AUC_RANGE_OK)
		_move(opt, "gres", gres, &range);
	xfree(message);
	xfree(gres);
	xfree(gpus);
	xfree(all);
	return (found == AUC_RANGE_BAD) ? SLURM_ERROR : SLURM_SUCCESS;
}

extern void cli_filter_p_post_submit(int offset, uint32_t jobid,
				     uint32_t stepid)
{
}
