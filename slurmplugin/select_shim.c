/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The select shim: poses as select/cons_tres and forwards every call to the stock
 * plug-in of that name, which it finds further along PluginDir. Of all calls it looks
 * at two. select_p_job_fini() it notes for the journal; and select_p_job_test() when a job
 * is to run now:
 *
 * - for the job that the auction is starting it narrows the choice to the nodes,
 *   cores and GPU indices of the winning bid, and lets stock code do the rest. Stock code
 *   validates everything again, so a wrong bid is refused, not over-allocated;
 * - for a job that the auction will decide on, started by anybody else, it says that
 *   the nodes are busy, which is what the caller hears every day. The backfill scheduler
 *   hears before it tries that such a job will run soon, and plans no nodes for it: it plans
 *   whole nodes, and jobs that are left to Slurm would find none beside those.
 *
 * Without sched/aucsched in the process it changes nothing.
 *
 * Locks: as for any select_p_job_test(), job and node write locks are the caller's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "model.h"

#define AUC_SELECT_CALLS(X) \
	X(select_p_node_init) X(select_p_job_begin) X(select_p_job_ready) \
	X(select_p_job_expand) X(select_p_job_resized) \
	X(select_p_job_suspend) X(select_p_job_resume) \
	X(select_p_select_nodeinfo_set_all) X(select_p_select_nodeinfo_set) \
	X(select_p_reconfigure) \
	AUC_SELECT_UNTIL_23_02(X) AUC_SELECT_UNTIL_23_11(X) \
	AUC_SELECT_UNTIL_25_05(X) AUC_SELECT_FROM_26_05(X)

/*
 * What backfill must not start it plans for so long from now, as for nodes that are not clean
 * yet.
 */
#define SOON_SECONDS 2

/* Backfill has begun again if it has not asked about a job of ours for so long. */
#define PASS_US 500000

const char plugin_name[] = "Consumable resources, with exact placement by aucsched";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

/* Client commands of old versions load select plug-ins too, and have no node table. */
extern int node_record_count __attribute__((weak));
extern node_record_t **node_record_table_ptr __attribute__((weak));

static __thread time_t immediate;

/* Of backfill's thread: when it last asked about a job of ours that could run now. */
static __thread int64_t asked_us;

static time_t *_immediate(void)
{
	return &immediate;
}

auc_select_hooks_t auc_select_hooks = {
	.version = AUC_HOOKS_VERSION,
	.immediate = _immediate,
};

static void *stock;

/*
 * A call is forwarded by a jump, so that no prototype is needed: the arguments stay
 * where they are, whatever they are in this version.
 */
#if defined(__x86_64__)
#define FORWARD(name)							\
	static void *stock_##name __attribute__((used));		\
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n"	\
		#name ":\n\tendbr64\n\tjmp *stock_" #name "(%rip)\n"	\
		".size " #name ",.-" #name "\n");
#elif defined(__aarch64__)
#define FORWARD(name)							\
	static void *stock_##name __attribute__((used));		\
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n"	\
		#name ":\n\thint #34\n\tadrp x16, stock_" #name "\n"	\
		"\tldr x16, [x16, :lo12:stock_" #name "]\n\tbr x16\n"	\
		".size " #name ",.-" #name "\n");
#else
#error "the select shim knows x86-64 and arm64"
#endif

AUC_SELECT_CALLS(FORWARD)

static int (*stock_job_test)(job_record_t *, bitstr_t *, uint32_t, uint32_t,
			     uint32_t, uint16_t, list_t *, list_t **,
			     auc_exc_t * AUC_JOB_TEST_MORE);
static int (*stock_job_fini)(job_record_t *);
static int (*stock_init)(void);
static int (*stock_fini)(void);

