/* joules.c - see joules.h. */
#include "measure/joules.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { FEWEST_RUNS = 3 };
static const double LEAST_S = 0.5;

static int read_count(const char *path, uint64_t *out, struct err *e)
{
	FILE *f = fopen(path, "re");
	if (!f)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	int n = fscanf(f, "%" SCNu64, out);
	fclose(f);
	return n == 1 ? 0 : err_set(e, ST_RUNTIME, "'%s' has no number", path);
}

/* Is it a package's: intel-rapl:N, without a part of one behind another colon?  The whole platform ("psys"), which has the packages
 * in it, is called so, too; the file `name` there tells. */
static bool is_package(const char *root, const char *name)
{
	char path[320], what[40] = "package";
	static const char prefix[] = "intel-rapl:";
	size_t n = sizeof prefix - 1;
	if (strncmp(name, prefix, n) != 0 || !name[n] ||
	    strspn(name + n, "0123456789") != strlen(name + n) ||
	    snprintf(path, sizeof path, "%s/%s/name", root, name) >= (int)sizeof path)
		return false;
	FILE *f = fopen(path, "re");
	if (f && !fgets(what, sizeof what, f))
		*what = '\0';
	if (f)
		fclose(f);
	return strncmp(what, "package", strlen("package")) == 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add_package(struct joules *x, const char *root, const char *name, struct err *e)
{
	char range[320];
	if (x->n == JOULES_PACKAGES)
		return err_set(e, ST_RUNTIME, "'%s' has more than %d packages", root,
			       JOULES_PACKAGES);
	char *path = x->path[x->n];
	if (snprintf(range, sizeof range, "%s/%s/max_energy_range_uj", root, name) >=
	    (int)sizeof x->path[0])
		return err_set(e, ST_RUNTIME, "'%s' is too long a name", root);
	snprintf(path, sizeof x->path[0], "%s/%s/energy_uj", root, name);
	x->n++;
	return 0;
}

int joules_open(struct joules *x, const char *root, struct err *e)
{
	const char *told = getenv("HSDAG_POWERCAP");
	*x = (struct joules){0};
	if (!root)
		root = told && *told ? told : "/sys/class/powercap";
	DIR *d = opendir(root);
	if (!d)
		return err_sys(e, ST_RUNTIME, "energy cannot be measured here: cannot read '%s'",
			       root);
	int rc = 0;
	for (struct dirent *f; rc == 0 && (f = readdir(d));)
		if (is_package(root, f->d_name))
			rc = add_package(x, root, f->d_name, e);
	closedir(d);
	if (rc == 0 && x->n == 0)
		return err_set(e, ST_RUNTIME, "energy cannot be measured here: no package in '%s'",
			       root);
	if (x->n > 1)
		qsort(x->path, x->n, sizeof x->path[0], compare);
	for (uint32_t i = 0; rc == 0 && i < x->n; i++) {
		char range[320];
		snprintf(range, sizeof range, "%.*smax_energy_range_uj",
			 (int)(strlen(x->path[i]) - strlen("energy_uj")), x->path[i]);
		rc = read_count(range, &x->range_uj[i], e);
		if (rc == 0)
			rc = read_count(x->path[i], &x->last_uj[i], e);
	}
	return rc == 0 ? 0 : err_prefix(e, "energy cannot be measured here");
}

int joules_since(struct joules *x, double *out, struct err *e)
{
	double sum = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		uint64_t now, was = x->last_uj[i];
		if (read_count(x->path[i], &now, e) < 0)
			return -1;
		sum += now >= was ? (double)(now - was)
				  : (double)now + (double)x->range_uj[i] - (double)was;
		x->last_uj[i] = now;
	}
	*out = sum * 1e-6;
	return 0;
}

int joules_of_run(struct joules *x, struct executor *by, struct plan *p, double *out, struct err *e)
{
	struct exec_sample sample = {0};
	uint32_t n = 0;
	double began_s = clock_s(), all;
	if (joules_since(x, &all, e) < 0)
		return -1;
	for (; n < FEWEST_RUNS || clock_s() - began_s < LEAST_S; n++)
		if (executor_run(by, p, &sample, e) < 0)
			return -1;
	if (joules_since(x, &all, e) < 0)
		return -1;
	*out = all / n;
	return 0;
}
