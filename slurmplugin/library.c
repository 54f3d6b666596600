/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cshim/record.h"
#include "common.h"
#include "compat.h"
#include "library.h"
#include "request.h"

/* ---- Loading libaucsched.so or libaucsched-older.so ---- */

/*
 * RTLD_LOCAL keeps Go's symbols to itself. Beside the plug-in comes first: that is the
 * library which was built with it.
 */
static void *_open(const char *wanted, bool older, char **path, char **why)
{
	const char *name = older ? "libaucsched-older.so" : "libaucsched.so";
	char *dir;
	void *handle;

	if (wanted) {
		*path = xstrdup(wanted);
	} else {
		dir = auc_object_dir((const void *) auc_library_load);
		*path = xstrdup_printf("%s/%s", dir ? dir : ".", name);
		xfree(dir);
		if (access(*path, R_OK)) {
			xfree(*path);
			*path = xstrdup(name);
		}
	}
	if (!(handle = dlopen(*path, RTLD_NOW | RTLD_LOCAL)))
		*why = xstrdup(dlerror());
	return handle;
}

static int _resolve(auc_library_t *library, char **why)
{
	int (*abi)(void) = dlsym(library->handle, "aucsched_abi");
	const char *(*version)(void) =
		dlsym(library->handle, "aucsched_version");

	library->settings = dlsym(library->handle, "aucsched_settings");
	library->open = dlsym(library->handle, "aucsched_open");
	library->configure = dlsym(library->handle, "aucsched_configure");
	library->cycle = dlsym(library->handle, "aucsched_cycle");
	library->save_files = dlsym(library->handle, "aucsched_save_files");
	library->load_files = dlsym(library->handle, "aucsched_load_files");
	library->shadow = dlsym(library->handle, "aucsched_shadow");
	library->last_error = dlsym(library->handle, "aucsched_last_error");
	library->worker_fault = dlsym(library->handle, "aucsched_worker_fault");
	library->close = dlsym(library->handle, "aucsched_close");
	if (abi && (abi() != AUCSCHED_ABI)) {
		*why = xstrdup_printf("%s has ABI %d, the plug-in was built for %d",
				      library->path, abi(), AUCSCHED_ABI);
		return SLURM_ERROR;
	}
	if (!abi || !version || !library->settings || !library->open || !library->configure ||
	    !library->cycle || !library->shadow || !library->last_error || !library->close ||
	    !library->save_files || !library->load_files) {
		*why = xstrdup_printf("%s is not libaucsched", library->path);
		return SLURM_ERROR;
	}
	library->version = version();
	return SLURM_SUCCESS;
}

extern char *auc_library_differs(const auc_library_t *library,
				 const char *wanted)
{
	char *words = NULL;

	if (!library->handle || !xstrcmp(library->asked, wanted))
		return NULL;
	words = xstrdup_printf("auc_library=%s is not what was loaded: %s stays until slurmctld is restarted, which alone can load another",
			       wanted ? wanted : "(none)", library->path);
	if (wanted && access(wanted, R_OK))
		xstrfmtcat(words, "; and it can't be read: %m");
	return words;
}

extern char *auc_library_worker_fault(const auc_library_t *library)
{
	char text[512] = "";

	if (library->worker_fault)
		library->worker_fault(library->scheduler, text, sizeof(text));
	return xstrdup(text);
}

