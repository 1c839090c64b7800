/* opt.c - option tables over getopt_long. */
#include "base/opt.h"
#include "base/mem.h"
#include "base/msg.h"

#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int opt_int(const char *s, const char *what, int64_t lo, int64_t hi, int64_t *out, struct err *e)
{
	char *end;
	errno = 0;
	long long v = strtoll(s, &end, 10);
	if (end == s || *end || errno == EINVAL)
		return err_set(e, ST_USAGE, "%s: '%s' is not a whole number", what, s);
	if (errno == ERANGE || v < lo || v > hi)
		return err_set(e, ST_USAGE, "%s: %s is out of range; %lld to %lld", what, s,
			       (long long)lo, (long long)hi);
	*out = v;
	return 0;
}

int opt_real(const char *s, const char *what, double lo, double hi, double *out, struct err *e)
{
	char *end;
	double v = strtod(s, &end);
	if (end == s || *end || !isfinite(v))
		return err_set(e, ST_USAGE, "%s: '%s' is not a number", what, s);
	if (v < lo || v > hi)
		return err_set(e, ST_USAGE, "%s: %s is out of range; %g to %g", what, s, lo, hi);
	*out = v;
	return 0;
}

static struct opt common_table(struct opt_common *c, const struct opt_program *p, int i)
{
	struct opt none = {0};
	if (i == 0 && !p->no_output)
		return (struct opt){"output",   'o',    OPT_TEXT,
				    &c->output, "FILE", "write there; '-' is standard output",
				    0,          0,      NULL,
				    NULL};
	if (i == 1 && p->has_seed)
		return (struct opt){"seed",  0,
				    OPT_INT, &c->seed,
				    "N",     "seed of all random numbers",
				    0,       9007199254740992.0,
				    NULL,    NULL};
	return none;
}

enum { HELP_LEFT = 29, HELP_WIDTH = 80, SCREEN_LINES = 24, MOST_USED = 10 };

/* The words of text[0..len) between columns `left` and HELP_WIDTH; *at is the column that is
 * reached. */
static void print_words(const char *text, size_t len, int left, int *at)
{
	for (const char *end = text + len; text < end;) {
		int n = (int)strcspn(text, " \n");

		if (n && *at > left && *at + 1 + n > HELP_WIDTH)
			*at = printf("\n%*s", left, "") - 1;
		if (n)
			*at += printf("%s%.*s", *at > left ? " " : "", n, text);
		text += n + 1;
	}
}

void opt_print(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		int at = 0;

		if (n &&
		    *text != ' ') /* a paragraph: up to an empty line or one that is indented */
			while (text[n] && text[n + 1] && text[n + 1] != ' ' && text[n + 1] != '\n')
				n += 1 + strcspn(text + n + 1, "\n");
		if (*text == ' ')
			printf("%.*s", (int)n, text);
		else
			print_words(text, n, 0, &at);
		putchar('\n');
		text += n + (text[n] != 0);
	}
}

