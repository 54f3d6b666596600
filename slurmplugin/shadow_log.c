/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The file of what the auction would have started: see shadow_log.h.
 *
 * A line has all that is known of a job's run, and is written anew when more is: readers put
 * lines of the same run together, with the earliest start that the auction would have made. So a
 * file may lose its beginning, and a slurmctld that starts anew need not read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compat.h"
#include "shadow_log.h"

#define BUCKETS 4096

/* More runs than this at a time are not followed. */
#define MOST_ENTRIES (1 << 17)

/* Between two samples, and after a write that failed. */
#define SAMPLE_SECONDS 60
#define AGAIN_SECONDS 10

static struct {
	auc_shadow_entry_t *buckets[BUCKETS];
	uint32_t len;
	uint64_t lost;		/* runs that were too many */
	auc_shadow_sample_t sample;
	bool sampled;		/* it is to be written */
	int fd;			/* -1: none */
	char *path;
	ino_t inode;
	int mode;
	int64_t size;
	time_t again;		/* no write before */
	char *said;		/* the fault that was logged */
} shadow = { .fd = -1 };

/* ---- entries ---- */

static auc_shadow_entry_t **_bucket(const auc_shadow_key_t *key)
{
	uint32_t at = (key->job * 2654435761u) ^ (key->task * 40503u);

	return &shadow.buckets[(at >> 8) % BUCKETS];
}

static bool _is(const auc_shadow_key_t *a, const auc_shadow_key_t *b)
{
	return (a->job == b->job) && (a->task == b->task) &&
		(a->restarts == b->restarts);
}

extern auc_shadow_entry_t *auc_shadow_entry(const auc_shadow_key_t *key,
					    bool make)
{
	auc_shadow_entry_t **bucket = _bucket(key), *entry = *bucket;

	while (entry && !_is(&entry->key, key))
		entry = entry->next;
	if (entry || !make)
		return entry;
	if (shadow.len == MOST_ENTRIES) {
		shadow.lost++;
		return NULL;
	}
	entry = xmalloc(sizeof(*entry));
	entry->key = *key;
	entry->next = *bucket;
	*bucket = entry;
	shadow.len++;
	return entry;
}

static void _free_entry(auc_shadow_entry_t *entry)
{
	xfree(entry->partition);
	xfree(entry->would.nodes);
	xfree(entry->slurm.nodes);
	xfree(entry);
}

extern void auc_shadow_each(bool (*keep)(auc_shadow_entry_t *entry, void *arg),
			    void *arg)
{
	for (int i = 0; i < BUCKETS; i++) {
		auc_shadow_entry_t **at = &shadow.buckets[i];

		while (*at) {
			auc_shadow_entry_t *entry = *at;

			if (keep(entry, arg) || entry->dirty) {
				at = &entry->next;
				continue;
			}
			*at = entry->next;
			_free_entry(entry);
			shadow.len--;
		}
	}
}

extern void auc_shadow_sample(const auc_shadow_sample_t *sample)
{
	if (sample->time < shadow.sample.time + SAMPLE_SECONDS)
		return;
	shadow.sample = *sample;
	shadow.sampled = true;
}

/* ---- lines ---- */

static void _string(char **line, const char *value)
{
	xstrcatchar(*line, '"');
	for (; value && *value; value++) {
		if ((*value == '"') || (*value == '\\'))
			xstrcatchar(*line, '\\');
		xstrcatchar(*line, ((unsigned char) *value < ' ') ? ' ' : *value);
	}
	xstrcatchar(*line, '"');
}

static void _text(char **line, const char *key, const char *value)
{
	if (!value || !value[0])
		return;
	xstrfmtcat(*line, ",\"%s\":", key);
	_string(line, value);
}

static void _place(char **line, const char *key, const auc_shadow_place_t *place)
{
	xstrfmtcat(*line, ",\"%s\":{\"time\":%lld,\"cpus\":%u,\"gpus\":%u",
		   key, (long long) place->time, place->cpus, place->gpus);
	_text(line, "nodes", place->nodes);
}