static int _load(void)
{
	if (stock)
		return SLURM_SUCCESS;
	stock = auc_plugin_open("select_cons_tres.so", RTLD_LAZY | RTLD_LOCAL,
				AUC_STOCK);
	if (!stock) {
		error("aucsched: no stock select_cons_tres.so along PluginDir=%s: name Slurm's own directory there too, after that of aucsched",
		      slurm_conf.plugindir);
		return SLURM_ERROR;
	}
#define RESOLVE(name)							\
	if (!(stock_##name = dlsym(stock, #name))) {			\
		error("aucsched: the stock select_cons_tres.so has no " #name ": it is not of Slurm " SLURM_VERSION_STRING); \
		return SLURM_ERROR;					\
	}
	AUC_SELECT_CALLS(RESOLVE)
	if (!(stock_job_test = dlsym(stock, "select_p_job_test")) ||
	    !(stock_job_fini = dlsym(stock, "select_p_job_fini"))) {
		error("aucsched: the stock select_cons_tres.so has no select_p_job_test or select_p_job_fini");
		return SLURM_ERROR;
	}
	stock_init = dlsym(stock, "init");
	stock_fini = dlsym(stock, "fini");
	return SLURM_SUCCESS;
}

/*
 * A slurmctld that is killed as it replaces a file of its state leaves the one before; with the
 * journal that is enough. From 25.05 on Slurm begins without a job then, or not at all.
 */
static void _restore_state(void)
{
	static const char *const files[] = { "job_state", "node_state",
		"part_state", "resv_state", "trigger_state" };
	const char *dir = slurm_conf.state_save_location;

	for (int i = 0; i < ARRAY_SIZE(files); i++) {
		char *path = xstrdup_printf("%s/%s", dir, files[i]);
		char *old = xstrdup_printf("%s.old", path);

		if (!link(old, path))	/* it never replaces one */
			error("aucsched: there is no %s, as after a kill: %s is taken",
			      path, old);
		else if ((errno != EEXIST) && (errno != ENOENT))
			fatal("aucsched: can't link %s to %s: %m; without it all jobs would be lost",
			      old, path);
		xfree(path);
		xfree(old);
	}
}

extern int init(void)
{
	if (_load())
		return SLURM_ERROR;
	if (AUC_FORGETS_OLD_STATE)
		_restore_state();
	return stock_init ? stock_init() : SLURM_SUCCESS;
}

extern int fini(void)
{
	return (stock && stock_fini) ? stock_fini() : SLURM_SUCCESS;
}

/*
 * The cores that the job must not use: those of the pin's nodes that it has not chosen, and those
 * that the caller excludes. _exclusion_free()
 */
#if AUC_EXC_PER_NODE
static auc_exc_t *_exclusion(const auc_pin_t *pin, auc_exc_t *exc)
{
	auc_exc_t *ours = xmalloc(sizeof(*ours));

	if (exc)
		*ours = *exc;
	ours->exc_cores = xcalloc(node_record_count, sizeof(bitstr_t *));
	for (int n = 0; n < node_record_count; n++) {
		bitstr_t *theirs = (exc && exc->exc_cores) ?
			exc->exc_cores[n] : NULL;

		if (pin->cores[n]) {
			ours->exc_cores[n] = bit_copy(pin->cores[n]);
			bit_not(ours->exc_cores[n]);
			if (theirs)
				bit_or(ours->exc_cores[n], theirs);
		} else if (theirs)
			ours->exc_cores[n] = bit_copy(theirs);
	}
	return ours;
}

static void _exclusion_free(auc_exc_t *ours)
{
	for (int n = 0; n < node_record_count; n++)
		FREE_NULL_BITMAP(ours->exc_cores[n]);
	xfree(ours->exc_cores);
	xfree(ours);
}
#else
/* One bitmap of the cores of all nodes, one node's after the other's. */
static auc_exc_t *_exclusion(const auc_pin_t *pin, auc_exc_t *exc)
{
	node_record_t *node_ptr;
	bitstr_t *ours;
	int all = 0, first = 0;

	for (int n = 0; n < node_record_count; n++)
		if ((node_ptr = node_record_table_ptr[n]))
			all += node_ptr->tot_cores;
	ours = exc ? bit_copy(exc) : bit_alloc(all);
	for (int n = 0; n < node_record_count; n++) {
		if (!(node_ptr = node_record_table_ptr[n]))
			continue;
		for (int c = 0; pin->cores[n] && (c < node_ptr->tot_cores); c++)
			if (!bit_test(pin->cores[n], c))
				bit_set(ours, first + c);
		first += node_ptr->tot_cores;
	}
	return ours;
}

static void _exclusion_free(auc_exc_t *ours)
{
	FREE_NULL_BITMAP(ours);
}
#endif

/*
 * The nodes of a pin are all that there are, so that they need not be named. topology/block takes
 * no named ones for segments.
 */
static bitstr_t *_unname(const auc_pin_t *pin, job_record_t *job_ptr)
{
	bitstr_t *named = job_ptr->details->req_node_bitmap;

	if (pin->unnamed)
		job_ptr->details->req_node_bitmap = NULL;
	return named;
}

/*
 * Stock code takes GPUs that are marked as selected as they are. Which ones, never how many: that
 * was validated. It marks none where nodes do not say which cores GPUs are close to.
 */
static void _mark_gpus(gres_job_state_t *request, int n, bitstr_t *gpus)
{
	bitstr_t **marked = request->gres_bit_select;

	if ((request->gres_cnt_node_select[n] != bit_set_count(gpus)) ||
	    (marked && marked[n] && ((bit_size(marked[n]) != bit_size(gpus)) ||
				     (bit_set_count(marked[n]) !=
				      bit_set_count(gpus)))))
		return;
	if (!marked)
		marked = request->gres_bit_select =
			xcalloc(request->total_node_cnt, sizeof(*marked));
	FREE_NULL_BITMAP(marked[n]);
	marked[n] = bit_copy(gpus);
}

/* What an earlier attempt has marked; stock code marks what it chooses again. */
static void _unmark_gpus(job_record_t *job_ptr)
{
	gres_job_state_t *request = auc_gres_data(job_ptr->gres_list_req,
						  gres_build_id("gpu"));

	for (int n = 0; request && request->gres_bit_select &&
	     (n < request->total_node_cnt); n++)
		FREE_NULL_BITMAP(request->gres_bit_select[n]);
}

/* Whether others have to go first: what they hold is not free yet, and the job does not start. */
static bool _waits_for(list_t **preemptees)
{
	return preemptees && *preemptees && list_count(*preemptees);
}

static bool _any_shared(const node_record_t *node_ptr, const bitstr_t *gpus)
{
	AUC_EACH_BIT(gpu, gpus)
		if (auc_is_shared_gpu(node_ptr, gpu))
			return true;
	return false;
}

/*
 * So many GPUs of a node that nobody has anything of, the first ones, in place of those chosen, if
 * any of these is in shared use. Node read lock.
 * IN chosen - NULL: which ones nobody has said
 * OUT whole - FREE_NULL_BITMAP(); NULL: those chosen will do, or GPUs are of several types
 * RET false if there are too few
 */
static bool _whole_gpus(const node_record_t *node_ptr, const bitstr_t *chosen,
			uint64_t count, bitstr_t **whole)
{
	const gres_node_state_t *gpus;

	*whole = NULL;
	if (!node_ptr || !auc_shared_gpus(node_ptr) ||
	    !(gpus = auc_gres_data(node_ptr->gres_list,
				    gres_build_id("gpu"))) || !gpus->gres_bit_alloc ||
	    (gpus->type_cnt > 1) || (chosen && !_any_shared(node_ptr, chosen)))
		return true;
	*whole = auc_free_gpus(node_ptr, gpus, NULL, count);
	return *whole;
}

/*
 * The GPUs of a pin; and where none are named, such as nobody has a share of: stock code of 22.05
 * looks only at those that jobs have as a whole.
 * IN pin - NULL: none
 * RET false if a node has too few of these
 */
static bool _pin_gpus(const auc_pin_t *pin, job_record_t *job_ptr)
{
	gres_job_state_t *request = auc_gres_data(job_ptr->gres_list_req,
						  gres_build_id("gpu"));
	const job_resources_t *given = job_ptr->job_resrcs;

	if (!request || !request->gres_cnt_node_select || !given ||
	    !given->node_bitmap)
		return true;
	for (int n = 0; (n < node_record_count) && (n < request->total_node_cnt);
	     n++) {
		bitstr_t *whole = NULL, *chosen = request->gres_bit_select ?
			request->gres_bit_select[n] : NULL;

		/* Of other nodes there is what an earlier attempt has left. */
		if (!bit_test(given->node_bitmap, n) ||
		    !request->gres_cnt_node_select[n])
			continue;
		if (pin && pin->gpus[n])
			_mark_gpus(request, n, pin->gpus[n]);
		else if (!_whole_gpus(node_record_table_ptr[n], chosen,
				      request->gres_cnt_node_select[n], &whole))
			return false;
		if (whole)
			_mark_gpus(request, n, whole);
		FREE_NULL_BITMAP(whole);
	}
	return true;
}

/* A job that stock code has found its nodes gets such GPUs too, or starts another time. */
static int _settle(const auc_pin_t *pin, job_record_t *job_ptr, list_t **preemptees)
{
	if (_waits_for(preemptees) || _pin_gpus(pin, job_ptr))
		return SLURM_SUCCESS;
	free_job_resources(&job_ptr->job_resrcs);
	return ESLURM_NODES_BUSY;
}

/* Likewise the device that shares are of, which stock code would choose by itself. */
static void _pin_share(const auc_pin_t *pin, job_record_t *job_ptr)
{
	gres_job_state_t *request;
	bitstr_t *chosen;

	if (!pin->share_gres ||
	    !(request = auc_gres_data(job_ptr->gres_list_req,
				     pin->share_gres)) ||
	    !request->gres_bit_select ||
	    (pin->share_node >= request->total_node_cnt) ||
	    !(chosen = request->gres_bit_select[pin->share_node]) ||
	    (bit_set_count(chosen) != 1) || (pin->device < 0) ||
	    (pin->device >= bit_size(chosen)) ||
	    bit_test(chosen, pin->device))
		return;
	auc_move_shares(request, pin->share_node, bit_ffs(chosen), pin->device);
}

static bool _is_victim(const auc_pin_t *pin, uint32_t job_id)
{
	for (uint32_t i = 0; i < pin->victims_len; i++)
		if (pin->victims[i] == job_id)
			return true;
	return !pin->victims;
}

/*
 * Of the jobs that Slurm would preempt for this one those that it may; a start finds free what was
 * decided, and preempts nobody.
 * RET FREE_NULL_LIST(); NULL: none
 */
static list_t *_victims(const auc_pin_t *pin, list_t *candidates)
{
	list_t *victims = NULL;
	job_record_t *job_ptr;

	if (!pin->may_preempt)
		return NULL;
	AUC_EACH(job_ptr, candidates) {
		/* Who is on his way out has been preempted already. */
		if (job_ptr->preempt_time || !_is_victim(pin, job_ptr->job_id))
			continue;
		if (!victims)
			victims = list_create(NULL);
		list_append(victims, job_ptr);
	}
	return victims;
}

/*
 * Whether this is the thread of Slurm's backfill scheduler, by the name that it has now: one of a
 * pool has had others.
 */
static bool _is_backfill(void)
{
	char name[16] = "";

	(void) prctl(PR_GET_NAME, name, NULL, NULL, NULL);
	return !strcmp(name, "bckfl");
}

static auc_whose_t _whose(job_record_t *job_ptr)
{
	return auc_select_hooks.whose ? auc_select_hooks.whose(job_ptr) :
		AUC_SLURMS;
}

/*
 * A job of ours that could run now backfill is told to plan, instead of trying to start it. The
 * first that it comes to keeps its nodes until the auction has decided: nobody behind may have
 * them. All others get none in the plan: they start within a cycle, or not where backfill thinks.
 */
static void _put_off(job_record_t *job_ptr, bitstr_t *nodes)
{
	time_t now = time(NULL);
	int64_t now_us;

	if (!_is_backfill() || (job_ptr->start_time > now) ||
	    (_whose(job_ptr) != AUC_AUCTIONED))
		return;
	job_ptr->start_time = now + SOON_SECONDS;
	now_us = auc_now_us();
	if (now_us < asked_us + PASS_US)
		bit_clear_all(nodes);
	asked_us = now_us;
}

static bool _is_immediate(const job_record_t *job_ptr)
{
	return immediate && job_ptr->details &&
		auc_is_immediate(immediate, job_ptr->details->submit_time,
				 time(NULL));
}

extern int select_p_job_test(job_record_t *job_ptr, bitstr_t *nodes,
			     uint32_t min_nodes, uint32_t max_nodes,
			     uint32_t req_nodes, uint16_t mode,
			     list_t *candidates, list_t **preemptees,
			     auc_exc_t *exc AUC_JOB_TEST_MORE)
{
#define STOCK_TEST(candidates, exc)					\
	stock_job_test(job_ptr, nodes, min_nodes, max_nodes, req_nodes, mode, \
		       candidates, preemptees, exc AUC_JOB_TEST_PASS)
	auc_pin_t *pin = auc_select_hooks.pin;
	auc_exc_t *ours;
	bitstr_t *named;
	list_t *victims;
	int rc;

	if (auc_select_hooks.aside)
		return STOCK_TEST(candidates, exc);
	if ((mode & 0xff) != SELECT_MODE_RUN_NOW) {
		rc = STOCK_TEST(candidates, exc);
		if (!rc && ((mode & 0xff) == SELECT_MODE_WILL_RUN))
			_put_off(job_ptr, nodes);
		return rc;
	}
	_unmark_gpus(job_ptr);
	if (!pin || (pin->job_ptr != job_ptr)) {
		auc_whose_t whose = _is_immediate(job_ptr) ? AUC_SLURMS :
			_whose(job_ptr);

		if (whose == AUC_AUCTIONED)
			return ESLURM_NODES_BUSY;
		if (whose == AUC_ON_FREE)
			candidates = NULL;
		if (auc_select_hooks.keep)
			auc_select_hooks.keep(job_ptr, nodes);
		if (!(rc = STOCK_TEST(candidates, exc)))
			rc = _settle(NULL, job_ptr, preemptees);
		if (!rc && auc_select_hooks.taken)
			auc_select_hooks.taken(job_ptr);
		return rc;
	}
	if (pin->asked)
		return ESLURM_NODES_BUSY;
	bit_and(nodes, pin->nodes);
	named = _unname(pin, job_ptr);
	victims = _victims(pin, candidates);
	ours = _exclusion(pin, exc);
	rc = STOCK_TEST(victims, ours);
	_exclusion_free(ours);
	FREE_NULL_LIST(victims);
	job_ptr->details->req_node_bitmap = named;
	if (!rc && !(rc = _settle(pin, job_ptr, preemptees)) && !_waits_for(preemptees))
		_pin_share(pin, job_ptr);
	if (!pin->got || rc)
		return rc;
	pin->asked = true;
	pin->preempted = preemptees ? *preemptees : NULL;
	pin->preempts = pin->preempted && list_count(pin->preempted);
	pin->got(job_ptr, pin->arg);
	pin->preempted = NULL;
	return ESLURM_NODES_BUSY;
}

extern int select_p_job_fini(job_record_t *job_ptr)
{
	int rc;

	if (auc_select_hooks.aside)
		return stock_job_fini(job_ptr);
	if (auc_select_hooks.freed)
		auc_select_hooks.freed(job_ptr);
	rc = stock_job_fini(job_ptr);
	if (job_ptr->job_resrcs && job_ptr->job_resrcs->node_bitmap)
		auc_mark_shared(job_ptr->job_resrcs->node_bitmap);
	return rc;
}
