/* advice.c - what an answer means, in one sentence: what to use. */
#include "report/format.h"
#include "report/placetext.h"
#include "timing/contest.h"

#include <string.h>

/* Which of them is used, and how sure that is. */
static void advise_measured(FILE *out, const struct answer *x, const char *ref)
{
	const struct measured *m = &x->m;
	bool single = placetext_is_reference(x);
	double times = m->ratio > 0 ? 1 / m->ratio : 0;
	if (single && x->says.says == CONTEST_UNDECIDED)
		fprintf(out,
			"Use %s alone: no placement was faster beyond what the measurements can "
			"tell.",
			ref);
	else if (single)
		fprintf(out, "Use %s alone: no placement that was tried is faster.", ref);
	else if (m->has_ratio && m->ratio_hi > 0 && m->ratio_hi < 1)
		fprintf(out,
			"Use this placement: it is %.2f times as fast as %s alone (at least %.2f "
			"times).",
			times, ref, 1 / m->ratio_hi);
	else if (m->has_ratio && m->ratio_lo > 1)
		fprintf(out, "Use %s alone: this placement is slower.", ref);
	else
		fprintf(out,
			"Use %s alone, or this placement: the measurements cannot tell which is "
			"faster.",
			ref);
}

static void advise_simulated(FILE *out, const struct answer *x)
{
	static const double ALIKE = 0.995;
	const struct measured *m = &x->m;
	if (m->reason)
		fputs("Do not use this placement: it cannot run.", out);
	else if (!(m->ref_s > 0))
		fputs("Use this placement, by simulation: no device alone can run the model.", out);
	else if (m->lat_s < ALIKE * m->ref_s)
		fprintf(out,
			"Use this placement, by simulation: it is %.2f times as fast as the best "
			"single "
			"device.",
			m->ref_s / m->lat_s);
	else
		fputs("Use the best single device, by simulation: this placement is not faster.",
		      out);
}

/* What a better value costs: how much longer an inference takes. */
static void tell_slower(FILE *out, const struct measured *m, const char *ref)
{
	static const double ALIKE = 1.005;
	double ratio = m->has_ratio ? m->ratio : m->ref_s > 0 ? m->lat_s / m->ref_s : 0;
	if (ratio > ALIKE)
		fprintf(out, " An inference takes %.2f times as long as on %s alone.", ratio,
			*ref ? ref : "the best device");
}

/* Of another objective than latency; false: nothing tells it. */
static bool advise_objective(FILE *out, const struct answer *x, const char *objective,
			     const char *ref)
{
	double best = placetext_best_value(x);
	if (!objective || !x->m.has_value || !(x->m.value > 0) || !(best > 0))
		return false;
	if (placetext_is_reference(x) || x->m.value >= best)
		fprintf(out, "Use %s alone: no placement that was found is better in %s.",
			*ref ? ref : "one device", objective);
	else {
		fprintf(out,
			"Use this placement: it is %.2f times as good in %s as the best single "
			"device, by "
			"simulation.",
			best / x->m.value, objective);
		tell_slower(out, &x->m, ref);
	}
	return true;
}

static int write_advice(FILE *out, const struct report_input *in, struct err *e)
{
	const struct answer *x = in->x;
	const char *ref = placetext_reference(x, in->names);
	(void)e;
	bool measured = x->flight.requests > 0; /* which is a throughput, too */
	if (measured || !advise_objective(out, x, in->objective, ref)) {
		if (x->simulated)
			advise_simulated(out, x);
		else if (x->kind == ANSWER_FINAL && flight_is_beyond(&x->flight))
			fputs("Nothing that was found keeps the limit of latency: this takes "
			      "least. "
			      "Allow more, or take faster devices.",
			      out);
		else if (x->kind != ANSWER_FINAL)
			fputs("This placement was not compared with single devices: devrun paired "
			      "tells whether to use it.",
			      out);
		else if (!*x->reference)
			fputs(x->flight.limit_s > 0
				      ? "Use this placement: no device alone keeps the limit of "
					"latency."
				      : "Use this placement: no device alone can run the model.",
			      out);
		else
			advise_measured(out, x, ref);
	}
	placetext_replicas(out, x, in->names, " Replicas of the model: ", ".");
	if (placetext_is_busy(x))
		fputs(" The machine was busy; at rest the answer may be another.", out);
	fputc('\n', out);
	return 0;
}

const struct report_format format_advice = {
	.name = "advice",
	.about = "one sentence: what to use",
	.plain = true,
	.write = write_advice,
};
