/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "library.h"
#include "record.h"
#include "request.h"

#define PROGRAM "aucsched-engine"	/* beside the plug-in */

/* How long an answer may take: a cycle's deadline is on top. A file may be on a disk that is slow. */
#ifndef ANSWER_MS	/* tests have less patience */
#define ANSWER_MS 8000
#endif
#define FILE_MS 60000
#define MOST_KNOWN 10000	/* answers */
#define PAUSE_US 1000000
#define MOST_PAUSE_US (60 * PAUSE_US)
/* Nobody has anything there, so that the engine finds it free as well. */
#define MEMORY_AT ((char *) 0x200000000000)
#define MEMORY_PLACES 16

static int _fail(auc_library_t *library, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(library->error, sizeof(library->error), format, args);
	va_end(args);
	return SLURM_ERROR;
}

/* ---- The engine's life ---- */

/* ": " and what it said at last, if it did: of a Go program that ends by a fault of its own, the fault. */
static void _last_words(auc_library_t *library, char *words, size_t size)
{
	ssize_t len = pread(library->log, words + 2, size - 3, 0);

	memcpy(words, ": ", 2);
	words[MAX(len, 0) + 2] = '\0';
	words[strcspn(words, "\n")] = '\0';
	if (ftruncate(library->log, 0) || lseek(library->log, 0, SEEK_SET) || !words[2])
		words[0] = '\0';
}

/* The next engine is started at once; if that failed too, later and later. IN say - that this one is gone */
static int _put_off(auc_library_t *library, bool say)
{
	if (say)
		error("aucsched: %s", library->error);
	library->resume_us = auc_now_us() + library->pause_us;
	library->pause_us = MIN(MAX(2 * library->pause_us, PAUSE_US),
				MOST_PAUSE_US);
	return SLURM_ERROR;
}

/* Kills it, if it hasn't ended. RET its status, as by waitpid() */
static int _end(auc_library_t *library)
{
	int status = 0;

	if (!library->pid)
		return 0;
	(void) kill(library->pid, SIGKILL);
	while ((waitpid(library->pid, &status, 0) < 0) && (errno == EINTR))
		;
	close(library->socket);
	library->pid = 0;
	library->scheduler = 0;
	return status;
}

/* Who calls has had no answer. IN ended - it has ended by itself */
static int _lost(auc_library_t *library, bool ended)
{
	pid_t pid = library->pid;
	char words[256];
	int status = _end(library);

	_last_words(library, words, sizeof(words));
	if (!ended)
		(void) _fail(library, "the engine (pid %d) did not answer in time, and was killed",
			     pid);
	else if (WIFSIGNALED(status))
		(void) _fail(library, "the engine (pid %d) was ended by signal %d%s",
			     pid, WTERMSIG(status), words);
	else
		(void) _fail(library, "the engine (pid %d) ended with status %d%s",
			     pid, WEXITSTATUS(status), words);
	return _put_off(library, true);
}

/* Hands the memory over, and waits for it. */
static int _exchange(auc_library_t *library, bool hand_over, int64_t ms)
{
	struct pollfd engine = { .fd = library->socket, .events = POLLIN };
	int64_t end = auc_now_us() + ms * 1000, left = ms * 1000;
	char byte;
	int ready = 0;

	if (hand_over &&
	    (send(library->socket, "", 1, MSG_NOSIGNAL) != 1))
		return _lost(library, true);
	while ((left > 0) && !(ready > 0)) {
		ready = poll(&engine, 1, left / 1000 + 1);
		left = end - auc_now_us();
	}
	if (ready <= 0)
		return _lost(library, false);
	if (recv(library->socket, &byte, 1, MSG_DONTWAIT) != 1)
		return _lost(library, true);
	return SLURM_SUCCESS;
}

static auc_call_t *_call(auc_library_t *library, auc_call_number_t number)
{
	auc_call_t *call = library->call;

	memset(call, 0, sizeof(*call));
	call->used = sizeof(*call);
	call->call = number;
	call->handle = library->scheduler;
	return call;
}

/* RET what the library returned, or SLURM_ERROR if it was not asked: library->error has why. */
static int64_t _ask(auc_library_t *library, int64_t ms)
{
	auc_call_t *call = library->call;

	if (call->full)
		return _fail(library, "this is more than the engine's memory of %llu bytes takes",
			     AUC_ENGINE_BYTES);
	if (_exchange(library, true, ms))
		return SLURM_ERROR;
	call->error[sizeof(call->error) - 1] = '\0';
	if (call->rc)
		(void) _fail(library, "%s", call->error);
	return call->rc;
}