extern char *auc_shadow_line(const auc_shadow_entry_t *entry)
{
	char *line = xstrdup_printf("{\"job\":%u", entry->key.job);
	char class[2] = { entry->bid_class, '\0' };

	if (entry->key.task != NO_VAL)
		xstrfmtcat(line, ",\"task\":%u", entry->key.task);
	if (entry->key.restarts)
		xstrfmtcat(line, ",\"restarts\":%u", entry->key.restarts);
	xstrfmtcat(line, ",\"user\":%u,\"submit\":%lld,\"eligible\":%lld,\"cpus\":%u,\"nodes\":%u",
		   entry->user, (long long) entry->submit,
		   (long long) entry->eligible, entry->cpus, entry->nodes);
	_text(&line, "partition", entry->partition);
	_text(&line, "left", entry->left);
	if (entry->would.nodes) {
		_place(&line, "would", &entry->would);
		_text(&line, "class", class);
		xstrfmtcat(line, ",\"victims\":%u}", entry->victims);
	}
	if (entry->slurm.nodes) {
		_place(&line, "slurm", &entry->slurm);
		_text(&line, "before", entry->before);
		xstrcat(line, "}");
	}
	if (entry->end)
		xstrfmtcat(line, ",\"end\":%lld", (long long) entry->end);
	_text(&line, "state", entry->state);
	xstrcat(line, "}\n");
	return line;
}

static char *_sample_line(const auc_shadow_sample_t *s)
{
	return xstrdup_printf("{\"sample\":%lld,\"queue\":%u,\"running\":%u,\"cores\":%llu,\"cores_used\":%llu,\"gpus\":%llu,\"gpus_used\":%llu,\"gpus_stranded\":%llu,\"would_cores\":%llu,\"would_gpus\":%llu,\"would_stranded\":%llu,\"lost\":%llu}\n",
			      (long long) s->time, s->queue, s->running,
			      (unsigned long long) s->cores,
			      (unsigned long long) s->cores_used,
			      (unsigned long long) s->gpus,
			      (unsigned long long) s->gpus_used,
			      (unsigned long long) s->gpus_stranded,
			      (unsigned long long) s->would_cores,
			      (unsigned long long) s->would_gpus,
			      (unsigned long long) s->would_stranded,
			      (unsigned long long) shadow.lost);
}

static char *_first_line(const auc_shadow_file_t *file, time_t now)
{
	char *line = xstrdup_printf("{\"shadow\":1,\"time\":%lld,\"interval_s\":%d",
				    (long long) now, file->interval);

	_text(&line, "version", file->version);
	_text(&line, "slurm", file->slurm);
	_text(&line, "settings", file->settings);
	xstrcat(line, "}\n");
	return line;
}

/* ---- the file ---- */

/* Once for each fault, and when it is over. */
static void _say(const char *path, const char *fault)
{
	if (fault && xstrcmp(fault, shadow.said))
		error("aucsched: can't write %s: %s; what the auction would have started is kept in memory, and tried again",
		      path, fault);
	else if (!fault && shadow.said)
		info("aucsched: %s is written again", path);
	xfree(shadow.said);
	shadow.said = xstrdup(fault);
}

static void _close(void)
{
	if (shadow.fd >= 0)
		close(shadow.fd);
	shadow.fd = -1;
}

/* What a killed slurmctld, or a full disk, has left half written ends there. */
static bool _end_line(int fd, int64_t size)
{
	char last = '\n';

	return !size || ((pread(fd, &last, 1, size - 1) == 1) &&
			 ((last == '\n') || (write(fd, "\n", 1) == 1)));
}

/* A device, a directory, a file of somebody else, or one with another name besides, is none of ours. */
static bool _may_write(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return false;
	if (S_ISREG(st->st_mode) && (st->st_uid == geteuid()) &&
	    (st->st_nlink == 1))
		return true;
	errno = S_ISREG(st->st_mode) ? EPERM : EEXIST;
	return false;
}

