/*
 * cli_filter/aucsched: GPU ranges on the client's side. sbatch, salloc and srun keep the
 * request of a job for its steps as well, and a step can't ask for a range: it would be
 * refused. So the range moves from --gres or --gpus-per-node into the comment, from
 * where job_submit/aucsched takes it; the steps get all GPUs that the job got.
 */
#include <stdio.h>
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/common/log.h"
#include "src/common/slurm_opt.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "gpu_range.h"

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

static void _note(slurm_opt_t *opt, uint32_t low, uint32_t high)
{
	char *comment = slurm_option_isset(opt, "comment") ?
		slurm_option_get(opt, "comment") : NULL;

	auc_range_add_note(&comment, low, high);
	slurm_option_set(opt, "comment", comment, false);
	xfree(comment);
}

/* IN as_list - the option's value as a list of gres */
static int _move(slurm_opt_t *opt, const char *option, const char *as_list)
{
	uint32_t low, high;
	char *message = NULL, *rest;

	/* Types of GPUs are the controller's to know: what may be one passes. */
	if (auc_range_parse(as_list, NULL, &low, &high, &message) !=
	    AUC_RANGE_OK) {
		xfree(message);	/* the controller has the words for what is wrong */
		return SLURM_SUCCESS;
	}
	_note(opt, low, high);
	rest = _without_gpus(as_list);
	slurm_option_reset(opt, option);
	if (rest)
		slurm_option_set(opt, option, rest, false);
	xfree(rest);
	return SLURM_SUCCESS;
}

/* A GPU type in the request would be lost in the comment: such a range stays as it is. */
static bool _is_typed(const char *list)
{
	const char *gpu = strstr(list, "gpu:");

	return gpu && strchr(gpu + 4, ':') &&
		(strchr(gpu + 4, ':') < gpu + strcspn(gpu, ","));
}

extern int cli_filter_p_pre_submit(slurm_opt_t *opt, int offset)
{
	char *value, *as_list;

	if (slurm_option_isset(opt, "gres")) {
		value = slurm_option_get(opt, "gres");
		if (value && !_is_typed(value))
			(void) _move(opt, "gres", value);
		xfree(value);
	}
	if (slurm_option_isset(opt, "gpus-per-node")) {
		value = slurm_option_get(opt, "gpus-per-node");
		as_list = xstrdup_printf("gpu:%s", value);
		if (value && !_is_typed(as_list))
			(void) _move(opt, "gpus-per-node", as_list);
		xfree(as_list);
		xfree(value);
	}
	return SLURM_SUCCESS;
}

extern void cli_filter_p_post_submit(int offset, uint32_t jobid,
				     uint32_t stepid)
{
}
