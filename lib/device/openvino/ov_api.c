/* ov_api.c - finding and loading OpenVINO's C library. */
#include "device/openvino/ov_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const char *given_directory;
static struct ov_api api;
static bool is_loaded;

void ov_api_directory(const char *dir)
{
	given_directory = dir;
}

/* ---- finding ---- */

/* The last path that matches (the newest of several versions), or false. */
static bool match_file(const char *pattern, char *path, size_t cap)
{
	glob_t g;
	bool found = glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc > 0 &&
		     strlen(g.gl_pathv[g.gl_pathc - 1]) < cap;
	if (found)
		strcpy(path, g.gl_pathv[g.gl_pathc - 1]);
	globfree(&g);
	return found;
}

/* In a directory, or where a wheel, a venv or a toolkit keeps it below that. */
static bool find_below(const char *dir, char *path, size_t cap)
{
	static const char *const below[] = {"",
					    "libs/",
					    "openvino/libs/",
					    "lib/python3*/site-packages/openvino/libs/",
					    "lib/python3*/dist-packages/openvino/libs/",
					    "python3/dist-packages/openvino/libs/",
					    "runtime/lib/*/",
					    "lib/"};
	char pattern[1200];
	for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
		snprintf(pattern, sizeof pattern, "%.1000s/%slibopenvino_c.so*", dir, below[i]);
		if (match_file(pattern, path, cap))
			return true;
	}
	return false;
}

/* The venv beside the program's directory: BUILD/venv of BUILD/bin/devrun and BUILD/tests. */
static bool find_beside(char *path, size_t cap)
{
	char self[1000];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 16);
	if (n <= 0)
		return false;
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	strcat(self, "/venv");
	return find_below(self, path, cap);
}

static bool find_anywhere(char *path, size_t cap)
{
	static const char *const roots[] = {"/usr/local", "/usr", "/usr/lib", "/opt/intel/openvino",
					    "/opt/intel/openvino_2*"};
	const char *venv = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
	char dir[1000];
	if (venv && find_below(venv, path, cap))
		return true;
	if (find_beside(path, cap))
		return true;
	if (home) {
		snprintf(dir, sizeof dir, "%.900s/.local", home);
		if (find_below(dir, path, cap))
			return true;
	}
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
		if (find_below(roots[i], path, cap))
			return true;
	return false;
}

/* The path of the library, or its bare name for the loader to find. */
static int find_library(char *path, size_t cap, struct err *e)
{
	const char *env = getenv("HSDAG_OPENVINO");
	const char *dir = given_directory ? given_directory : env && *env ? env : NULL;
	if (dir) {
		char q[300];
		if (find_below(dir, path, cap))
			return 0;
		return err_set(e, ST_USAGE, "no libopenvino_c.so in '%s' (%s)",
			       err_escape(q, sizeof q, dir, strlen(dir)),
			       given_directory ? "--openvino" : "HSDAG_OPENVINO");
	}
	if (!find_anywhere(path, cap))
		snprintf(path, cap, "libopenvino_c.so");
	return 0;
}

bool ov_api_present(void)
{
	char path[1200];
	struct err e = ERR_INIT;
	return is_loaded || (find_library(path, sizeof path, &e) == 0 && strchr(path, '/') != NULL);
}

/* ---- loading ---- */

static int load_functions(void *lib, const char *path, struct err *e)
{
	static const struct {
		const char *name;
		size_t at;
	} table[] = {
#define OV_ROW(result, name, args) {#name, offsetof(struct ov_api, name)},
		OV_FUNCTIONS(OV_ROW)
#undef OV_ROW
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		void *f = dlsym(lib, table[i].name);
		if (!f)
			return err_set(e, ST_RUNTIME,
				       "'%s' has no %s; OpenVINO 2023.1 or newer has it", path,
				       table[i].name);
		memcpy((char *)&api + table[i].at, &f, sizeof f);
	}
	return 0;
}

