/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The status, its misses and its file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../library.h"
#include "../status.h"
#include "../snapshot.h"
#include "units.h"

static void _test_misses(void)
{
	auc_misses_t misses = { 0 };
	int sum = 0;

	auc_miss(&misses, "busy");
	auc_miss(&misses, "limit");
	auc_miss(&misses, "busy");
	CHECK((misses.len == 2) && (misses.of[0].count == 2) &&
	      !strcmp(misses.of[1].why, "limit"), "%d", misses.len);
	for (int i = 0; i < 100; i++) {
		char why[200];

		snprintf(why, sizeof(why), "%0150d", i);
		auc_miss(&misses, why);	/* as long as it is kept: all alike */
		snprintf(why, sizeof(why), "%d", i);
		auc_miss(&misses, why);
	}
	CHECK((misses.len == AUCSCHED_MISSES) &&
	      !strcmp(misses.of[AUCSCHED_MISSES - 1].why, "other") &&
	      (misses.of[2].count == 100), "%d", misses.len);
	for (int i = 0; i < misses.len; i++)
		sum += misses.of[i].count;
	CHECK(sum == 203, "all are counted: %d", sum);
}

static char *_read_file(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[len] = '\0';
	if (file)
		fclose(file);
	return file ? text : NULL;
}

static int _files_in(const char *dir)
{
	char *command = xstrdup_printf("ls -A %s | wc -l", dir);
	FILE *pipe = popen(command, "r");
	int count = -1;

	if (pipe) {
		if (fscanf(pipe, "%d", &count) != 1)
			count = -1;
		pclose(pipe);
	}
	xfree(command);
	return count;
}

/* In a directory where others put links, and a killed process left its file. */
static void _test_status_file(void)
{
	char dir[] = "/tmp/aucunitsXXXXXX", *path, *new, *victim;
	auc_settings_t settings = { .interval = 3, .engine = "deadline_ms=200" };
	auc_status_t status = { .state = "on", .journal = "off: no \"room\"", .saves_failed = 7 };
	auc_library_t none = { .path = "/lib" };
	static auc_snapshot_t snapshot;
	struct stat st;
	FILE *file;
	char *got;

	if (!mkdtemp(dir)) {
		CHECK(false, "mkdtemp: %m");
		return;
	}
	path = xstrdup_printf("%s/s", dir);
	new = xstrdup_printf("%s/s.new", dir);
	victim = xstrdup_printf("%s/victim", dir);
	file = fopen(victim, "w");
	fputs("precious", file);
	fclose(file);
	CHECK(!symlink(victim, path) && !symlink(victim, new), "%m");
	settings.status = path;
	auc_miss(&status.misses, "Requested nodes are busy \"");
	CHECK(!auc_library_open(units_loaded(), &settings), "%s", units_loaded()->error);
	auc_status_write(&status, &settings, units_loaded(), &snapshot, "/nowhere");
	CHECK(!xstrcmp(_read_file(victim), "precious"), "what a link names is not written");
	CHECK(_files_in(dir) == 2, "the status and the victim: %d", _files_in(dir));
	CHECK((file = fopen(new, "w")) && (fputs("{\"half\":", file) >= 0) && !fclose(file), "%m");
	got = _read_file(path);
	CHECK(got && !lstat(path, &st) && S_ISREG(st.st_mode) &&
	      ((st.st_mode & 0777) == 0644), "%s", got);
	CHECK(got && strstr(got, "\"journal\":\"off: no \\\"room\\\"\",") && strstr(got, "\"saves_failed\":7,") &&
	      strstr(got, "\"missed\":{\"Requested nodes are busy \\\"\":1},"), "%s", got);
	status.state_text = "no \"library\"\n";
	auc_status_write(&status, &settings, &none, &snapshot, "/nowhere");
	got = _read_file(path);
	CHECK(got && strstr(got, "\"interval_s\":3,\"state\":\"on\",\"state_text\":\"no 'library''\"}\n"), "%s", got);
	CHECK(_files_in(dir) == 2, "%d", _files_in(dir));
	/* Where it can't be written nothing stays behind, and no device is replaced. */
	unlink(path);
	CHECK(!mkdir(path, 0755), "%m");
	CHECK(!auc_status_replace(path, "{}") && (errno == EISDIR), "%m");
	CHECK(_files_in(dir) == 2, "%d", _files_in(dir));
	CHECK(!auc_status_replace("/dev/null", "{}") && (errno == EEXIST), "%m");
	CHECK(!auc_status_replace("/nonexistent/s", "{}") && (errno == ENOENT), "%m");
	CHECK(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "it is a device still");
	rmdir(path);
	unlink(victim);
	CHECK(!rmdir(dir), "%m");
	xfree(path);
	xfree(new);
	xfree(victim);
}

extern void test_status(void)
{
	_test_misses();
	_test_status_file();
}