extern int auc_library_load(auc_library_t *library, const char *params,
			    char **why)
{
	char *wanted = auc_path_param(params, "auc_library="), *words;
	word_t policy = { 0 };

	if (!library->handle) {
		xfree(library->path);
		(void) auc_param(params, "auc_policy=", &policy);
		library->handle = _open(wanted, auc_is(policy, "auction1") ||
					auc_is(policy, "ipsched"),
					&library->path, why);
		xfree(library->asked);
		library->asked = xstrdup(wanted);
	}
	/* Once, until it is as it was again. */
	words = auc_library_differs(library, wanted);
	if (words && !library->other)
		error("aucsched: SchedulerParameters: %s", words);
	library->other = words != NULL;
	xfree(words);
	xfree(wanted);
	if (!library->handle)
		return SLURM_ERROR;
	if (!library->version && _resolve(library, why)) {
		/* What was opened is no Go library of ours: it can go. */
		dlclose(library->handle);
		library->handle = NULL;
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings, char **why)
{
	char text[512] = "";

	library->scheduler = library->open(settings->engine, text,
					   sizeof(text));
	if (library->scheduler > 0)
		return SLURM_SUCCESS;
	*why = xstrdup_printf("%s: %s", library->path, text);
	library->scheduler = 0;
	return SLURM_ERROR;
}

extern int auc_library_configure(auc_library_t *library,
				 const auc_settings_t *settings, char **why)
{
	char text[512] = "";

	if (!library->configure(library->scheduler, settings->engine))
		return SLURM_SUCCESS;
	library->last_error(library->scheduler, text, sizeof(text));
	*why = xstrdup(text);
	if (!settings->counts && !strstr(library->path, "-older"))
		xstrcat(*why, "; slurmctld loads another when it is restarted");
	return SLURM_ERROR;
}

extern void auc_library_close(auc_library_t *library)
{
	if (library->scheduler)
		library->close(library->scheduler);
	library->scheduler = 0;
}

/* ---- Cycles in a file, to be repeated: cshim/record.h ---- */

/* The file is no longer than this. */
#define MOST_BYTES ((uint64_t) 64 << 20)

static struct {
	FILE *file;		/* NULL: none, or it has ended */
	char *path;		/* which it is, or was */
	char *settings;		/* that were written last */
	uint64_t bytes;
} record;

static void _end(const char *why)
{
	if (why)
		error("aucsched: auc_record=%s: %s; nothing more is recorded",
		      record.path, why);
	if (record.file)
		fclose(record.file);
	record.file = NULL;
}

static FILE *_open_record(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW |
		      O_NONBLOCK, 0600);
	struct stat st;
	FILE *file;

	if (fd < 0)
		return NULL;
	errno = 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (st.st_uid != geteuid()) || (st.st_nlink != 1) || ftruncate(fd, 0) ||
	    !(file = fdopen(fd, "w"))) {
		close(fd);
		errno = errno ? errno : EPERM;
		return NULL;
	}
	return file;
}

static bool _write(const void *data, size_t len)
{
	record.bytes += len;
	return !len || (fwrite(data, len, 1, record.file) == 1);
}

static bool _begin(uint32_t kind, uint64_t bytes)
{
	return _write(&kind, sizeof(kind)) && _write(&bytes, sizeof(bytes));
}

static bool _settings(const char *engine)
{
	if (!xstrcmp(engine, record.settings))
		return true;
	xfree(record.settings);
	record.settings = xstrdup(engine);
	return _begin('S', strlen(engine)) && _write(engine, strlen(engine));
}

static uint64_t _size(const struct aucsched_input *in,
		      const struct aucsched_output *out)
{
	uint64_t bytes = sizeof(*in) + sizeof(*out) +
		(uint64_t) out->decisions_len * sizeof(*out->decisions) +
		(uint64_t) out->segments_len * sizeof(*out->segments);

#define ADD(array, len) bytes += (uint64_t) (len) * sizeof(*in->array);
	AUCSCHED_RECORD_ARRAYS(ADD, in)
#undef ADD
	return bytes;
}

static bool _cycle(const struct aucsched_input *in,
		   const struct aucsched_output *out)
{
	bool ok = _begin('C', _size(in, out)) && _write(in, sizeof(*in));

#define WRITE(array, len) ok = ok && _write(in->array, (len) * sizeof(*in->array));
	AUCSCHED_RECORD_ARRAYS(WRITE, in)
#undef WRITE
	return ok && _write(out, sizeof(*out)) &&
		_write(out->decisions, out->decisions_len * sizeof(*out->decisions)) &&
		_write(out->segments, out->segments_len * sizeof(*out->segments)) &&
		!fflush(record.file);
}

extern void auc_record_cycle(const auc_settings_t *settings,
			     const struct aucsched_input *in,
			     const struct aucsched_output *out)
{
	if (xstrcmp(record.path, settings->record)) {
		auc_record_close();
		if (!settings->record)
			return;
		record.path = xstrdup(settings->record);
		if (!(record.file = _open_record(record.path)) ||
		    !_write(AUCSCHED_RECORD_MAGIC, strlen(AUCSCHED_RECORD_MAGIC)))
			_end(strerror(errno));
	}
	if (!record.file)
		return;
	if (record.bytes + _size(in, out) > MOST_BYTES)
		_end("it has 64 MB");
	else if (!_settings(settings->engine) || !_cycle(in, out))
		_end(strerror(errno));
}

extern void auc_record_close(void)
{
	_end(NULL);
	xfree(record.path);
	xfree(record.settings);
	memset(&record, 0, sizeof(record));
}
