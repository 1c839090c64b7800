/* methods.c - the table of placement methods, and the shortest of them: single devices. */
#include <string.h>

#include "place/method/method.h"

const struct place_method place_methods[] = {
	{"single", "DEVICE", false, false, "every device alone, or only DEVICE", "-", method_single,
	 SCOPE_ALL, EVALS_MOVES},
	{"random", NULL, false, false, "distinct random placements (-n)", "-", method_random,
	 SCOPE_ALL, EVALS_MOVES},
	{"variety", NULL, false, true,
	 "distinct placements of every quality (-n), half near the best", "-", method_variety,
	 SCOPE_ALL, EVALS_MOVES},
	{"expert", "FILE", true, false, "a placement that a person wrote, as JSON",
	 "forms of placeout and of dnn-partitioning", method_expert, SCOPE_ALL, EVALS_MOVES},
	{"greedy-memory", NULL, false, true, "fastest device with room, largest sets first",
	 "Graham, list scheduling, 1969, on unrelated devices", method_greedy_memory, SCOPE_ALL,
	 EVALS_MOVES},
	{"heft", NULL, false, true, "earliest finish time by upward rank",
	 "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2", method_heft, SCOPE_ALL,
	 EVALS_MOVES},
	{"contention", NULL, false, true, "HEFT with copies that wait for each other on links",
	 "Sinnen, Sousa, IEEE TPDS 16(6), 2005", method_contention, SCOPE_SCHEDULES, EVALS_MOVES},
	{"refine", NULL, false, true,
	 "HEFT, then hill climbing on the schedules that devrun keeps to",
	 "Li, Willis, EJOR 56(3), 1992, for the schedules", method_refine, SCOPE_SCHEDULES,
	 EVALS_MOVES},
	{"cluster", NULL, false, true, "HEFT for clusters of tasks, as large as is best",
	 "Ozkaya, Benoit, Ucar, Herrmann, Catalyurek, IPDPS 2019", method_cluster, SCOPE_SCHEDULES,
	 EVALS_OWN},
	{"lookahead", NULL, false, true, "HEFT that looks at the finish times of consumers",
	 "Bittencourt, Sakellariou, Madeira, PDP 2010", method_lookahead, SCOPE_ALL, EVALS_MOVES},
	{"peft", NULL, false, true, "finish time plus optimistic cost of what follows",
	 "Arabnejad, Barbosa, IEEE TPDS 25(3), 2014", method_peft, SCOPE_ALL, EVALS_MOVES},
	{"cpop", NULL, false, true, "the critical path on one device",
	 "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.3", method_cpop, SCOPE_ALL,
	 EVALS_MOVES},
	{"m-topo", NULL, false, true, "topological order cut into shares of equal memory",
	 "Jeon et al., Baechi, SoCC 2020, section 3.1", method_m_topo, SCOPE_ALL, EVALS_MOVES},
	{"m-etf", NULL, false, true, "earliest task first, within memory",
	 "Jeon et al., Baechi, SoCC 2020, section 3.2", method_m_etf, SCOPE_ALL, EVALS_MOVES},
	{"m-sct", NULL, false, true, "favourite children by a linear programme, within memory",
	 "Jeon et al., Baechi, SoCC 2020, section 3.3; Hanen, Munier, ETFA 1995", method_m_sct,
	 SCOPE_ALL, EVALS_MOVES},
	{"mincut", NULL, false, true, "the least sum of computing and copies, by minimum cuts",
	 "Stone, IEEE TSE SE-3(1), 1977; swaps: Boykov, Veksler, Zabih, PAMI 23(11), 2001",
	 method_mincut, SCOPE_ALL, EVALS_MOVES},
	{"scotch-mincut", NULL, false, true, "Scotch, recursive min-cut over accelerators",
	 "Mirhoseini et al., ICML 2017, section 4.1, MinCut", method_scotch_mincut, SCOPE_ALL,
	 EVALS_MOVES},
	{"metis", NULL, false, true, "METIS, parts by the devices' speeds",
	 "Karypis, Kumar, SIAM J. Sci. Computing 20(1), 1998", method_metis, SCOPE_ALL,
	 EVALS_MOVES},
	{"scotch", NULL, false, true, "Scotch, static mapping onto the graph of devices",
	 "Pellegrini, Roman, HPCN Europe 1996", method_scotch, SCOPE_ALL, EVALS_MOVES},
	{"climb", NULL, false, true,
	 "one-flip hill climbing from the best single device and from HEFT", "-", method_climb,
	 SCOPE_ALL, EVALS_MOVES},
	{"anneal", NULL, false, true, "simulated annealing, restarted",
	 "Kirkpatrick, Gelatt, Vecchi, Science 220, 1983", method_anneal, SCOPE_ALL, EVALS_MOVES},
	{"tabu", NULL, false, true, "tabu search over a sampled neighbourhood",
	 "Glover, ORSA J. Computing 1(3), 1989", method_tabu, SCOPE_ALL, EVALS_MOVES},
	{"genetic", NULL, false, true, "a genetic algorithm seeded with heuristics",
	 "Wang, Siegel, Roychowdhury, Maciejewski, JPDC 47(1), 1997", method_genetic, SCOPE_ALL,
	 EVALS_WHOLE},
	{"cross-entropy", NULL, false, true, "the cross-entropy method over groups",
	 "de Boer et al., Ann. Oper. Res. 134, 2005; Gao, Chen, Li, Post, NeurIPS 2018",
	 method_cross_entropy, SCOPE_ALL, EVALS_WHOLE},
	{"local-search", NULL, false, true, "steepest descents from random placements",
	 "Tarnawski et al., NeurIPS 2020, section 6", method_local_search, SCOPE_ALL, EVALS_MOVES},
	{"restarts", NULL, false, true, "critical path first, random restarts",
	 "Kwok, Ahmad, ACM Comput. Surv. 31(4), 1999; Yao et al., Doppler, 2025", method_restarts,
	 SCOPE_ALL, EVALS_MOVES},
	{"exact", NULL, false, true, "branch and bound; tells what is proved when the budget ends",
	 "Land, Doig, Econometrica 28(3), 1960", method_exact, SCOPE_ALL, EVALS_MOVES},
	{"ideals", NULL, false, true,
	 "the best contiguous split for throughput, by dynamic programming",
	 "Tarnawski et al., NeurIPS 2020, sections 5.1.1 and 5.3", method_ideals, SCOPE_PERIODS,
	 EVALS_MOVES},
	{"spine", NULL, false, true, "dnnpart-latency: the best pieces along a chain of layers",
	 "Narayanan et al., PipeDream, SOSP 2019, section 3.1, for blocks", method_spine,
	 SCOPE_PIECES, EVALS_MOVES},
	{"portfolio", NULL, false, true,
	 "the best of all that fit the budget (--budget, --threads)",
	 "Huberman, Lukose, Hogg, Science 275, 1997", method_portfolio, SCOPE_ALL, EVALS_MOVES},
	{0},
};