static bool _open(const auc_shadow_file_t *file)
{
	int fd = open(file->path, O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC |
		      O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0)
		return false;
	if (!_may_write(fd, &st) || fchmod(fd, file->mode) ||
	    !_end_line(fd, st.st_size) || fstat(fd, &st)) {
		int error = errno;

		close(fd);
		errno = error;
		return false;
	}
	xfree(shadow.path);
	shadow.path = xstrdup(file->path);
	shadow.fd = fd;
	shadow.inode = st.st_ino;
	shadow.size = st.st_size;
	shadow.mode = file->mode;
	return true;
}

static bool _touch(auc_shadow_entry_t *entry, void *arg)
{
	entry->dirty |= !entry->end;
	return true;
}

/* Whoever is not over yet is in the new file too. */
static bool _turn(const auc_shadow_file_t *file)
{
	char *old = xstrdup_printf("%s.old", file->path);
	bool done = !rename(file->path, old);

	xfree(old);
	if (!done)
		return false;
	_close();
	auc_shadow_each(_touch, NULL);
	return true;
}

static void _chmod(const auc_shadow_file_t *file)
{
	char *old = xstrdup_printf("%s.old", file->path);

	if (!fchmod(shadow.fd, file->mode))
		shadow.mode = file->mode;
	(void) chmod(old, file->mode);
	xfree(old);
}

/*
 * The file is open, and is still there.
 * OUT fresh - set if it was not open before
 */
static bool _make_ready(const auc_shadow_file_t *file, bool *fresh)
{
	struct stat st;

	if ((shadow.fd >= 0) &&
	    (xstrcmp(shadow.path, file->path) || stat(file->path, &st) ||
	     (st.st_ino != shadow.inode)))
		_close();
	if ((shadow.fd >= 0) && (shadow.size >= file->limit / 2) &&
	    !_turn(file))
		return false;
	if (shadow.fd >= 0) {
		if (shadow.mode != file->mode)
			_chmod(file);
		return true;
	}
	*fresh = true;
	return _open(file);
}

/* All of it or nothing. */
static bool _append(const char *text, size_t len)
{
	ssize_t wrote = write(shadow.fd, text, len);
	int error = errno;

	if (wrote == len) {
		shadow.size += len;
		return true;
	}
	if ((wrote > 0) && ftruncate(shadow.fd, shadow.size))
		_close();
	errno = (wrote >= 0) ? ENOSPC : error;
	return false;
}

typedef struct {
	char *text, *end;
	int64_t most;		/* bytes */
} text_t;

static void _add_line(text_t *all, char *line)
{
	xstrcatat(all->text, &all->end, line);
	xfree(line);
}

static bool _add(auc_shadow_entry_t *entry, void *arg)
{
	text_t *all = arg;

	if (!entry->dirty)
		return true;
	if (all->text && (all->end - all->text > all->most))
		shadow.lost++;
	else
		_add_line(all, auc_shadow_line(entry));
	return true;
}

static bool _clean(auc_shadow_entry_t *entry, void *arg)
{
	entry->dirty = false;
	return true;
}

extern void auc_shadow_flush(const auc_shadow_file_t *file, time_t now)
{
	text_t all = { .most = file->limit / 2 };
	bool fresh = false, ok;
	int error;

	if ((now < shadow.again) && (now + AGAIN_SECONDS >= shadow.again))
		return;
	ok = _make_ready(file, &fresh);
	if (ok) {
		if (fresh)
			_add_line(&all, _first_line(file, now));
		if (shadow.sampled)
			_add_line(&all, _sample_line(&shadow.sample));
		auc_shadow_each(_add, &all);
		ok = !all.text || _append(all.text, strlen(all.text));
	}
	error = errno;
	if (ok) {
		auc_shadow_each(_clean, NULL);
		shadow.sampled = false;
		shadow.again = 0;
	} else {
		_close();
		shadow.again = now + AGAIN_SECONDS;
	}
	_say(file->path, ok ? NULL : strerror(error));
	xfree(all.text);
}

extern time_t auc_shadow_before(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mtime;
}

static bool _forget(auc_shadow_entry_t *entry, void *arg)
{
	return entry->dirty = false;
}

extern void auc_shadow_log_free(void)
{
	auc_shadow_each(_forget, NULL);
	_close();
	xfree(shadow.path);
	xfree(shadow.said);
	memset(&shadow, 0, sizeof(shadow));
	shadow.fd = -1;
}