int ov_api_error(const struct ov_api *ov, ov_status status, struct err *e, const char *what)
{
	const char *own = ov->ov_get_last_err_msg(), *info = ov->ov_get_error_info(status);
	const char *text = own && *own ? own : info ? info : "unknown error";
	char line[700];
	/* Several lines, of which the first ones say where in OpenVINO's source it was noticed. */
	size_t n = 0;
	for (const char *s = text; *s && n < sizeof line - 3; s++) {
		bool blank = *s == '\n' || *s == '\r' || *s == '\t' || *s == ' ';
		if (blank && (n == 0 || line[n - 1] == ' '))
			continue;
		line[n++] = blank ? ' ' : *s;
	}
	line[n] = '\0';
	if (own)
		ov->ov_free(own);
	while (strncmp(line, "Exception from ", 15) == 0 && strstr(line, ": ") &&
	       strchr(strstr(line, ": "), ' '))
		memmove(line, strstr(line, ": ") + 2, strlen(strstr(line, ": ") + 2) + 1);
	char clean[800];
	return err_set(e, ST_RUNTIME, "%s: %s", what,
		       err_escape(clean, sizeof clean, line, strlen(line)));
}

/* The number that this version gives to a type: that of a Parameter of this type. */
static int ask_element(const ov_core *core, enum elem t)
{
	char xml[600];
	int n = snprintf(
		xml, sizeof xml,
		"<?xml version=\"1.0\"?><net name=\"t\" version=\"11\"><layers>"
		"<layer id=\"0\" name=\"p\" type=\"Parameter\" version=\"opset1\">"
		"<data shape=\"1\" element_type=\"%s\"/><output><port id=\"0\" precision=\"%s\">"
		"<dim>1</dim></port></output>"
		"</layer><layer id=\"1\" name=\"r\" type=\"Result\" "
		"version=\"opset1\"><input><port id=\"0\">"
		"<dim>1</dim></port></input></layer></layers><edges><edge from-layer=\"0\" "
		"from-port=\"0\" "
		"to-layer=\"1\" to-port=\"0\"/></edges></net>",
		elem_name(t), elem_name(t));
	ov_model *m = NULL;
	ov_port *port = NULL;
	int number = -1;
	if (api.ov_core_read_model_from_memory_buffer(core, xml, (size_t)n, NULL, &m) != 0)
		return -1;
	if (api.ov_model_const_input_by_index(m, 0, &port) != 0 ||
	    api.ov_port_get_element_type(port, &number) != 0)
		number = -1;
	if (port)
		api.ov_output_const_port_free(port);
	api.ov_model_free(m);
	return number;
}

/* Version, element types. */
static int ask_library(const char *path, struct err *e)
{
	ov_version v = {0};
	ov_core *core = NULL;
	ov_status s = api.ov_get_openvino_version(&v);
	if (s != 0)
		return ov_api_error(&api, s, e, path);
	snprintf(api.version, sizeof api.version, "%.70s", v.build ? v.build : "");
	api.ov_version_free(&v);
	s = api.ov_core_create(&core);
	if (s != 0)
		return ov_api_error(&api, s, e, path);
	for (int t = 0; t < EL_COUNT; t++)
		api.element[t] =
			t == EL_DYNAMIC || t == EL_STRING ? -1 : ask_element(core, (enum elem)t);
	api.ov_core_free(core);
	if (api.element[EL_F32] < 0 || api.element[EL_I64] < 0 || api.element[EL_U8] < 0)
		return err_set(e, ST_RUNTIME,
			       "'%s' (%s) does not read an IR of version 11; OpenVINO 2023.1 "
			       "or newer does",
			       path, api.version);
	return 0;
}

int ov_api_open(const struct ov_api **out, struct err *e)
{
	char path[1200];
	*out = &api;
	if (is_loaded)
		return 0;
	if (find_library(path, sizeof path, e) < 0)
		return -1;
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		const char *why = dlerror();
		if (!strchr(path, '/'))
			return err_set(
				e, ST_USAGE,
				"OpenVINO is not installed: give its directory with "
				"--openvino DIR or HSDAG_OPENVINO, or install the Python package "
				"'openvino'%s",
				err_few_files());
		return err_set(e, ST_RUNTIME, "cannot load '%s': %s", path,
			       why ? why : "unknown reason");
	}
	if (load_functions(lib, path, e) < 0 || ask_library(path, e) < 0)
		return -1;
	is_loaded = true;
	return 0;
}
