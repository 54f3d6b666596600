/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The file of shadow mode, and for whom the auction is. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../settings.h"
#include "../status.h"
#include "units.h"

/* slurmctld's. */
extern part_record_t *find_part_record(char *name)
{
	return NULL;
}

static char *_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = xmalloc(1 << 22);
	size_t len = file ? fread(text, 1, (1 << 22) - 1, file) : 0;

	text[len] = '\0';
	if (file)
		fclose(file);
	return text;
}

static int _count(const char *path, const char *word)
{
	char *text = _text(path), *at = text;
	int count = 0;

	while ((at = strstr(at, word))) {
		count++;
		at++;
	}
	xfree(text);
	return count;
}

static int64_t _size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void _job(uint32_t id)
{
	auc_shadow_run_t run = {
		.key = { .job = id, .task = NO_VAL }, .user = 1000, .partition = "p" };

	auc_shadow_add(&run);
}

static void _test_lines(const char *dir)
{
	char *path = xstrdup_printf("%s/lines", dir);
	auc_shadow_file_t file = { .path = path, .limit = 1 << 20, .mode = 0644, .interval = 3 };
	auc_shadow_run_t run = {
		.key = { 7, 3, 1 }, .user = 5, .partition = "a\"\\\n<b>", .submit = 10,
		.eligible = 11, .cpus = 4, .nodes = 2, .bid_class = 'A',
		.victims = 1, .would = { 12, "n[1-2]", 4, 2 },
		.slurm = { 20, "n3", 4, 2 }, .before = "fit", .end = 30,
		.state = "COMPLETED",
	};

	auc_shadow_add(&run);
	auc_shadow_flush(&file, 1000);
	CHECK(_count(path, "{\"job\":7,\"task\":3,\"restarts\":1,\"user\":5,\"submit\":10,\"eligible\":11,\"cpus\":4,\"nodes\":2,\"partition\":\"a\\\"\\\\ <b>\",\"would\":{\"time\":12,\"cpus\":4,\"gpus\":2,\"nodes\":\"n[1-2]\",\"class\":\"A\",\"victims\":1},\"slurm\":{\"time\":20,\"cpus\":4,\"gpus\":2,\"nodes\":\"n3\",\"before\":\"fit\"},\"end\":30,\"state\":\"COMPLETED\"}\n") == 1, "%s", path);
	auc_shadow_flush(&file, 1001);
	CHECK((_count(path, "\"job\":7,") == 1) && (_count(path, "\n") == 2) &&
	      (_count(path, "\n{\"job") == 1), "nothing new");
	auc_shadow_log_free();
	xfree(path);
}

/* Half a line of a killed slurmctld, permissions, and a directory that comes later. */
static void _test_file(const char *dir)
{
	char *path = xstrdup_printf("%s/later/shadow", dir);
	char *sub = xstrdup_printf("%s/later", dir);
	auc_shadow_file_t file = { .path = path, .limit = 1 << 20, .mode = 0644,
				   .version = "1", .slurm = "2", .interval = 3 };
	struct stat st;
	FILE *half;

	_job(1);
	auc_shadow_flush(&file, 1000);
	CHECK(_size(path) < 0, "there is no directory");
	CHECK(!mkdir(sub, 0700), "%s", sub);
	CHECK((half = fopen(path, "w")) && (fputs("{\"job\":9,", half) > 0) &&
	      !fclose(half), "%s", path);
	auc_shadow_flush(&file, 1001);
	CHECK(!_count(path, "\"job\":1,"), "not before it is to be tried again");
	auc_shadow_flush(&file, 1011);
	CHECK((_count(path, "\"job\":1,") == 1) &&
	      (_count(path, "\"job\":9,\n{\"shadow\":1,") == 1), "%s", path);
	CHECK(!stat(path, &st) && ((st.st_mode & 0777) == 0644), "%o", st.st_mode);
	file.mode = 0600;
	auc_shadow_flush(&file, 1012);
	CHECK(!stat(path, &st) && ((st.st_mode & 0777) == 0600), "%o", st.st_mode);
	CHECK(_count(path, "\"job\":1,") == 1, "nothing new");
	CHECK(!unlink(path), "%s", path);
	_job(2);
	auc_shadow_flush(&file, 1013);
	CHECK(_count(path, "\"job\":2,") == 1, "a new file in place of one that was removed");
	auc_shadow_log_free();
	/* A link of somebody's is not followed. */
	CHECK(!unlink(path) && !symlink("/tmp/aucunits-victim", path), "%s", path);
	_job(3);
	auc_shadow_flush(&file, 1014);
	CHECK(_size("/tmp/aucunits-victim") < 0, "written through a link");
	auc_shadow_log_free();
	xfree(path);
	xfree(sub);
}

