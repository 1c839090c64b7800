# common.mk - what the experiments share; a fragment that uses it includes it.
#
#   SEEDS="1 2 3"   of whatever draws random numbers
#   LAUNCH=...      in front of each job, e.g. LAUNCH="srun -n 1 -c 2"
#   LAUNCH_TIMED=... in front of each job that reads a clock (default: LAUNCH, and with srun whole cores
#                   that no other job shares)
#   MODELS="..."    names of tests/models or paths of .xml; each experiment has its own default
#   LOCK=FILE       what a job locks while it runs
#
# One job makes one file (pipelines/job): written whole or not at all, never made again, safe under
# make -j; what reads a clock runs while no other job of the experiment does.
ifndef COMMON_MK
COMMON_MK = 1
include pipelines/plain.mk

# What is given reaches recipes: it must be words.  Who only builds may have what they like in the environment.
ifneq ($(filter-out all units clean install uninstall man venv test asan layers style docs golden fuzz,$(MAKECMDGOALS)),)
$(call refuse_special,AT_ONCE B BASE BUDGET BUDGETS BURST COSTS COUNT CURVES DEVICES EMBED EPISODES EVALS EXPORT_PYTHON \
  FAMILIES FEATURES GROUPINGS GROUPS HALF HIDDEN JUDGE LAUNCH LAUNCH_TIMED LEARNERS LOCK MACHINE MACHINES MEMORY METHODS MODELS NET OPS \
  PAIRS PORTFOLIO PROBLEMS PROFILE RECIPE RULES RUNS SEARCH_RUNS SEEDS SETS SIZES SPEC TIMES)
$(call refuse_special_in,SPECS,$(subst ',,$(value SPECS)))     # quotes join an option to its method
endif

SEEDS  ?= 1 2 3
LAUNCH ?=
LAUNCH_TIMED ?= $(LAUNCH)$(if $(filter srun,$(notdir $(firstword $(LAUNCH)))), --exclusive --cpu-bind=cores)

# Jobs: $(call job,LOCK) FILE COMMAND..., and those that read a clock: $(call timed_job,LOCK) ...
job       = @B=$(B) LOCK=$(1) $(LAUNCH) pipelines/job
timed_job = @B=$(B) LOCK=$(1) $(LAUNCH_TIMED) pipelines/job -x
# A job whose file many others begin with: no share (SHARE) leaves it out.
of_all    = $(patsubst @%,@SHARE= %,$(1))

# Those of VARIABLES that have a value, as they are given to make.
given = $(strip $(foreach v,$(1),$(if $($(v)),$(v)='$($(v))')))

# A model's name in files, from a name or a path; its files, for what is made of it.
model_name  = $(call file_part,$(basename $(notdir $(1))))
model_files = $(subst :,\:,$(wildcard $(or $(filter %.xml,$(1)),tests/models/$(1).xml) \
              $(patsubst %.xml,%.bin,$(filter %.xml,$(1)))))
# The one of the words of 2 that may be meant by 1, as a part of a message.
meant = $(shell printf '%s\n' $(2) | name='$(1)' awk -f pipelines/near.awk)
# must_be VARIABLE,WORDS: what VARIABLE has besides is an error.
must_be = $(foreach w,$(filter-out $(2),$($(1))),$(error $(1): there is no '$(w)'$(call meant,$(w),$(2)); one of $(strip $(2))))
# Models are names of ours, or files of OpenVINO IR.
our_models = $(patsubst tests/models/%.xml,%,$(wildcard tests/models/*.xml tests/models/*/*.xml))
no_model   = $(error MODELS: '$(1)' $(if $(wildcard $(1)),is no OpenVINO IR; 'ovc $(1)' makes one,is neither a file .xml nor one \
             of tests/models$(call meant,$(1),$(our_models))))
check_models = $(foreach m,$(1),$(if $(wildcard $(or $(filter %.xml,$(m)),tests/models/$(m).xml)),,$(call no_model,$(m))))
# One name for two models is refused, for their files would be the same.
one_of_each = $(call check_models,$(1))$(foreach n,$(sort $(call model_name,$(1))),$(if $(word 2,$(filter $(n),\
              $(call model_name,$(sort $(1))))),$(error two models are called '$(n)'; rename one)))
# which_model DIR,MODEL: DIR/model names the model, and is new when another one had that name before.
define which_model
$(1)/model: which-model
	@mkdir -p $$(@D)
	@echo '$(abspath $(filter %.xml,$(2)))' | cmp -s - $$@ || \
	  echo '$(abspath $(filter %.xml,$(2)))' > $$@
endef
.PHONY: which-model

# Ways beside one of them, over models and seeds: $(pairs) --base WAY --ways COLUMN FILE...
pairs = $(B)/bin/tabstat pairs

# NAME, if it is a network: of the programs, or where they are not built yet of their source.
has_net = $(filter $(1),$(shell $(B)/bin/gpnembed --net list 2> /dev/null | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' | \
          grep . || \
          sed -n 's/^\tX(\([a-z0-9_]*\)).*/\1/p' lib/learn/net/nets.h))

# Learners: options of train, features, steps and runs of an episode.  gpn begins with nothing and sees no
# costs, default with pretrained scorers of moves that see them.
LEARN_TRAIN_default = --recipe default
LEARN_FEAT_default  = dagfeat
LEARN_STEPS_default = 1
LEARN_RUNS_default  = 1
LEARN_TRAIN_gpn     = --recipe default --embed --no-costs
LEARN_FEAT_gpn      = dagfeat
LEARN_STEPS_gpn     = 4
LEARN_RUNS_gpn      = 4
LEARN_TRAIN_paper   = --recipe paper
LEARN_FEAT_paper    = dagfeat --paper
LEARN_STEPS_paper   = 20
LEARN_RUNS_paper    = 20
LEARN_TRAIN_rnn     = --recipe rnn --net rnn
LEARN_FEAT_rnn      = dagfeat
LEARN_STEPS_rnn     = 2
LEARN_RUNS_rnn      = 10
LEARN_TRAIN_hierarchical = --recipe hierarchical --net hierarchical
LEARN_FEAT_hierarchical  = dagfeat
LEARN_STEPS_hierarchical = 5
LEARN_RUNS_hierarchical  = 10
LEARN_TRAIN_placeto = --recipe placeto --net placeto
LEARN_FEAT_placeto  = dagfeat
LEARN_STEPS_placeto = 2
LEARN_RUNS_placeto  = 90
# Where runs are dear.
LEARN_MEASURED_placeto = --visits 20
# learn_limit LEARNER,EVALS: options of reinforce for so many placements; for placeto about so many, as it
# runs those of visits that change something
learn_limit = --steps $(LEARN_STEPS_$(1)) --episodes $(shell echo $$(($(2) / $(LEARN_RUNS_$(1)) > 0 ? $(2) / $(LEARN_RUNS_$(1)) : 1)))

comma := ,
space := $(subst ,, )
# A list with commas between its words.
commas = $(subst $(space),$(comma),$(strip $(1)))
# A list of devices, a model or a method as part of a file's name.
file_part = $(subst /,_,$(subst :,_,$(subst $(comma),+,$(1))))
endif