/* Where there is no such address, the kernel says where: the next engine may have something there. */
static void *_map(int fd)
{
	void *at = MAP_FAILED;

	for (int i = 0; (at == MAP_FAILED) && (i <= MEMORY_PLACES); i++)
		at = mmap(i < MEMORY_PLACES ? MEMORY_AT + i * AUC_ENGINE_BYTES : NULL,
			  AUC_ENGINE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE |
			  (i < MEMORY_PLACES ? MAP_FIXED_NOREPLACE : 0), fd, 0);
	return at;
}

/* What all engines of this slurmctld have, one after the other: memory, and room for last words. */
static int _share(auc_library_t *library)
{
	struct rlimit most;
	void *at;
	int fd;

	if (library->memory > 0)
		return SLURM_SUCCESS;
	/* Beyond the limit a file is not refused: a signal ends the process. */
	if (getrlimit(RLIMIT_FSIZE, &most) || (most.rlim_cur < AUC_ENGINE_BYTES))
		return _fail(library, "the engine's memory is beyond slurmctld's limit of a file's size (ulimit -f)");
	if ((library->log <= 0) &&
	    ((library->log = memfd_create("aucsched-log", MFD_CLOEXEC)) < 0))
		return _fail(library, "memory for the engine: %m");
	if ((fd = memfd_create("aucsched", MFD_CLOEXEC | MFD_ALLOW_SEALING)) < 0)
		return _fail(library, "memory for the engine: %m");
	/* What somebody cut off slurmctld could not read. */
	at = (ftruncate(fd, AUC_ENGINE_BYTES) ||
	      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ?
		MAP_FAILED : _map(fd);
	if (at == MAP_FAILED) {
		(void) _fail(library, "memory for the engine: %m");
		close(fd);
		return SLURM_ERROR;
	}
	(void) madvise(at, AUC_ENGINE_BYTES, MADV_DONTDUMP);
	library->memory = fd;
	library->call = at;
	return SLURM_SUCCESS;
}

/* RET an error number. OUT ours - our end of the socket */
static int _spawn(auc_library_t *library, const char *program, int *ours)
{
	char at[32], form[32];
	char *argv[] = { PROGRAM, library->path, at, form, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int ends[2], theirs, rc;

	snprintf(at, sizeof(at), "%llx",
		 (unsigned long long) (uintptr_t) library->call);
	snprintf(form, sizeof(form), "%llx", AUC_ENGINE_FORM);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	/* Above the numbers that they will have. */
	*ours = fcntl(ends[0], F_DUPFD_CLOEXEC, AUC_ENGINE_MEMORY + 1);
	theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, AUC_ENGINE_MEMORY + 1);
	rc = ((*ours < 0) || (theirs < 0)) ? errno : 0;
	close(ends[0]);
	close(ends[1]);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, library->log, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&actions, theirs, AUC_ENGINE_SOCKET);
	posix_spawn_file_actions_adddup2(&actions, library->memory,
					 AUC_ENGINE_MEMORY);
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	if (!rc)
		rc = posix_spawn(&library->pid, program, &actions, &attributes,
				 argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (theirs >= 0)
		close(theirs);
	if (rc && (*ours >= 0))
		close(*ours);
	return rc;
}

static int _start(auc_library_t *library)
{
	char *dir = auc_object_dir((const void *) auc_library_load);
	char *program = xstrdup_printf("%s/" PROGRAM, dir ? dir : ".");
	int rc;

	(void) _call(library, AUC_CALL_HELLO);
	if ((rc = _spawn(library, program, &library->socket))) {
		library->pid = 0;
		(void) _fail(library, "%s: %s", program, strerror(rc));
	}
	xfree(program);
	xfree(dir);
	if (rc)
		return _put_off(library, false);
	if (_exchange(library, false, ANSWER_MS))
		return SLURM_ERROR;
	if (!library->call->rc) {
		snprintf(library->version, sizeof(library->version), "%.60s",
			 library->call->error);
		return SLURM_SUCCESS;
	}
	(void) _fail(library, "%.500s", library->call->error);
	(void) _end(library);
	return _put_off(library, false);
}

static const char *_put_text(auc_call_t *call, const char *text)
{
	return text ? auc_engine_put(call, text, strlen(text) + 1) : NULL;
}

/* The same, with a buffer that the library writes to. It stays as it was if there is no answer. */
static int64_t _ask_into(auc_library_t *library, void *buf, size_t len)
{
	int64_t rc;

	library->call->buf_len = len;
	library->lent = library->call->buf = auc_engine_put(library->call, buf, len);
	rc = _ask(library, ANSWER_MS);
	if (library->pid && library->lent)
		memcpy(buf, library->lent, len);
	return rc;
}

/* The same for a text, which has an end whatever the library wrote. RET SLURM_SUCCESS or SLURM_ERROR */
static int _ask_text(auc_library_t *library, char *buf, size_t len)
{
	int64_t rc = _ask_into(library, buf, len);

	buf[len - 1] = '\0';
	return rc ? SLURM_ERROR : SLURM_SUCCESS;
}

/* Tells where nodes stand. RET as aucsched_topology() */
static int _place(auc_library_t *library)
{
	auc_call_t *call = _call(library, AUC_CALL_TOPOLOGY);

	call->text = _put_text(call, library->places);
	call->len = library->places_len;
	call->sizes = _put_text(call, library->sizes);
	return _ask(library, ANSWER_MS);
}

/* Has an engine run, with the scheduler that is to be open, which knows where nodes stand. */
static int _run(auc_library_t *library)
{
	auc_call_t *call;

	if (!library->pid) {
		if (!library->path || (auc_now_us() < library->resume_us))
			return SLURM_ERROR;	/* why was said then */
		if (_share(library) || _start(library))
			return SLURM_ERROR;
	}
	if (library->scheduler || !library->settings)
		return SLURM_SUCCESS;
	call = _call(library, AUC_CALL_OPEN);
	call->text = _put_text(call, library->settings);
	if (_ask(library, ANSWER_MS))
		return SLURM_ERROR;
	library->scheduler = call->handle;
	if (library->places)
		(void) _place(library);
	return library->pid ? SLURM_SUCCESS : SLURM_ERROR;
}

/* A call to an engine that runs. RET NULL if there is none */
static auc_call_t *_begin(auc_library_t *library, auc_call_number_t number)
{
	return _run(library) ? NULL : _call(library, number);
}

static void _forget(auc_library_t *library)
{
	xhash_free(library->known);
	library->unread_len = 0;
}

extern int auc_library_load(auc_library_t *library, const char *params)
{
	char *path = auc_path_param(params, "auc_library="), *dir;

	if (!path) {
		/* Beside the plug-in first: that is the one which was built with it. */
		dir = auc_object_dir((const void *) auc_library_load);
		path = xstrdup_printf("%s/libaucsched.so", dir ? dir : ".");
		xfree(dir);
		if (access(path, R_OK)) {
			xfree(path);
			path = xstrdup("libaucsched.so");
		}
	}
	if (xstrcmp(path, library->path)) {
		(void) _end(library);
		xfree(library->settings);	/* they may not be for this one */
		library->resume_us = library->pause_us = 0;
		library->version[0] = '\0';
	}
	xfree(library->path);
	library->path = path;
	return _run(library);
}

extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings)
{
	auc_call_t *call;

	library->deadline_ms = settings->deadline_ms;
	if (library->scheduler) {
		call = _call(library, AUC_CALL_CONFIGURE);
		call->text = _put_text(call, settings->engine);
		if (_ask(library, ANSWER_MS))
			return SLURM_ERROR;
	}
	xfree(library->settings);
	library->settings = xstrdup(settings->engine);
	if (!_run(library))
		return SLURM_SUCCESS;
	xfree(library->settings);
	return SLURM_ERROR;
}