/* The oldest goes, and the limit stays; so it does of what can't be written. */
static void _test_limit(const char *dir)
{
	char *path = xstrdup_printf("%s/shadow", dir);
	char *old = xstrdup_printf("%s/shadow.old", dir);
	auc_shadow_file_t file = { .path = path, .limit = 64 << 10, .mode = 0644,
				   .interval = 3 };
	int64_t most = 0;

	for (uint32_t id = 1; id < 3000; id++) {
		_job(id);
		auc_shadow_flush(&file, 1000 + id);
		most = MAX(most, _size(path) + MAX(_size(old), 0));
	}
	CHECK((most > file.limit / 2) && (most <= file.limit + 4096), "%lld",
	      (long long) most);
	CHECK(_count(path, "\"job\":2999,") == 1, "the last");
	CHECK(!_count(path, "\"job\":2,") && !_count(old, "\"job\":2,"), "the first");
	auc_shadow_log_free();
	CHECK(auc_shadow_before(path) > 0, "%s", path);
	CHECK(!unlink(path) && !mkdir(path, 0700), "%s", path);
	for (uint32_t id = 1; id < 3000; id++) {
		_job(id);
		auc_shadow_flush(&file, 10000 + id);
	}
	CHECK(!rmdir(path), "%s", path);
	auc_shadow_sample(&(auc_shadow_sample_t) { .time = 20000 });
	auc_shadow_flush(&file, 20000);
	CHECK((_count(path, "\"job\":1,") == 1) && !_count(path, "\"job\":2999,") &&
	      (_size(path) <= file.limit / 2 + 4096) && !_count(path, "\"lost\":0}") &&
	      (_count(path, "\"lost\":") == 1), "%lld", (long long) _size(path));
	auc_shadow_log_free();
	xfree(path);
	xfree(old);
}

static void _test_share(void)
{
	int in = 0, all = 0, none = 0, neighbours = 0;

	for (uint32_t uid = 0; uid < 100000; uid++) {
		in += auc_user_in_share(uid, 20);
		all += auc_user_in_share(uid, 100);
		none += auc_user_in_share(uid, 0);
		neighbours += auc_user_in_share(uid, 20) &&
			auc_user_in_share(uid + 1, 20);
		CHECK(!auc_user_in_share(uid, 20) || auc_user_in_share(uid, 30),
		      "%u: a larger share has those of a smaller one", uid);
	}
	CHECK((in > 19500) && (in < 20500), "%d", in);
	CHECK((neighbours > 3600) && (neighbours < 4400), "%d", neighbours);
	CHECK((all == 100000) && !none, "%d %d", all, none);
	/* They are the same ones in every version. */
	CHECK(auc_user_in_share(1000, 77) &&
	      !auc_user_in_share(1000, 76), "of user 1000");
	CHECK(auc_is_listed("a,bc", "bc") && auc_is_listed("a,bc", "a") &&
	      !auc_is_listed("a,bc", "b") && !auc_is_listed("bc", "c") &&
	      !auc_is_listed(NULL, "a"), "names");
}

extern void test_shadows(void)
{
	char dir[] = "/tmp/aucunitsXXXXXX", *command;

	_test_share();
	CHECK(mkdtemp(dir), "%s", dir);
	_test_lines(dir);
	_test_file(dir);
	_test_limit(dir);
	command = xstrdup_printf("rm -rf %s", dir);
	CHECK(!system(command), "%s", command);
	xfree(command);
}
