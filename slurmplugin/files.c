/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which input files nodes hold: what the library is told of it, and the file in StateSaveLocation
 * in which that outlasts a restart. See model.h.
 *
 * The file is what aucsched_save_files() gives, with a version and a checksum of its own; it is
 * replaced as a whole. One that is damaged is left out, and everything begins anew: it is about
 * preferences only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aucsched.h"
#include "common.h"
#include "model.h"
#include "request.h"

/* It is written so seldom at most, and takes at most one part in so many of the time. */
#define SAVE_US 1000000
#define SAVE_SHARE 50

/* After a write that failed. */
#define AGAIN_US 60000000

/* More than this is none of ours. */
#define MOST_BYTES ((size_t) 64 << 20)

/* The agent's thread alone. */
static struct {
	char *buffer;
	size_t cap;
	uint64_t saved;		/* file_changes that are in the file */
	int64_t due_us;
	bool tried;		/* to load what an earlier slurmctld has left */
} files;

/* ---- the snapshot ---- */

extern void auc_add_stores(auc_snapshot_t *s, const auc_settings_t *settings)
{
	if (!settings->locality)
		return;
	AUC_GROW(s->stores, s->stores_cap, s->in.nodes_len);
	s->in.stores_len = s->in.nodes_len;
	for (int n = 0; n < s->in.nodes_len; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		struct aucsched_store *store = &s->stores[n];
		uint64_t mb;

		memset(store, 0, sizeof(*store));
		if (!node_ptr)
			continue;
		mb = settings->file_memory ? settings->file_memory :
			node_ptr->real_memory;
		store->id = auc_id_of(node_ptr->name, strlen(node_ptr->name));
		store->bytes = MIN(mb, AUCSCHED_MAX_FILE >> 20) << 20;
	}
}

static bool _add(const auc_snapshot_t *s, struct aucsched_read **reads,
		 size_t *cap, uint32_t *len, uint32_t number,
		 const job_record_t *job_ptr)
{
	auc_input_t input;

	if (!s->in.stores_len ||
	    (auc_input_parse(job_ptr->comment, &input, NULL) != AUC_INPUT_OK))
		return false;
	AUC_GROW(*reads, *cap, *len + 1);
	(*reads)[(*len)++] = (struct aucsched_read) {
		.job = number, .file = input.file, .bytes = input.bytes };
	return true;
}

extern bool auc_add_job_read(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	return _add(s, &s->job_reads, &s->job_reads_cap, &s->in.job_reads_len,
		    s->in.jobs_len, job_ptr);
}

extern void auc_add_running_read(auc_snapshot_t *s, const job_record_t *job_ptr)
{
	(void) _add(s, &s->running_reads, &s->running_reads_cap,
		    &s->in.running_reads_len, s->in.running_len, job_ptr);
}

/* ---- the file ---- */

static char *_path(const char *dir)
{
	return xstrdup_printf("%s/aucsched_files", dir);
}

static bool _grow_buffer(size_t len)
{
	if (len > MOST_BYTES)
		return false;
	if (len > files.cap) {
		xfree(files.buffer);
		files.buffer = xmalloc(files.cap = len + len / 2);
	}
	return true;
}

/* RET how many bytes of the file are in the buffer, or -1 with errno */
static ssize_t _read_all(int fd)
{
	struct stat at;
	size_t have = 0;
	ssize_t more = 1;

	if (fstat(fd, &at))
		return -1;
	if (!_grow_buffer(at.st_size + 1)) {
		errno = EFBIG;
		return -1;
	}
	while ((more > 0) && (have < at.st_size)) {
		more = read(fd, files.buffer + have, at.st_size - have);
		have += MAX(more, 0);
	}
	return (more < 0) ? -1 : have;
}

extern void auc_files_load(const auc_library_t *library, const char *dir)
{
	char *path, text[512] = "";
	ssize_t len = -1;
	int fd;

	if (files.tried)
		return;
	files.tried = true;
	path = _path(dir);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) >= 0) {
		len = _read_all(fd);
		close(fd);
	}
	if (len < 0) {
		if (errno != ENOENT)
			error("aucsched: can't read %s: %m; no node is taken to hold a file",
			      path);
	} else if (library->load_files(library->scheduler, files.buffer, len)) {
		library->last_error(library->scheduler, text, sizeof(text));
		error("aucsched: %s: %s; no node is taken to hold a file",
		      path, text);
	}
	xfree(path);
}

static bool _write_all(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t wrote = write(fd, at, len);

		if (wrote <= 0)
			return false;
		at += wrote;
		len -= wrote;
	}
	return true;
}

/* A reader sees the old file or the new one. What a killed process has left, or a link, is not written to. */
static bool _replace(const char *path, const char *at, size_t len)
{
	char *new = xstrdup_printf("%s.new", path);
	bool done;
	int fd;

	(void) unlink(new);
	fd = open(new, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	done = (fd >= 0) && _write_all(fd, at, len);
	if (fd >= 0)
		done = !close(fd) && done;
	done = done && !rename(new, path);
	if (!done)
		error("aucsched: can't write %s: %m", new);
	xfree(new);
	return done;
}

static bool _save(const auc_library_t *library, const char *dir)
{
	int64_t len = library->save_files(library->scheduler, NULL, 0);
	char *path;
	bool done;

	if ((len <= 0) || !_grow_buffer(len) ||
	    (library->save_files(library->scheduler, files.buffer, files.cap) !=
	     len))
		return false;
	path = _path(dir);
	done = _replace(path, files.buffer, len);
	xfree(path);
	return done;
}

extern void auc_files_keep(const auc_library_t *library,
			   const struct aucsched_output *out, const char *dir)
{
	int64_t begin = auc_now_us();

	if ((out->file_changes == files.saved) || (begin < files.due_us))
		return;
	if (!_save(library, dir)) {
		files.due_us = begin + AGAIN_US;
		return;
	}
	files.saved = out->file_changes;
	files.due_us = auc_now_us();
	files.due_us += MAX(SAVE_US, SAVE_SHARE * (files.due_us - begin));
}

extern void auc_files_end(const auc_library_t *library, const char *dir)
{
	if (files.saved && library->scheduler)
		(void) _save(library, dir);
	xfree(files.buffer);
	memset(&files, 0, sizeof(files));
}
