/* The figures for `aucsched status`: see scheduler.h. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "scheduler.h"

extern void auc_figure_add(auc_figure_t *figure, int64_t value)
{
	figure->last = value;
	figure->max = MAX(figure->max, value);
	figure->sum += value;
	figure->count++;
}

static void _text(char **json, const char *key, const char *value)
{
	xstrfmtcat(*json, "\"%s\":\"", key);
	for (; value && *value; value++) {
		if ((*value == '"') || (*value == '\\'))
			xstrfmtcat(*json, "\\%c", *value);
		else if ((unsigned char) *value < ' ')
			xstrcat(*json, " ");
		else
			xstrcatchar(*json, *value);
	}
	xstrcat(*json, "\",");
}

static void _count(char **json, const char *key, uint64_t value)
{
	xstrfmtcat(*json, "\"%s\":%llu,", key, (unsigned long long) value);
}

static void _figure(char **json, const char *key, const auc_figure_t *figure)
{
	xstrfmtcat(*json, "\"%s\":{\"last\":%lld,\"mean\":%.0f,\"max\":%lld},",
		   key, (long long) figure->last,
		   figure->count ? figure->sum / figure->count : 0,
		   (long long) figure->max);
}

static void _left(char **json, const auc_snapshot_t *snapshot)
{
	xstrcat(*json, "\"handed\":{");
	for (int i = 0; i < snapshot->left_len; i++)
		xstrfmtcat(*json, "%s\"%s\":%u", i ? "," : "",
			   snapshot->left[i].why, snapshot->left[i].jobs);
	xstrcat(*json, "},");
}

static void _files(char **json, const auc_status_t *status)
{
	xstrfmtcat(*json, "\"files\":{\"known\":%u,\"copies\":%u,\"starts\":%llu,\"on_holders\":%llu},",
		   status->files, status->copies,
		   (unsigned long long) status->readers,
		   (unsigned long long) status->holders);
}

static char *_json(const auc_status_t *status, const auc_settings_t *settings,
		   const auc_library_t *library, const auc_snapshot_t *snapshot)
{
	char *json = xstrdup("{");

	_text(&json, "version", library->version);
	_text(&json, "slurm", SLURM_VERSION_STRING);
	_count(&json, "pid", getpid());
	_count(&json, "time", time(NULL));
	_count(&json, "interval_s", settings->interval);
	_text(&json, "state", status->state);
	_text(&json, "state_text", status->state_text);
	_text(&json, "library", library->path);
	_text(&json, "settings", settings->engine);
	_count(&json, "cycles", status->cycles);
	_count(&json, "cycles_skipped", status->skipped);
	_count(&json, "cycles_failed", status->cycles_failed);
	_text(&json, "last_failure", status->last_failure);
	_figure(&json, "cycle_us", &status->cycle_us);
	_figure(&json, "snapshot_us", &status->snapshot_us);
	_figure(&json, "decide_us", &status->decide_us);
	_figure(&json, "start_us", &status->start_us);
	_figure(&json, "lock_us", &status->lock_us);
	_count(&json, "nodes", snapshot->in.nodes_len);
	_count(&json, "queue", snapshot->queue);
	_count(&json, "window", status->window);
	_count(&json, "running", snapshot->in.running_len);
	_count(&json, "started", status->started);
	_count(&json, "starts_failed", status->starts_failed);
	_count(&json, "handed_jobs", snapshot->left_jobs);
	_left(&json, snapshot);
	if (settings->locality)
		_files(&json, status);
	xstrfmtcat(json, "\"solver\":{\"status\":\"%s\",\"objective\":%.0f,\"bound\":%.0f,\"bids\":%u,\"worker_failures\":%llu},",
		   status->optimal ? "optimal" : "feasible", status->objective,
		   status->bound, status->bids,
		   (unsigned long long) status->worker_failures);
	xstrfmtcat(json, "\"fallbacks\":%llu}\n",
		   (unsigned long long) status->fallbacks);
	return json;
}

static bool _write(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t wrote;

	if (fd < 0)
		return false;
	wrote = write(fd, text, len);
	return !close(fd) && (wrote == len);
}

extern void auc_status_write(const auc_status_t *status,
			     const auc_settings_t *settings,
			     const auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir)
{
	char *path = settings->status ? xstrdup(settings->status) :
		xstrdup_printf("%s/aucsched.status", state_dir);
	char *new = xstrdup_printf("%s.new", path);
	char *json = _json(status, settings, library, snapshot);

	if (!_write(new, json) || rename(new, path))
		debug("aucsched: can't write %s: %m", path);
	xfree(json);
	xfree(new);
	xfree(path);
}
