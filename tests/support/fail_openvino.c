/* fail_openvino.c - OpenVINO that fails: linked in front of the real library under its name, it
 * refuses what HSDAG_OPENVINO_FAILS names. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char *message = "";

static int fails(const char *what)
{
	const char *s = getenv("HSDAG_OPENVINO_FAILS");
	return s && strcmp(s, what) == 0;
}

#define NEXT(type, name) (*(type *)(void *)&(void *){dlsym(RTLD_NEXT, name)})

const char *ov_get_last_err_msg(void)
{
	typedef const char *(*fn)(void);
	return *message ? message : NEXT(fn, "ov_get_last_err_msg")();
}

void ov_free(const char *text)
{
	typedef void (*fn)(const char *);
	if (text != message)
		NEXT(fn, "ov_free")(text);
}

int ov_core_compile_model(const void *core, const void *model, const char *device, size_t n,
			  void **out)
{
	typedef int (*fn)(const void *, const void *, const char *, size_t, void **, ...);
	if (!fails("compile"))
		return NEXT(fn, "ov_core_compile_model")(core, model, device, n, out);
	message = "Exception from src/somewhere.cpp:1:\nthe plugin does not\n\tlike it\n";
	return -1;
}

int ov_core_import_model(const void *core, const char *content, size_t bytes, const char *device,
			 void **out)
{
	typedef int (*fn)(const void *, const char *, size_t, const char *, void **);
	if (!fails("import"))
		return NEXT(fn, "ov_core_import_model")(core, content, bytes, device, out);
	message = "another version wrote it";
	return -1;
}

int ov_infer_request_infer(void *request)
{
	typedef int (*fn)(void *);
	if (!fails("infer"))
		return NEXT(fn, "ov_infer_request_infer")(request);
	message = "";
	return -7;
}
