/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * aucsched-engine: libaucsched.so in a process of its own, so that nothing that ends a Go program,
 * or writes where it must not, is slurmctld's end. slurmctld starts it (library.c), and it ends with
 * slurmctld, however that does.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine.h"

#define FUNCTIONS(X) \
	X(abi) X(version) X(settings) X(open) X(configure) \
	X(cycle) X(keep_files) X(shadow) X(status) X(last_error) \
	X(submission) X(topology) X(shape) X(noted) X(input_file)

#define DECLARE(name) __typeof__(aucsched_##name) *name;
static struct {
	FUNCTIONS(DECLARE)
} library;

static int _load(const char *path, char *why, size_t len)
{
#define NAME(name) { "aucsched_" #name, (void **) &library.name },
	static const struct {
		const char *name;
		void **at;
	} symbols[] = { FUNCTIONS(NAME) };
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		snprintf(why, len, "%s", dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		/* Of another version another may be missing: that is said first. */
		if (library.abi && (library.abi() != AUCSCHED_ABI)) {
			snprintf(why, len, "%s has ABI %d, the plug-in was built for %d",
				 path, library.abi(), AUCSCHED_ABI);
			return -1;
		}
		if (!(*symbols[i].at = dlsym(handle, symbols[i].name))) {
			snprintf(why, len, "%s is not libaucsched: it has no %s",
				 path, symbols[i].name);
			return -1;
		}
	}
	return 0;
}

/* The decisions are the library's; slurmctld reads the memory alone. */
static void _put_output(auc_call_t *call)
{
	struct aucsched_output *out = &call->out;

	out->decisions = AUC_ENGINE_PUT(call, out->decisions, out->decisions_len);
	out->segments = AUC_ENGINE_PUT(call, out->segments, out->segments_len);
	out->victims = AUC_ENGINE_PUT(call, out->victims, out->victims_len);
}

static int64_t _decide(auc_call_t *call)
{
	int64_t rc;

	if ((rc = library.cycle(call->handle, &call->in, &call->out)))
		return rc;
	_put_output(call);
	library.last_error(call->handle, call->error, sizeof(call->error));
	if (!call->full)
		return 0;
	snprintf(call->error, sizeof(call->error), "the decisions have no room");
	return AUCSCHED_EFAILED;
}

static int64_t _answer(auc_call_t *call)
{
	switch (call->call) {
	case AUC_CALL_SETTINGS:
		return library.settings(call->text, &call->settings, call->buf,
					call->buf_len);
	case AUC_CALL_SUBMISSION:
		return library.submission(&call->submission,
					  &call->submission_answer,
					  call->buf, call->buf_len);
	case AUC_CALL_TOPOLOGY:
		return library.topology(call->handle, call->text, call->len,
					call->sizes);
	case AUC_CALL_SHAPE:
		return library.shape(call->handle, (const void *) call->text,
				     (void *) call->buf);
	case AUC_CALL_NOTED:
		return library.noted(call->text, call->len, (void *) call->buf);
	case AUC_CALL_INPUT_FILE:
		return library.input_file(call->text, (void *) call->buf,
					  call->error, sizeof(call->error));
	case AUC_CALL_OPEN:
		call->handle = library.open(call->text, call->error,
					    sizeof(call->error));
		return call->handle > 0 ? 0 : call->handle;
	case AUC_CALL_CONFIGURE:
		return library.configure(call->handle, call->text);
	case AUC_CALL_DECIDE:
		return _decide(call);
	case AUC_CALL_KEEP_FILES:
		return library.keep_files(call->handle, call->text, call->end);
	case AUC_CALL_SHADOW:
		return library.shadow(call->handle, &call->shadow);
	case AUC_CALL_STATUS:
		return library.status(call->handle, &call->status, call->buf, call->buf_len);
	default:
		return AUCSCHED_EINVAL;
	}
}

/* slurmctld may end while the library decides. */
static void *_watch(void *arg)
{
	struct pollfd slurmctld = { .fd = AUC_ENGINE_SOCKET, .events = POLLRDHUP };

	while ((poll(&slurmctld, 1, -1) < 0) && (errno == EINTR))
		;
	_exit(0);
}

static void _hand_over(void)
{
	if (send(AUC_ENGINE_SOCKET, "", 1, MSG_NOSIGNAL) != 1)
		_exit(0);
}

static void _close_others(void)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, AUC_ENGINE_MEMORY, ~0U, 0))
		return;
#endif
	for (int fd = sysconf(_SC_OPEN_MAX); fd >= AUC_ENGINE_MEMORY; fd--)
		close(fd);
}

/* Where the machine has no memory left this goes before slurmctld: another one can be started. */
static void _go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if ((fd < 0) || (write(fd, "500", 3) != 3))
		perror("oom_score_adj");
	if (fd >= 0)
		close(fd);
}

/* Signals to slurmctld's group or service are slurmctld's: it has things to save by us. */
static void _block_signals(void)
{
	static const int its[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(its) / sizeof(its[0]); i++)
		sigaddset(&signals, its[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

int main(int argc, char **argv)
{
	void *at = (argc == 4) ? (void *) strtoull(argv[2], NULL, 16) : NULL;
	pthread_t thread;
	auc_call_t *call;
	char byte;

	if (!at) {
		fputs("aucsched-engine is started by slurmctld's plug-in sched/aucsched\n", stderr);
		return 2;
	}
	if (strtoull(argv[3], NULL, 16) != AUC_ENGINE_FORM) {
		fputs("it is of another version than the plug-in: restart slurmctld\n", stderr);
		return 1;
	}
	_go_first();
	_block_signals();
	prctl(PR_SET_NAME, "aucsched-engine", 0, 0, 0);
	call = mmap(at, AUC_ENGINE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
		    AUC_ENGINE_MEMORY, 0);
	if (call != at) {	/* a kernel before 4.17 takes the address as a hint */
		fprintf(stderr, "no room for slurmctld's memory at %p\n", at);
		return 1;
	}
	/* What slurmctld has open is none of ours. */
	_close_others();
	if (pthread_create(&thread, NULL, _watch, NULL))
		return 1;
	call->rc = _load(argv[1], call->error, sizeof(call->error));
	if (!call->rc)
		snprintf(call->error, sizeof(call->error), "%s", library.version());
	_hand_over();
	while (recv(AUC_ENGINE_SOCKET, &byte, 1, 0) == 1) {
		call->rc = _answer(call);
		if (call->rc && call->handle && !call->error[0])
			library.last_error(call->handle, call->error,
					   sizeof(call->error));
		_hand_over();
	}
	return 0;
}
