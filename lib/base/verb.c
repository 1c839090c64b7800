/* verb.c - which verb is meant, and the list of them. */
#include "base/verb.h"

#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"

static void print_help(const char *program, const char *summary, const struct verb *verbs)
{
	printf("%s - %s\n\nUsage: %s VERB [OPTION]... FILE...\n\n", program, summary, program);
	for (const struct verb *v = verbs; v->name; v++)
		printf("  %-10s %s\n", v->name, v->about);
	printf("\n%s VERB --help tells more.\n", program);
}

int verb_main(const char *program, const char *summary, const struct verb *verbs, int argc,
	      char **argv)
{
	struct err e = ERR_INIT;
	const char *name = argc > 1 ? argv[1] : "";
	const struct verb *v = verbs;
	int rc = 0;
	msg_program(program);
	while (v->name && strcmp(v->name, name) != 0)
		v++;
	if (v->name) {
		struct arena *a = arena_new();
		rc = v->run(argc - 1, argv + 1, a, &e);
		arena_free(a);
	} else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
		   strcmp(name, "--help-all") == 0) {
		print_help(program, summary, verbs);
	} else if (strcmp(name, "--version") == 0) {
		printf("%s (hsdag) %s\n", program, HSDAG_VERSION);
	} else {
		char help[80];
		struct err_near near = {.name = name};
		for (v = verbs; v->name; v++)
			err_offer(&near, v->name);
		snprintf(help, sizeof help, "see %s --help", program);
		rc = *name ? err_unknown(&e, ST_USAGE, &near, help, "unknown verb '%s'", name)
			   : err_set(&e, ST_USAGE, "no verb; %s", help);
	}
	return opt_finish(rc, &e);
}
