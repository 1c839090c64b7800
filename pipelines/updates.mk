# updates.mk - do other update rules than REINFORCE find better placements?  On devsim, so without a clock:
# reinforce --update RULE with the same budgets and seeds, beside reinforce and beside a learner that
# learns nothing.
#
#   make updates        table of the best found, in pairs of the same seed, and its spread over seeds
#     MODELS="..."      names of tests/models or paths of .xml (default: googlenet rnnlm
#                       inception_v3)
#     SEEDS="1 2 3"     means and 95 % intervals are over them
#     EVALS="100 500"   placements that each training may run
#     LEARNERS="..."    of moves (nothing learned before) pretrained (moves, beside the pretrained scorer)
#                       and the networks gpn rnn hierarchical placeto (default: moves pretrained gpn)
#     RULES="..."       default: all of reinforce --update, and rate-0, which learns nothing
#     SPEC=paper        devices for devsim
#     LAUNCH=...        in front of each job
#
# Results: build/updates/SPEC/updates.tsv.  Files of jobs are in LEARNER-EVALS/MODEL there; what is there is not
# made again.
ifneq ($(filter updates $(B)/updates/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SPEC ?= paper
UPDATES_RULES    = reinforce ppo grpo self-label actor-critic rate-0
UPDATES_LEARNERS = moves pretrained gpn rnn hierarchical placeto
$(call must_be,RULES,$(UPDATES_RULES))
$(call must_be,LEARNERS,$(UPDATES_LEARNERS))
UPDATES_MODELS = $(or $(MODELS),googlenet rnnlm inception_v3)
UPDATES_EVALS  = $(or $(EVALS),100 500)
UPDATES_OF     = $(or $(LEARNERS),moves pretrained gpn)
UPDATES_WAYS   = reinforce $(filter-out reinforce,$(or $(RULES),$(UPDATES_RULES)))
UPDATES_DIR    = $(B)/updates/$(SPEC)
UPDATES_PROGS  = $(addprefix $(B)/bin/,ir2dag dagfeat devsim gpnembed placepolicy reinforce tabstat)
updates_job    = $(call job,$(UPDATES_DIR)/.lock) $@ bash -o pipefail -c

# Of train, and of reinforce; four moves an episode with every rule, as some compare them.
UPDATES_TRAIN_moves      = --recipe default --params none
UPDATES_TRAIN_pretrained = --recipe default
updates_more = $(if $(filter pretrained,$(1)),--adapt 0.8 --adapt-episodes 25)
updates_rule = $(if $(filter rate-0,$(1)),--lr 0 --costs-lr 0,--update $(1))
updates_limit = $(if $(filter moves pretrained,$(1)),--steps 4 --episodes $(shell expr $(2) / 4 + 1),\
  $(if $(filter placeto,$(1)),--episodes $(shell expr $(2) / 10 + 1),$(call learn_limit,$(1),$(2))))

# updates_jobs MODEL,LEARNER,EVALS,RULE: the stem is the seed
define updates_jobs
$(UPDATES_DIR)/$(2)-$(3)/$(1)/$(4).%.tsv: $(UPDATES_DIR)/$(1)/input.mp
	$$(updates_job) 'train $(or $(UPDATES_TRAIN_$(2)),$(LEARN_TRAIN_$(2))) --seed $$* $$< --keep --threads 1 \
	  $(call updates_limit,$(2),$(3)) $(call updates_more,$(2)) $(call updates_rule,$(4)) | \
	  tabstat curve --first $(3) --to $$@.curve --model $(1) --method $(4) --seed $$* | tabstat found --first $(3)'

endef
# updates_model MODEL,NAME
define updates_model
$(call which_model,$(UPDATES_DIR)/$(2),$(1))
$(UPDATES_DIR)/$(2)/input.mp: $(call model_files,$(1)) $(UPDATES_DIR)/$(2)/model | $(UPDATES_PROGS)
	$$(call of_all,$$(updates_job)) 'ir2dag $$< | dagfeat | devsim --probe --spec $(SPEC)'
$(foreach l,$(UPDATES_OF),$(foreach n,$(UPDATES_EVALS),$(foreach w,$(UPDATES_WAYS),$(call updates_jobs,$(2),$(l),$(n),$(w)))))
endef
$(call one_of_each,$(UPDATES_MODELS))
$(foreach m,$(sort $(UPDATES_MODELS)),$(eval $(call updates_model,$(m),$(call model_name,$(m)))))

# updates_files LEARNER,EVALS
updates_files = $(foreach m,$(call model_name,$(UPDATES_MODELS)),$(foreach w,$(UPDATES_WAYS),$(foreach s,$(SEEDS),\
  $(UPDATES_DIR)/$(1)-$(2)/$(m)/$(w).$(s).tsv)))
UPDATES_FILES = $(foreach l,$(UPDATES_OF),$(foreach n,$(UPDATES_EVALS),$(call updates_files,$(l),$(n))))
UPDATES_VARS = MODELS SEEDS EVALS LEARNERS RULES SPEC
UPDATES_NOTE = best latency in so many placements, geometric mean over seeds and 95 % interval of Student's t; \
  longer_than_reinforce_%: in pairs of the same seed, above 0: reinforce is better; spread_%: standard deviation \
  over seeds, of logarithms, and 95 % interval by chi squared; all: all models
# updates_table LEARNER,EVALS: the pairs, and behind them the spread of the same model and rule.
define updates_table
{ $(B)/bin/tabstat spread --at $(2) $(addsuffix .curve,$(call updates_files,$(1),$(2))); echo; \
  $(pairs) --base reinforce --ways rule $(call updates_files,$(1),$(2)); } | \
  awk -f pipelines/tables/updates.awk learner=$(1) placements=$(2) -;
endef

updates: $(UPDATES_FILES)
	@{ $(foreach l,$(UPDATES_OF),$(foreach n,$(UPDATES_EVALS),$(call updates_table,$(l),$(n)))) } | awk 'NR == 1 || !/^learner\t/' | \
	  B=$(B) pipelines/tables/report $(UPDATES_DIR)/updates title="Update rules on '$(SPEC)'" \
	  command="make updates $(call given,$(UPDATES_VARS))" seeds="$(SEEDS)" note="$(UPDATES_NOTE)" $(UPDATES_FILES)

.PHONY: updates
.SECONDARY: $(UPDATES_FILES)
endif
