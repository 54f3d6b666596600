/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * cli_filter/aucsched: GPU ranges on the client's side. sbatch, salloc and srun keep the
 * request of a job for its steps as well, and a step can't ask for a range: it would be
 * refused. So what is asked for of GPUs moves from --gres and --gpus-per-node into the comment, from
 * where job_submit/aucsched takes it, as it is; the steps get all GPUs that the job got.
 */
#include <stdio.h>
#include <string.h>

#include "common.h"
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

/* What an element of a list of gres asks for of GPUs: behind "gpu:". NULL: it is no GPUs */
static const char *_gpus(const char *element)
{
	if (!xstrncmp(element, "gres:", 5) || !xstrncmp(element, "gres/", 5))
		element += 5;
	if (!xstrcmp(element, "gpu"))
		return "1";
	return xstrncmp(element, "gpu:", 4) ? NULL : element + 4;
}

/*
 * Whether that is a range, or wrong as one. What may be a type's name, untyped as it is, passes: the controller
 * knows which there are.
 */
static bool _is_range(const char *gpus)
{
	const char *type = strrchr(gpus, ':'), *count = type ? type + 1 : gpus;

	return strchr(count, '-') && !strchr(gpus, ';') &&
		(type || (strspn(count, "0123456789-") == strlen(count)));
}

/*
 * What an option, a list of gres, asks for of GPUs is added to *gpus.
 * RET what else it asks for, perhaps nothing: xfree(); NULL: it asks for no GPUs
 */
static char *_split(slurm_opt_t *opt, const char *option, const char *prefix, char **gpus, bool *ranged)
{
	char *value = slurm_option_isset(opt, option) ? slurm_option_get(opt, option) : NULL;
	char *rest = xstrdup(""), *save = NULL, *each;
	bool any = false;

	for (each = value ? strtok_r(value, ",", &save) : NULL; each; each = strtok_r(NULL, ",", &save)) {
		char *element = xstrdup_printf("%s%s", prefix, each);
		const char *asked = _gpus(element);

		if (asked) {
			xstrfmtcat(*gpus, "%s%s", *gpus ? "," : "", asked);
			*ranged |= _is_range(asked);
			any = true;
		} else
			xstrfmtcat(rest, "%s%s", rest[0] ? "," : "", each);
		xfree(element);
	}
	xfree(value);
	if (!any)
		xfree(rest);
	return rest;
}

static void _set(slurm_opt_t *opt, const char *option, const char *rest)
{
	if (rest)
		slurm_option_reset(opt, option);
	if (rest && rest[0])
		slurm_option_set(opt, option, rest, false);
}

/*
 * Slurm's own check would refuse what is wrong behind a type before the controller sees it,
 * and without a word of ranges.
 */
extern int cli_filter_p_pre_submit(slurm_opt_t *opt, int offset)
{
	bool ranged = false;
	char *gpus = NULL, *comment = NULL;
	char *gres = _split(opt, "gres", "", &gpus, &ranged);
	char *per_node = _split(opt, "gpus-per-node", "gpu:", &gpus, &ranged);

	if (ranged) {
		_set(opt, "gres", gres);
		_set(opt, "gpus-per-node", per_node);
		if (slurm_option_isset(opt, "comment"))
			comment = slurm_option_get(opt, "comment");
		auc_note_set(&comment, AUC_RANGE_NOTE, gpus);
		slurm_option_set(opt, "comment", comment, false);
	}
	xfree(comment);
	xfree(gpus);
	xfree(gres);
	xfree(per_node);
	return SLURM_SUCCESS;
}

extern void cli_filter_p_post_submit(int offset, uint32_t jobid,
				     uint32_t stepid)
{
}
