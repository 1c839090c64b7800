# learning.mk - does the learner learn?  On devsim, so without a clock: the best latency
# that each method finds with the same number of evaluations, over seeds, and what it had found when.
#
#   make learning       table, curves.tsv and curves.svg
#   make variance       how far what each one finds depends on its seed; the runs are those of learning
#     MODELS="..."      names of tests/models or paths of .xml (default: resnet50 inception_v3 bert_base
#                       nmt2)
#     SEEDS="1 2 3"     means and 95 % intervals are over them
#     EVALS=500         placements that each method may run
#     METHODS="..."     default: all that LEARN_METHODS and LEARN_SEARCHES name below
#     CURVES="..."      those of them that curves.svg shows (default: without those at rate 0)
#     SPEC=paper        devices for devsim
#     LAUNCH=...        in front of each job
#
# Results: build/learning/SPEC-EVALS/learning.tsv, variance.tsv, curves.tsv (a line for each placement
# that ran), curves.svg.  One file per method, model and seed, and its curve beside it; what is there
# is not made again.  The single devices that reinforce measures as anchors are not counted as found.
# Learners and random placements log each placement; searches of placebase, which begin with HEFT's
# placement and know the costs, are made anew for each of 10, 20, 50, 100, ... evaluations.
ifneq ($(filter learning variance $(B)/learning/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SPEC    ?= paper
LEARN_EVALS  = $(or $(EVALS),500)
LEARN_MODELS = $(or $(MODELS),resnet50 inception_v3 bert_base nmt2)
LEARN_DIR   = $(B)/learning/$(SPEC)-$(LEARN_EVALS)
LEARN_PROGS = $(addprefix $(B)/bin/,ir2dag dagfeat devsim gpnembed placepolicy reinforce placebase \
  tabstat)

# name = learner of common.mk and what differs from it
LEARN_METHODS       = default default-lr0 gpn gpn-lr0 paper paper-lr0 rnn rnn-lr0 rnn-aligned hierarchical \
  hierarchical-lr0 $(if $(call has_net,placeto),placeto placeto-lr0)
LEARN_default       = default
LEARN_default-lr0   = default --lr 0 --costs-lr 0 --adapt 0
LEARN_gpn           = gpn
LEARN_gpn-lr0       = gpn --lr 0
LEARN_paper         = paper
LEARN_paper-lr0     = paper --lr 0
LEARN_rnn           = rnn
LEARN_rnn-lr0       = rnn --lr 0
LEARN_rnn-aligned   = rnn
LEARN_EMBED_rnn-aligned = --embed "--aligned 1"
LEARN_hierarchical  = hierarchical
LEARN_hierarchical-lr0 = hierarchical --lr 0
# More than enough, of which the first EVALS placements count.
LEARN_placeto       = placeto --episodes $(shell expr \( $(LEARN_EVALS) + 9 \) / 10)
LEARN_placeto-lr0   = $(LEARN_placeto) --lr 0
LEARN_SEARCHES      = random climb anneal tabu genetic cross-entropy random-moves learned-moves
LEARN_WAYS          = $(or $(METHODS),$(LEARN_METHODS) $(LEARN_SEARCHES))
LEARN_CURVES        = $(or $(CURVES),$(filter-out %-lr0 %-aligned,$(LEARN_WAYS)))

# Run records -> evaluations, best, mean of the last fifth, best single device (s).
LEARN_SUMMARY = tabstat found --first $(LEARN_EVALS)
learn_file    = $(call job,$(LEARN_DIR)/.lock) $@ bash -o pipefail -c

# learn_job METHOD,MODEL,SEED,RECIPE
define learn_job
$$(LEARN_DIR)/$(2)/$(1).$(3).tsv: $$(LEARN_DIR)/$(2)/$(if $(filter paper,$(4)),paper,default).mp
	$$(learn_file) 'train $(LEARN_TRAIN_$(4)) $(LEARN_EMBED_$(1)) --seed $(3) $$< --keep \
	  $(call learn_limit,$(4),$(LEARN_EVALS)) $(wordlist 2,9,$(LEARN_$(1))) | \
	  tabstat curve --first $(LEARN_EVALS) --to $$@.curve --model $(2) --method $(1) --seed $(3) | $$(LEARN_SUMMARY)'
endef

# search_job METHOD,MODEL,SEED
define search_job
$$(LEARN_DIR)/$(2)/$(1).$(3).tsv: $$(LEARN_DIR)/$(2)/default.mp
	$$(learn_file) 'searched --curve $$@.curve --model $(2) --seed $(3) $$< $(1) $$(LEARN_EVALS)'
endef

# learn_model MODEL,NAME
define learn_model
$(call which_model,$(LEARN_DIR)/$(2),$(1))
$(LEARN_DIR)/$(2)/default.mp: $(call model_files,$(1)) $(LEARN_DIR)/$(2)/model | $(LEARN_PROGS)
	$$(call of_all,$$(learn_file)) 'ir2dag $$< | dagfeat | devsim --probe --spec $(SPEC)'
$(LEARN_DIR)/$(2)/paper.mp: $(call model_files,$(1)) $(LEARN_DIR)/$(2)/model | $(LEARN_PROGS)
	$$(call of_all,$$(learn_file)) 'ir2dag $$< | dagfeat --paper | devsim --probe --spec $(SPEC)'
endef
$(call one_of_each,$(LEARN_MODELS))
$(call must_be,METHODS,$(LEARN_METHODS) $(LEARN_SEARCHES))
$(foreach m,$(sort $(LEARN_MODELS)),$(eval $(call learn_model,$(m),$(call model_name,$(m)))))
$(foreach s,$(SEEDS),$(foreach m,$(call model_name,$(sort $(LEARN_MODELS))),\
  $(foreach j,$(filter $(LEARN_METHODS),$(LEARN_WAYS)),$(eval $(call learn_job,$(j),$(m),$(s),$(firstword $(LEARN_$(j))))))\
  $(foreach j,$(filter $(LEARN_SEARCHES),$(LEARN_WAYS)),$(eval $(call search_job,$(j),$(m),$(s))))))

# Files of METHODS.
learn_files   = $(foreach m,$(call model_name,$(LEARN_MODELS)),$(foreach j,$(1),\
  $(foreach s,$(SEEDS),$(LEARN_DIR)/$(m)/$(j).$(s).tsv)))
LEARN_RESULTS = $(call learn_files,$(LEARN_WAYS))
LEARN_VARS = MODELS SEEDS EVALS METHODS SPEC
LEARN_NOTE = best latency in $(LEARN_EVALS) placements, geometric mean over seeds and 95 % \
  interval of Student's t; longer_than_default_%: in pairs of the same seed, above 0: the default recipe is \
  better; all: the pairs of all models

# All results of one configuration as a table; made new each time.
learning: $(LEARN_RESULTS)
	@$(pairs) --base $(or $(filter default,$(LEARN_WAYS)),$(firstword $(LEARN_WAYS))) --ways method $(LEARN_RESULTS) | \
	  B=$(B) pipelines/tables/report $(LEARN_DIR)/learning \
	  title="Best latency found on '$(SPEC)'" \
	  command="make learning $(call given,$(LEARN_VARS))" seeds="$(SEEDS)" \
	  note="$(LEARN_NOTE)" answer=pairs $(LEARN_RESULTS)
	@B=$(B) pipelines/curves --title "Best latency found on '$(SPEC)'" $(LEARN_DIR) \
	  $(addsuffix .curve,$(call learn_files,$(LEARN_CURVES)))

SPREAD_NOTE = best until then over seeds; spread: its standard deviation over seeds of a model, of logarithms, \
  95 % interval by chi squared; all: the deviations of all models together
variance: $(LEARN_RESULTS)
	@$(B)/bin/tabstat spread $(addsuffix .curve,$(LEARN_RESULTS)) | \
	  B=$(B) pipelines/tables/report $(LEARN_DIR)/variance \
	  title="How far what is found depends on the seed, on '$(SPEC)'" \
	  command="make variance $(call given,$(LEARN_VARS))" seeds="$(SEEDS)" \
	  note="$(SPREAD_NOTE)" answer=spread $(LEARN_RESULTS)

.PHONY: learning variance
.SECONDARY: $(LEARN_RESULTS)
endif
