/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cycles in a file, to be repeated: see record.h and cshim/record.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat.h"
#include "record.h"
#include "../cshim/record.h"

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

static FILE *_open(const char *path)
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
		if (!(record.file = _open(record.path)) ||
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