const struct place_method *place_method_find(const char *text, const char **arg, struct err *e)
{
	size_t n = strcspn(text, ":");

	*arg = text[n] && text[n + 1] ? text + n + 1 : NULL;
	for (const struct place_method *x = place_methods; x->name; x++) {
		if (strlen(x->name) != n || memcmp(x->name, text, n) != 0)
			continue;
		if (text[n] && !x->arg) {
			err_set(e, ST_USAGE, "method '%s' takes nothing after a colon", x->name);
			return NULL;
		}
		if ((text[n] || x->needs_arg) && !*arg) {
			err_set(e, ST_USAGE, "'%s' has no %s: it goes as '%s:%s'", text, x->arg,
				x->name, x->arg);
			return NULL;
		}
		return x;
	}
	err_set(e, ST_USAGE, "unknown method '%s'; --list has them", text);
	return NULL;
}

static void all_on(struct method_run *r, uint32_t dev)
{
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = (uint16_t)dev;
}

int method_single(struct method_run *r, struct err *e)
{
	bool found = false;

	for (uint32_t dev = 0; dev < r->m->k; dev++) {
		if (r->arg && strcmp(r->arg, r->m->names[dev]) != 0)
			continue;
		found = true;
		all_on(r, dev);
		if (r->emit(r, e) < 0)
			return -1;
	}
	return found ? 0 : err_set(e, ST_USAGE, "there is no device '%s'", r->arg);
}
