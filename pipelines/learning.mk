# learning.mk - does the learner learn?  On devsim, so without a clock: the best latency
# that each method finds with the same number of evaluations, over seeds.
#
#   make learning
#     MODELS="..."      names of tests/models (default: resnet50 inception_v3 bert_base nmt2)
#     SEEDS="1 2 3"     means and 95 % intervals are over them
#     EVALS=500         placements that each method may run
#     SPEC=paper        devices for devsim
#     LAUNCH=...        in front of each job
#
# One file per method, model and seed in $(B)/learning; what is there is not made again.
# The single devices that reinforce measures as anchors are not counted as found.
ifneq ($(filter learning $(B)/learning/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SPEC    ?= paper
LEARN_EVALS  = $(or $(EVALS),500)
LEARN_MODELS = $(or $(MODELS),resnet50 inception_v3 bert_base nmt2)
LEARN_DIR   = $(B)/learning/$(SPEC)-$(LEARN_EVALS)
# Of a recipe: its network, what it starts from, steps of an episode, runs of an episode.
LEARN_NET_rnn       = --net rnn
LEARN_NET_hierarchical = --net hierarchical
LEARN_START_default = default
LEARN_START_paper   = paper
LEARN_START_rnn     = default
LEARN_START_hierarchical = default
LEARN_STEPS_default = 1
LEARN_STEPS_paper   = 20
LEARN_STEPS_rnn     = 2
LEARN_STEPS_hierarchical = 5
LEARN_RUNS_default  = 1
LEARN_RUNS_paper    = 20
LEARN_RUNS_rnn      = 10
LEARN_RUNS_hierarchical = 10
LEARN_PROGS = $(addprefix $(B)/bin/,ir2dag dagfeat devsim gpnembed placepolicy reinforce placebase \
  tabstat)

# name = recipe and what differs from it
LEARN_METHODS       = default default-lr0 paper paper-lr0 rnn rnn-lr0 rnn-aligned hierarchical \
  hierarchical-lr0
LEARN_default       = default
LEARN_default-lr0   = default --lr 0 --costs-lr 0 --adapt 0
LEARN_paper         = paper
LEARN_paper-lr0     = paper --lr 0
LEARN_rnn           = rnn
LEARN_rnn-lr0       = rnn --lr 0
LEARN_rnn-aligned   = rnn
LEARN_EMBED_rnn-aligned = --embed "--aligned 1"
LEARN_hierarchical  = hierarchical
LEARN_hierarchical-lr0 = hierarchical --lr 0
LEARN_SEARCHES      = random climb
LEARN_random        = random -n $(LEARN_EVALS) --draw biased
LEARN_climb         = climb --evals $(LEARN_EVALS)

# Run records -> evaluations, best, mean of the last fifth, best single device (s).
LEARN_SUMMARY = tabstat found
learn_file    = $(call job,$(LEARN_DIR)/.lock) $@ bash -o pipefail -c

# learn_job METHOD,MODEL,SEED,RECIPE
define learn_job
$$(LEARN_DIR)/$(2)/$(1).$(3).tsv: $$(LEARN_DIR)/$(2)/$(LEARN_START_$(4)).mp
	$$(learn_file) 'train $(LEARN_NET_$(4)) --recipe $(4) $(LEARN_EMBED_$(1)) --seed $(3) $$< --keep \
	  $(wordlist 2,9,$(LEARN_$(1))) --steps $(LEARN_STEPS_$(4)) \
	  --episodes $$(shell expr $$(LEARN_EVALS) / $(LEARN_RUNS_$(4))) | $$(LEARN_SUMMARY)'
endef

# search_job METHOD,MODEL,SEED
define search_job
$$(LEARN_DIR)/$(2)/$(1).$(3).tsv: $$(LEARN_DIR)/$(2)/default.mp
	$$(learn_file) 'placebase --seed $(3) $(LEARN_$(1)) $$< | devsim | $$(LEARN_SUMMARY)'
endef

$(foreach s,$(SEEDS),$(foreach m,$(LEARN_MODELS),\
  $(foreach j,$(LEARN_METHODS),$(eval $(call learn_job,$(j),$(m),$(s),$(firstword $(LEARN_$(j))))))\
  $(foreach j,$(LEARN_SEARCHES),$(eval $(call search_job,$(j),$(m),$(s))))))

$(LEARN_DIR)/%/default.mp: tests/models/%.xml | $(LEARN_PROGS)
	$(learn_file) 'ir2dag $< | dagfeat | devsim --probe --spec $(SPEC)'

$(LEARN_DIR)/%/paper.mp: tests/models/%.xml | $(LEARN_PROGS)
	$(learn_file) 'ir2dag $< | dagfeat --paper | devsim --probe --spec $(SPEC)'

LEARN_RESULTS = $(foreach m,$(LEARN_MODELS),$(foreach j,$(LEARN_METHODS) $(LEARN_SEARCHES),\
  $(foreach s,$(SEEDS),$(LEARN_DIR)/$(m)/$(j).$(s).tsv)))
LEARN_NOTE = best latency in $(LEARN_EVALS) placements, geometric mean over seeds and 95 % \
  interval of Student's t; longer_than_default_%: in pairs of the same seed, above 0: the default recipe is \
  better; all: the pairs of all models

# All results of one configuration as a table; made new each time.
learning: $(LEARN_RESULTS)
	@$(pairs) --base default --ways method $(LEARN_RESULTS) | \
	  B=$(B) pipelines/tables/report $(LEARN_DIR)/learning \
	  title="Best latency found on '$(SPEC)'" \
	  command="make learning $(call given,MODELS SEEDS EVALS SPEC)" seeds="$(SEEDS)" \
	  note="$(LEARN_NOTE)" $(LEARN_RESULTS)

.PHONY: learning
.PRECIOUS: $(LEARN_DIR)/%/default.mp $(LEARN_DIR)/%/paper.mp
endif
