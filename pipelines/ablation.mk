# ablation.mk - what is learned parsing worth?  The same training, with the groups of the graph
# parsing network (gpn), and with groups that daggroup makes; everything else is equal: policy,
# reward, seeds, number of placements, and as many groups as gpn had in the mean in the training of
# the same seed.  gpn-untrained is the network as it was drawn: the policy alone learns.
#
#   make ablation
#     MODELS="..."      names of tests/models or paths of .xml (default: nmt2 inception_v3)
#     GROUPINGS="..."   default: gpn gpn-untrained metis scotch heavy-edge chunks random none; gpn
#                       is always there
#     SEEDS="1 2 3"     of all that draws random numbers: means and 95 % intervals are over them
#     EVALS=200         placements in each training
#     GROUPS=N          so many groups instead
#     RECIPE=default    or paper
#     EMBED="..."       options of gpnembed, for all groupings, e.g. --weights 0.3
#     SPEC=paper        devices for devsim, or
#     DEVICES=LIST      devices of this machine: devrun runs placements, one training at a time
#     LAUNCH=...        in front of each job
#
# One file per training in $(B)/ablation, and its curve beside it; what is there is not made again.  Safe under
# make -j.  The table is ablation.tsv, what was found when curves.tsv and curves.svg.
ifneq ($(filter ablation $(B)/ablation/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

RECIPE  ?= default
SPEC    ?= paper
ABLATION_EVALS     = $(or $(EVALS),200)
ABLATION_MODELS    = $(or $(MODELS),nmt2 inception_v3)
ABLATION_OTHERS    = $(or $(GROUPINGS),gpn-untrained metis scotch heavy-edge chunks random none)
ABLATION_GROUPINGS = gpn $(filter-out gpn,$(ABLATION_OTHERS))
ABLATION_SETTING = $(RECIPE)-$(ABLATION_EVALS)$(if $(GROUPS),-$(GROUPS)-groups)$(ABLATION_EMBED)
ABLATION_EMBED = $(call file_part,$(subst $(space),,$(EMBED)))
ABLATION_DIR  = $(B)/ablation/$(call file_part,$(or $(DEVICES),$(SPEC)))-$(ABLATION_SETTING)
ABLATION_STEPS_default = 4
ABLATION_STEPS_paper   = 20
ABLATION_PROGS = $(addprefix $(B)/bin/,ir2dag dagfeat daggroup devsim devrun irfill gpnembed \
                 placepolicy reinforce tabstat)
ablation_job  = $(call job,$(ABLATION_DIR)/.lock)
# What reads a clock runs alone.
ablation_run  = $(call $(if $(DEVICES),timed_job,job),$(ABLATION_DIR)/.lock)
ablation_devs = $(if $(DEVICES),devrun --probe --profile -D $(DEVICES),\
                devsim --probe --spec $(SPEC))
ablation_feat = dagfeat $(if $(filter paper,$(RECIPE)),--paper)
ablation_xml  = $(if $(or $(DEVICES),$(filter-out %.xml,$(1))),\
                $$$$(pipelines/fill.sh $(B)/models $(1)),$(1))
ABLATION_RUN  = $(if $(DEVICES),--run 'devrun --min-runs 3 --max-seconds 0.25')
ABLATION_STEPS = $(ABLATION_STEPS_$(RECIPE))
ABLATION_EPISODES = $(shell expr $(ABLATION_EVALS) / $(ABLATION_STEPS))

# ablation_jobs MODEL,NAME: the stem is the seed
define ablation_jobs
$(call which_model,$(ABLATION_DIR)/$(2),$(1))
$(ABLATION_DIR)/$(2)/input.mp: $(call model_files,$(1)) $(ABLATION_DIR)/$(2)/model \
  | $(ABLATION_PROGS)
	$(call of_all,$(ablation_run)) $$@ bash -o pipefail -c \
	  'ir2dag $(call ablation_xml,$(1)) | $(ablation_feat) | $(ablation_devs)'
$(foreach g,$(ABLATION_GROUPINGS),$(call ablation_rule,$(2),$(g)))
endef
# ablation_rule NAME,GROUPING: gpn comes first, those of daggroup have as many groups
gpn_of = $(if $(filter gpn gpn-untrained,$(2)),,$(ABLATION_DIR)/$(1)/gpn.$(3).tsv)
ablation_groups = $(if $(GROUPS),--groups $(GROUPS),\
                  $(addprefix --groups-of ,$(call gpn_of,$(1),$(2),$$*)))
define ablation_rule
$(ABLATION_DIR)/$(1)/$(2).%.tsv: $(ABLATION_DIR)/$(1)/input.mp $(call gpn_of,$(1),$(2),%)
	$(ablation_run) $$@ pipelines/ablate --recipe $(RECIPE) --seed $$* $(ABLATION_RUN) --curve $$@.curve --model $(1) \
	  $(if $(EMBED),--embed '$(EMBED)') $(ablation_groups) $$< $(2) \
	  --steps $(ABLATION_STEPS) --episodes $(ABLATION_EPISODES)

endef
$(call one_of_each,$(ABLATION_MODELS))
$(foreach m,$(sort $(ABLATION_MODELS)),$(eval $(call ablation_jobs,$(m),$(call model_name,$(m)))))

ABLATION_FILES = $(foreach m,$(call model_name,$(ABLATION_MODELS)),\
  $(foreach s,$(SEEDS),$(foreach g,$(ABLATION_GROUPINGS),$(ABLATION_DIR)/$(m)/$(g).$(s).tsv)))
ABLATION_VARS = MODELS GROUPINGS SEEDS EVALS GROUPS RECIPE EMBED SPEC DEVICES
ABLATION_NOTE = best latency in $(ABLATION_EVALS) placements, geometric mean over seeds and 95 % \
  interval of Student's t; longer_than_gpn_%: in pairs of the same seed$(if $(DEVICES), and over the best single device of the same \
  search), above 0: learned parsing is better; all: the pairs of all models

ablation: $(ABLATION_FILES)
	@$(pairs) --base gpn --ways grouping $(if $(DEVICES),--relative) $^ | \
	  B=$(B) pipelines/tables/report $(ABLATION_DIR)/ablation \
	  title="Learned parsing against other groupings" \
	  command="make ablation $(call given,$(ABLATION_VARS))" seeds="$(SEEDS)" \
	  note="$(ABLATION_NOTE)" answer=pairs $^
	@B=$(B) pipelines/curves --title "Learned parsing against other groupings" $(ABLATION_DIR) $(addsuffix .curve,$^)

.PHONY: ablation
.SECONDARY: $(ABLATION_FILES)
endif
