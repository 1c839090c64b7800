/* test_cachedir.c - a directory whose files are trusted: only what is the user's own, and where nobody else writes. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cachedir.h"
#include "base/mem.h"
#include "tap.h"

static char top[] = "/tmp/test_cachedir.XXXXXX";

static const char *at(const char *name)
{
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", top, name);
	return path;
}

static void put(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1)
		tap(false, "%s is written", name);
	if (fd >= 0)
		close(fd);
}

static bool opens(const char *name, struct err *e)
{
	*e = (struct err)ERR_INIT;
	int dir = cachedir_open(at(name), e);
	if (dir >= 0)
		close(dir);
	return dir >= 0;
}

static bool reads(int dir, const char *name)
{
	int fd = cachedir_file(dir, name);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_directory(void)
{
	struct err e;
	struct stat st = {0};
	umask(0);
	bool open = opens("a/b", &e);
	tap(open && stat(at("a/b"), &st) == 0 && (st.st_mode & 0777) == 0700,
	    "made with those above it, for the user alone %s", e.msg);
	chmod(at("a/b"), 0755);
	tap(opens("a/b", &e), "others may read %s", e.msg);
	chmod(at("a/b"), 0775);
	tap(!opens("a/b", &e) && e.code == ST_RUNTIME && strstr(e.msg, "others may write"),
	    "a group may write: %s", e.msg);
	chmod(at("a/b"), 01777);
	tap(!opens("a/b", &e) && strstr(e.msg, "chmod go-w"), "everybody may write: %s", e.msg);
	chmod(at("a/b"), 0700);
	put("file");
	tap(!opens("file", &e) && !opens("file/sub", &e), "a file: %s", e.msg);
	if (geteuid() != 0) {
		tap(true, "another user's # SKIP root alone can give a directory away");
		return;
	}
	bool given = chown(at("a/b"), 65534, 65534) == 0;
	tap(given && !opens("a/b", &e) && strstr(e.msg, "another user's"), "another user's: %s",
	    e.msg);
	given = chown(at("a/b"), 0, 0) == 0;
	tap(given && opens("a/b", &e), "given back %s", e.msg);
}

static void test_files(void)
{
	struct err e = ERR_INIT;
	int dir = cachedir_open(at("c"), &e);
	put("c/mine");
	put("outside");
	bool linked = symlink("mine", at("c/link")) == 0;
	linked &= symlink("../outside", at("c/away")) == 0;
	bool made = mkfifo(at("c/pipe"), 0600) == 0 && mkdir(at("c/folder"), 0700) == 0;
	tap(dir >= 0 && reads(dir, "mine"), "a file of the user's");
	tap(linked && !reads(dir, "link") && !reads(dir, "away"), "links are not followed");
	tap(made && !reads(dir, "pipe") && !reads(dir, "folder") && !reads(dir, "none"),
	    "what is no file");
	if (geteuid() == 0) {
		put("c/theirs");
		bool given = chown(at("c/theirs"), 65534, 65534) == 0;
		tap(given && !reads(dir, "theirs"), "another user's file");
	}
	if (dir >= 0)
		close(dir);
}

static void test_default(void)
{
	setenv("XDG_CACHE_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	char *p = cachedir_default();
	tap(p && strcmp(p, "/x/hsdag") == 0, "XDG_CACHE_HOME");
	mem_free(p);
	setenv("XDG_CACHE_HOME", "relative", 1);
	p = cachedir_default();
	tap(p && strcmp(p, "/h/.cache/hsdag") == 0, "HOME, where it is no absolute path");
	mem_free(p);
	setenv("HOME", "", 1);
	tap(!cachedir_default(), "neither");
}

int main(void)
{
	char command[200];
	if (!mkdtemp(top))
		return 1;
	test_directory();
	test_files();
	test_default();
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	tap(system(command) == 0, "nothing is left");
	return tap_end();
}