extern void auc_library_close(auc_library_t *library)
{
	(void) _end(library);
	if (library->memory > 0) {
		munmap(library->call, AUC_ENGINE_BYTES);
		close(library->memory);
		close(library->log);
	}
	xfree(library->path);
	xfree(library->settings);
	xfree(library->places);
	xfree(library->sizes);
	for (int i = 0; i < AUC_TAKEN; i++)
		xfree(library->taken[i].of);
	_forget(library);
	xfree(library->unread);
	xfree(library->key);
	memset(library, 0, sizeof(*library));
}

/* ---- Answers ---- */

/* What it answers makes no sense: nor would what it answers next. */
static int _lie(auc_library_t *library)
{
	(void) _end(library);
	(void) _fail(library, "the engine's answer is beyond what it was asked, and it was killed");
	return _put_off(library, true);
}

/* RET whether all of an array is in the memory */
static bool _here(const auc_call_t *call, const void *array, size_t len,
		  size_t size)
{
	uintptr_t at = (uintptr_t) array - (uintptr_t) call;

	return !len || ((at < AUC_ENGINE_BYTES) &&
			(len * size <= AUC_ENGINE_BYTES - at));
}

/* Where a text of the engine's buffer is in ours. */
static const char *_moved(const auc_library_t *library, const char *text, char *buf, size_t len)
{
	uintptr_t at = (uintptr_t) text - (uintptr_t) library->lent;

	return (text && (at < len)) ? buf + at : NULL;
}