static void print_opt(const struct opt *o)
{
	char left[80], dflt[96] = "";
	int at = HELP_LEFT;
	if (o->letter)
		snprintf(left, sizeof left, "-%c, --%s%s%s", o->letter, o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
	else
		snprintf(left, sizeof left, "    --%s%s%s", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
	switch (o->kind) {
	case OPT_FLAG:
		if (*(bool *)o->dst)
			snprintf(dflt, sizeof dflt, "(default: on; --no-%s)", o->name);
		break;
	case OPT_INT:
		snprintf(dflt, sizeof dflt, "(default: %lld)", (long long)*(int64_t *)o->dst);
		break;
	case OPT_REAL: snprintf(dflt, sizeof dflt, "(default: %g)", *(double *)o->dst); break;
	case OPT_TEXT:
		if (*(const char **)o->dst)
			snprintf(dflt, sizeof dflt, "(default: %s)", *(const char **)o->dst);
		break;
	case OPT_TEXTS: break;
	case OPT_CHOICE: /* below 0: the text says what it is without the option */
		if (*(int *)o->dst >= 0)
			snprintf(dflt, sizeof dflt, "(default: %s)", o->choices[*(int *)o->dst]);
		break;
	}
	printf("  %-26s ", left);
	if (strlen(left) > 26)
		printf("\n%*s", HELP_LEFT, "");
	print_words(o->help, strlen(o->help), HELP_LEFT, &at);
	for (int i = 0; o->kind == OPT_CHOICE && o->choices[i]; i++) {
		char choice[80];

		at += i ? 0 : printf(":");
		snprintf(choice, sizeof choice, "%s%s", o->choices[i],
			 o->choices[i + 1] ? "," : "");
		print_words(choice, strlen(choice), HELP_LEFT, &at);
	}
	print_words(dflt, strlen(dflt), HELP_LEFT, &at);
	putchar('\n');
}

/* "devrun", or with a verb "devrun probe". */
static const char *command(const struct opt_program *p, char *dst, size_t cap)
{
	snprintf(dst, cap, "%s%s%s", p->name, p->verb ? " " : "", p->verb ? p->verb : "");
	return dst;
}

static void print_opts(const struct opt_program *p, struct opt_common *c)
{
	printf("Options:\n");
	for (const struct opt *o = p->opts; o && o->name; o++)
		print_opt(o);
	for (int i = 0; i < 2; i++) {
		struct opt o = common_table(c, p, i);
		if (o.name)
			print_opt(&o);
	}
	if (p->print_list)
		printf("      --list                 print the methods and their sources, "
		       "tab-separated\n");
	printf("  -v, --verbose              say more on standard error; repeat for more\n"
	       "  -h, --help                 the options that are used most\n"
	       "      --help-all             this text\n"
	       "      --version              name and version\n");
}

static void print_verbs(const struct opt_program *p)
{
	for (const struct opt_verb *v = p->verbs; v->name; v++)
		printf("  %-10s %s\n%15s%s\n", v->name, v->summary, "", v->example);
	printf("\n%s VERB --help has the options of each.\n", p->name);
}

static void print_usage(const struct opt_program *p)
{
	char name[80];
	command(p, name, sizeof name);
	printf("%s - %s\n\nUsage: %s%s [OPTION]...%s%s\n\n", name, p->summary, name,
	       p->verbs ? " VERB" : "", *p->args ? " " : "", p->args);
}

static void print_help_all(const struct opt_program *p, struct opt_common *c)
{
	print_usage(p);
	if (p->verbs)
		print_verbs(p);
	else
		print_opts(p, c);
	if (p->details || p->print_details)
		putchar('\n');
	if (p->print_details)
		p->print_details();
	if (p->print_details && p->details)
		putchar('\n');
	if (p->details)
		opt_print(p->details);
	if (p->example)
		printf("\nExample:\n  %s\n", p->example);
	printf("\nExit status: 0 done, 1 runtime (input/output, device, memory), 2 usage,\n"
	       "3 malformed, truncated or unsupported input.\n");
}

/* How much of a help fits on a line: all, else up to where a clause ends, else up to where a word does, *more. */
static size_t brief_length(const char *help, size_t room, bool *more)
{
	size_t n = strlen(help), clause = 0, word = 0;
	*more = false;
	if (n <= room)
		return n;
	for (size_t i = 1; i <= room; i++) {
		if (help[i] == ';' || help[i] == ',' || (help[i] == '(' && help[i - 1] == ' '))
			clause = i - (help[i] == '(');
		if ((help[i] == ' ' || help[i] == '\n') && i + 4 <= room)
			word = i;
	}
	*more = clause < room / 2;
	return *more ? word : clause;
}

static void print_brief(const struct opt *o)
{
	char left[80], text[HELP_WIDTH];
	snprintf(left, sizeof left, "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, o->arg ? " " : "",
		 o->arg ? o->arg : "");
	size_t used = strlen(left) < 26 ? 26 : strlen(left);
	bool more;
	size_t n = brief_length(o->help, HELP_WIDTH - 3 - used, &more);
	snprintf(text, sizeof text, "%.*s%s", (int)n, o->help, more ? " ..." : "");
	for (char *c = text; (c = strchr(c, '\n'));)
		*c = ' ';
	size_t room = HELP_WIDTH - 3 - used;
	for (int i = 0; n == strlen(o->help) && o->kind == OPT_CHOICE && o->choices[i]; i++) {
		size_t at = strlen(text);
		bool fits = at + 2 + strlen(o->choices[i]) + (o->choices[i + 1] ? 5 : 0) <= room;
		if (!fits && at + 5 > room)
			break;
		snprintf(text + at, sizeof text - at, "%s%s", i ? ", " : ": ",
			 fits ? o->choices[i] : "...");
		if (!fits)
			break;
	}
	printf("  %-26s %s\n", left, text);
}

static int count_lines(const char *text)
{
	int n = 1;
	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* One screen: usage, verbs or the first options of the table, an example, where the rest is. */
static void print_help(const struct opt_program *p, struct opt_common *c)
{
	char name[80];
	int used = 9 + (p->example ? 2 + count_lines(p->example) : 0), shown = 0;
	int most = used + MOST_USED < SCREEN_LINES ? MOST_USED : SCREEN_LINES - used;
	struct opt output = common_table(c, p, 0);
	print_usage(p);
	if (p->verbs) {
		print_verbs(p);
	} else {
		printf("Options that are used most:\n");
		for (const struct opt *o = p->opts; o && o->name && shown < most; o++, shown++)
			print_brief(o);
		if (output.name)
			print_brief(&output);
		printf("  -v, --verbose              say more on standard error; repeat for "
		       "more\n");
	}
	if (p->example)
		printf("\nExample:\n  %s\n", p->example);
	printf("\n%s --help-all has %s.\n", command(p, name, sizeof name),
	       p->verbs ? "more" : "all options and what they mean");
}

static int store(const struct opt *o, const char *value, bool negated, struct err *e)
{
	char what[80];
	snprintf(what, sizeof what, "--%s", o->name);
	bool any = o->lo == 0 && o->hi == 0;
	if (o->given)
		*o->given = true;
	switch (o->kind) {
	case OPT_FLAG: *(bool *)o->dst = !negated; return 0;
	case OPT_INT:
		return opt_int(value, what, any ? INT64_MIN : (int64_t)o->lo,
			       any ? INT64_MAX : (int64_t)o->hi, o->dst, e);
	case OPT_REAL:
		return opt_real(value, what, any ? -DBL_MAX : o->lo, any ? DBL_MAX : o->hi, o->dst,
				e);
	case OPT_TEXT: *(const char **)o->dst = value; return 0;
	case OPT_TEXTS: {
		struct opt_texts *t = o->dst;
		if (t->n == OPT_MAX_TEXTS)
			return err_set(e, ST_USAGE, "%s: more than %d times", what, OPT_MAX_TEXTS);
		t->v[t->n++] = value;
		return 0;
	}
	case OPT_CHOICE:
		for (int i = 0; o->choices[i]; i++)
			if (strcmp(o->choices[i], value) == 0) {
				*(int *)o->dst = i;
				return 0;
			}
		break;
	}
	char list[400] = "one of ";
	struct err_near near = {.name = value};
	for (int i = 0; o->choices[i]; i++) {
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
			 o->choices[i]);
		err_offer(&near, o->choices[i]);
	}
	return err_unknown(e, ST_USAGE, &near, list, "%s: unknown choice '%s'", what, value);
}

enum {
	MAX_OPTS = 64,
	OPT_HELP = 1000,
	OPT_HELP_ALL,
	OPT_VERSION,
	OPT_LIST,
	OPT_LONG = 2000,
	OPT_NEGATED = 3000
};

/* What getopt_long is given. */
struct tables {
	int n;
	struct opt opt[MAX_OPTS]; /* (n) the program's and the common ones */
	struct option lopts[2 * MAX_OPTS + 5];
	char letters[3 * MAX_OPTS], negated[MAX_OPTS][40];
};

static void fill_tables(const struct opt_program *p, struct opt_common *c, struct tables *t)
{
	int m = 0;
	t->n = 0;
	strcpy(t->letters, ":vh");
	for (const struct opt *o = p->opts; o && o->name && t->n < MAX_OPTS - 2; o++)
		t->opt[t->n++] = *o;
	for (int i = 0; i < 2; i++) {
		struct opt o = common_table(c, p, i);
		if (o.name)
			t->opt[t->n++] = o;
	}
	for (int i = 0; i < t->n; i++) {
		const struct opt *o = &t->opt[i];
		bool arg = o->kind != OPT_FLAG;
		t->lopts[m++] = (struct option){o->name, arg, NULL, OPT_LONG + i};
		if (!arg) {
			snprintf(t->negated[i], sizeof t->negated[i], "no-%s", o->name);
			t->lopts[m++] = (struct option){t->negated[i], 0, NULL, OPT_NEGATED + i};
		}
		if (o->letter) {
			size_t k = strlen(t->letters);
			t->letters[k] = o->letter;
			t->letters[k + 1] = arg ? ':' : '\0';
			t->letters[k + 2] = '\0';
		}
	}
	t->lopts[m++] = (struct option){"verbose", 0, NULL, 'v'};
	t->lopts[m++] = (struct option){"help", 0, NULL, OPT_HELP};
	t->lopts[m++] = (struct option){"help-all", 0, NULL, OPT_HELP_ALL};
	t->lopts[m++] = (struct option){"version", 0, NULL, OPT_VERSION};
	if (p->print_list)
		t->lopts[m++] = (struct option){"list", 0, NULL, OPT_LIST};
	t->lopts[m] = (struct option){0};
}

/* What getopt_long did not take: word `given`; of it knows the option whose number is optopt. */
static int refuse_option(const struct opt_program *p, const struct tables *t, int ch,
			 const char *given, struct err *e)
{
	char name[80], letter[] = {'-', 0, 0}, help[100], text[200], best[100] = "--";
	struct err_near near = {.name = text};
	snprintf(help, sizeof help, "see %s --help", command(p, name, sizeof name));
	if (optopt > 0 && optopt < 256) {
		letter[1] = (char)optopt;
		given = letter;
	}
	snprintf(text, sizeof text, "%.*s", (int)strcspn(given, "="), given);
	if (ch == ':')
		return err_set(e, ST_USAGE, "missing argument of option '%s'; %s", text, help);
	if (optopt >= 256)
		return err_set(e, ST_USAGE, "option '%s' takes no argument; %s", text, help);
	if (strncmp(text, "--", 2) == 0) {
		near.name = text + 2;
		for (const struct option *o = t->lopts; o->name; o++)
			err_offer(&near, o->name);
	}
	if (near.best) {
		snprintf(best, sizeof best, "--%s", near.best);
		near.best = best;
	}
	return err_unknown(e, ST_USAGE, &near, help, "unknown option '%s'", text);
}

/* Option ch of getopt_long: 1 taken; 0 answered, the program has nothing more to do. */
static int take_option(const struct opt_program *p, struct opt_common *c, const struct tables *t,
		       int ch, char **argv, struct err *e)
{
	int i = 0;
	switch (ch) {
	case 'v': msg_verbose(++c->verbose); return 1;
	case 'h':
	case OPT_HELP: print_help(p, c); return 0;
	case OPT_HELP_ALL: print_help_all(p, c); return 0;
	case OPT_VERSION: printf("%s (hsdag) %s\n", p->name, HSDAG_VERSION); return 0;
	case OPT_LIST: p->print_list(); return 0;
	case '?':
	case ':': return refuse_option(p, t, ch, argv[optind - 1], e);
	}
	if (ch >= OPT_LONG)
		i = ch - (ch >= OPT_NEGATED ? OPT_NEGATED : OPT_LONG);
	else
		while (t->opt[i].letter != ch)
			i++;
	return store(&t->opt[i], optarg, ch >= OPT_NEGATED, e) < 0 ? -1 : 1;
}

int opt_verb(const struct opt_verb *verbs, int argc, char **argv)
{
	for (int i = 0; argc > 1 && verbs[i].name; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return i;
	return -1;
}

int opt_parse(const struct opt_program *p, struct opt_common *c, int argc, char **argv, int *first,
	      struct err *e)
{
	struct tables t;
	int ch, rc;
	char name[80];
	msg_program(p->name);
	fill_tables(p, c, &t);
	opterr = 0;
	optind = p->verb ? 2 : 1;
	while ((ch = getopt_long(argc, argv, t.letters, t.lopts, NULL)) != -1)
		if ((rc = take_option(p, c, &t, ch, argv, e)) <= 0)
			return rc;
	*first = optind;
	command(p, name, sizeof name);
	if (argc - optind < p->min_args)
		return err_set(e, ST_USAGE, "missing argument; usage: %s [OPTION]... %s%s", name,
			       p->args, p->print_list ? "; --list has the methods" : "");
	if (argc - optind > p->max_args)
		return err_set(e, ST_USAGE, "unexpected argument '%s'; see %s --help",
			       argv[optind + p->max_args], name);
	return 1;
}

const char *opt_peek(int argc, char **argv, const char *name)
{
	const char *found = NULL;
	size_t n = strlen(name);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i] + 2, name, n) != 0)
			continue;
		if (argv[i][2 + n] == '=')
			found = argv[i] + 3 + n;
		else if (!argv[i][2 + n] && i + 1 < argc)
			found = argv[++i];
	}
	return found;
}

int opt_finish(int rc, struct err *e)
{
	if (text_out_end(e) < 0)
		rc = -1;
	if (fclose(stdout) != 0 && rc >= 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write standard output");
	msg_progress(NULL);
	struct rusage u;
	uint64_t peak = mem_peak();
	char memory[60] = "";
	if (peak)
		snprintf(memory, sizeof memory, "peak memory %.1f MB, ", 1e-6 * (double)peak);
	if (getrusage(RUSAGE_SELF, &u) == 0)
		msg_note(2, "%sprocessor time %.3f s", memory,
			 (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
				 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
	return rc < 0 ? msg_error(e) : ST_OK;
}