extern int auc_library_settings(auc_library_t *library, const char *params,
				auc_settings_t *settings, char *buf, size_t len)
{
	auc_call_t *call = _begin(library, AUC_CALL_SETTINGS);

	if (!call)
		return SLURM_ERROR;
	call->text = _put_text(call, params);
	if (_ask_text(library, buf, len))
		return SLURM_ERROR;
	*settings = call->settings;
	settings->engine = _moved(library, settings->engine, buf, len);
	settings->status = _moved(library, settings->status, buf, len);
	settings->partitions = _moved(library, settings->partitions, buf, len);
	settings->said = _moved(library, settings->said, buf, len);
	return settings->engine ? SLURM_SUCCESS :
		_fail(library, "the library does not read SchedulerParameters");
}

#define SUBMISSION_TEXTS(X) \
	X(settings) X(script) X(gres) X(gres_prefix) X(nodes) X(comment) X(admin_comment) \
	X(partition) X(job_comment) X(qos)

extern int auc_library_submission(auc_library_t *library,
				  const struct aucsched_submission *job,
				  struct aucsched_submission_answer *out,
				  char *buf, size_t len)
{
	auc_call_t *call = _begin(library, AUC_CALL_SUBMISSION);
	auc_gpus_t *gpus = &out->gpus;
	int rc;

	memset(out, 0, sizeof(*out));
	snprintf(buf, len, "aucsched: this request can't be read now: slurmctld's log says why");
	if (!call)
		return SLURM_ERROR;
	call->submission = *job;
#define PUT(text) call->submission.text = _put_text(call, job->text);
	SUBMISSION_TEXTS(PUT)
#undef PUT
	rc = _ask_text(library, buf, len);
	*out = call->submission_answer;
	out->gres = _moved(library, out->gres, buf, len);
	out->comment = _moved(library, out->comment, buf, len);
	out->admin_comment = _moved(library, out->admin_comment, buf, len);
	out->job_comment = _moved(library, out->job_comment, buf, len);
	out->socket = _moved(library, out->socket, buf, len);
	gpus->type[AUC_TYPE_SIZE - 1] = '\0';
	return (rc || (!gpus->low == !gpus->high && (gpus->low <= gpus->high) && (gpus->high <= 1024))) ?
		rc : _lie(library);
}

/* ---- Where nodes stand ---- */

extern int auc_library_topology(auc_library_t *library, const char *nodes,
				uint32_t nodes_len, const char *sizes)
{
	(void) auc_set_text(&library->places, nodes);
	(void) auc_set_text(&library->sizes, sizes);
	library->places_len = nodes_len;
	_forget(library);
	return _run(library) ? SLURM_ERROR : _place(library);
}

/* ---- What jobs ask for ---- */

/* A question, and behind it the answer. */
struct auc_known {
	uint32_t len;		/* of what tells it apart: number, detail and the question */
	int rc;			/* AUC_UNREAD: it is not answered yet */
	uint32_t size;		/* of the answer */
	char bytes[];
};

static void _known_key(void *item, const char **key, uint32_t *len)
{
	*key = ((struct auc_known *) item)->bytes;
	*len = ((struct auc_known *) item)->len;
}

static bool _sound_answer(auc_call_number_t number, int rc, const void *answer)
{
	static const char *const words[] = AUCSCHED_LEFT_WORDS;
	const struct aucsched_shape *shape = answer;

	if (number != AUC_CALL_SHAPE)
		return rc <= AUCSCHED_MAX_ALTERNATIVES;
	return (rc < 0) || ((shape->left < ARRAY_SIZE(words)) &&
			    (shape->len <= AUCSCHED_MAX_LAYOUTS) &&
			    (shape->left || shape->len));
}

extern int auc_library_read(auc_library_t *library, auc_call_number_t number,
			    uint32_t detail, const void *question, size_t len,
			    void *answer, size_t size)
{
	uint32_t head[] = { number, detail }, key_len = sizeof(head) + len;
	struct auc_known *known;

	AUC_GROW(library->key, library->key_cap, key_len);
	memcpy(library->key, head, sizeof(head));
	memcpy(library->key + sizeof(head), question, len);
	if ((known = xhash_get(library->known, library->key, key_len))) {
		memcpy(answer, known->bytes + key_len, size);
		return known->rc;
	}
	if (library->known && (xhash_count(library->known) >= MOST_KNOWN))
		_forget(library);
	if (!library->known)
		library->known = xhash_init(_known_key, auc_free);
	known = xmalloc(sizeof(*known) + key_len + size);
	*known = (struct auc_known) { key_len, AUC_UNREAD, size };
	memcpy(known->bytes, library->key, key_len);
	xhash_add(library->known, known);
	AUC_APPEND(library->unread, known);
	return AUC_UNREAD;
}

extern int auc_library_answer(auc_library_t *library)
{
	while (library->unread_len) {
		struct auc_known *known = library->unread[library->unread_len - 1];
		char *answer = known->bytes + known->len;
		uint32_t head[2];
		auc_call_t *call;
		int rc;

		memcpy(head, known->bytes, sizeof(head));
		if (!(call = _begin(library, head[0])))
			return SLURM_ERROR;
		call->len = head[1];
		call->text = auc_engine_put(call, known->bytes + sizeof(head),
					    known->len - sizeof(head));
		rc = _ask_into(library, answer, known->size);
		if (!library->pid)
			return SLURM_ERROR;
		if (!_sound_answer(head[0], rc, answer))
			return _lie(library);
		known->rc = rc;
		library->unread_len--;
	}
	return SLURM_SUCCESS;
}

/* ---- Decisions ---- */

/*
 * Copies an array out of the memory, into which the engine might write when it has answered: what is
 * checked is a copy. OUT whole - false if it is not there as a whole
 */
static const void *_take(auc_library_t *library, auc_taken_t which,
			 const void *from, size_t len, size_t size, bool *whole)
{
	__typeof__(*library->taken) *to = &library->taken[which];

	if (!_here(library->call, from, len, size)) {
		*whole = false;
		return NULL;
	}
	to->of = auc_grow(to->of, &to->cap, len, size);
	return len ? memcpy(to->of, from, len * size) : to->of;
}

#define TAKE(which, array, len) \
	(array) = _take(library, which, array, len, sizeof(*(array)), &whole)

/* A pointer that is added to one of these has to be put into the memory, or taken out of it, too. */
#define KNOWN(type, size) \
	_Static_assert((sizeof(void *) != 8) || (sizeof(struct type) == (size)), #type)
KNOWN(aucsched_settings, 80);
KNOWN(aucsched_submission, 128);
KNOWN(aucsched_submission_answer, 128);
KNOWN(aucsched_input, 312);
KNOWN(aucsched_output, 120);
KNOWN(aucsched_run, 136);
KNOWN(aucsched_shadow, 72);
KNOWN(aucsched_status, 1560);

static void _put_input(auc_call_t *call, const struct aucsched_input *in)
{
#define PUT(array, len) call->in.array = AUC_ENGINE_PUT(call, in->array, len);
	call->in = *in;
	AUCSCHED_RECORD_ARRAYS(PUT, in)
#undef PUT
}

/* Whether first..first + len - 1 are among so many. */
static bool _within(uint32_t first, uint32_t len, uint32_t all)
{
	return (first <= all) && (len <= all - first);
}

static bool _sound_decision(const struct aucsched_decision *decision,
			    const struct aucsched_input *in,
			    const struct aucsched_output *out)
{
	return (decision->why < AUCSCHED_WHYS) &&
		(decision->alternative <= AUCSCHED_MAX_ALTERNATIVES) &&
		(decision->gpus <= AUCSCHED_MAX_GPUS) &&
		(!decision->quota || (decision->quota < in->quotas_len)) &&
		_within(decision->first_segment, decision->segments,
			out->segments_len) &&
		_within(decision->first_victim, decision->victims,
			out->victims_len);
}

/* What slurmctld goes by is there, whatever has become of the engine. */
static bool _sound(const struct aucsched_input *in,
		   const struct aucsched_output *out)
{
	if ((out->decisions_len != in->jobs_len) || (out->shift > 63))
		return false;
	for (uint32_t i = 0; i < out->segments_len; i++)
		if ((out->segments[i].first > out->segments[i].last) ||
		    (out->segments[i].last >= in->nodes_len) ||
		    (out->segments[i].bin > 2 * AUCSCHED_MAX_GPUS))
			return false;
	for (uint32_t i = 0; i < out->victims_len; i++)
		if (out->victims[i] >= in->running_len)
			return false;
	for (uint32_t i = 0; i < out->decisions_len; i++)
		if (!_sound_decision(out->decisions + i, in, out))
			return false;
	return true;
}

extern int auc_library_decide(auc_library_t *library,
			      const struct aucsched_input *in,
			      struct aucsched_output *out)
{
	auc_call_t *call = _begin(library, AUC_CALL_DECIDE);
	bool whole = true;

	memset(out, 0, sizeof(*out));
	if (!call)
		return SLURM_ERROR;
	_put_input(call, in);
	call->out.abi = AUCSCHED_ABI;
	call->out.size = sizeof(call->out);
	if (_ask(library, library->deadline_ms + ANSWER_MS))
		return SLURM_ERROR;
	*out = call->out;
	TAKE(AUC_DECISIONS, out->decisions, out->decisions_len);
	TAKE(AUC_SEGMENTS, out->segments, out->segments_len);
	TAKE(AUC_VICTIMS, out->victims, out->victims_len);
	if (!whole || !_sound(in, out))
		return _lie(library);
	library->pause_us = 0;
	(void) _fail(library, "%s", call->error);
	return SLURM_SUCCESS;
}

/* ---- Files ---- */

extern int auc_library_keep_files(auc_library_t *library, const char *path,
				  bool end)
{
	auc_call_t *call = _begin(library, AUC_CALL_KEEP_FILES);

	if (!call)
		return SLURM_ERROR;
	call->text = _put_text(call, path);
	call->end = end;
	return _ask(library, FILE_MS) ? SLURM_ERROR : SLURM_SUCCESS;
}

static void _put_run(auc_call_t *call, struct aucsched_run *run)
{
	const char **texts[] = { &run->partition, &run->would.nodes, &run->slurm.nodes,
				 &run->before_word, &run->left, &run->state };

	for (int i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = _put_text(call, *texts[i]);
}

extern int auc_library_shadow(auc_library_t *library,
			      const struct aucsched_shadow *shadow)
{
	struct aucsched_run *runs;
	auc_call_t *call = _begin(library, AUC_CALL_SHADOW);

	if (!call)
		return SLURM_ERROR;
	call->shadow = *shadow;
	call->shadow.path = _put_text(call, shadow->path);
	call->shadow.slurm = _put_text(call, shadow->slurm);
	call->shadow.settings = _put_text(call, shadow->settings);
	_put_input(call, shadow->in);
	call->shadow.in = &call->in;
	call->shadow.runs = runs = AUC_ENGINE_PUT(call, shadow->runs,
						  shadow->runs_len);
	for (uint32_t i = 0; runs && (i < shadow->runs_len); i++)
		_put_run(call, runs + i);
	return _ask(library, FILE_MS) ? SLURM_ERROR : SLURM_SUCCESS;
}

extern int auc_library_status(auc_library_t *library,
			      const struct aucsched_status *status, char *buf,
			      size_t len)
{
	struct aucsched_left *left;
	auc_call_t *call;

	/* Without a scheduler there need be no engine; the status is written all the same. */
	if (!library->settings || _run(library))
		return SLURM_ERROR;
	call = _call(library, AUC_CALL_STATUS);
	call->status = *status;
	call->status.engine_pid = library->pid;
	call->status.state = _put_text(call, status->state);
	call->status.state_text = (char *) _put_text(call, status->state_text);
	call->status.last_failure = (char *) _put_text(call, status->last_failure);
	call->status.journal = _put_text(call, status->journal);
	call->status.slurm = _put_text(call, status->slurm);
	call->status.library = _put_text(call, status->library);
	call->status.settings = _put_text(call, status->settings);
	call->status.left = left = AUC_ENGINE_PUT(call, status->left,
						  status->left_len);
	for (uint32_t i = 0; left && (i < status->left_len); i++)
		left[i].why = _put_text(call, left[i].why);
	return _ask_text(library, buf, len);
}
