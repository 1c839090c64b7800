# open.mk - what the papers leave open, each with its answer in a sentence: ways to do one thing, over
# models and seeds, in pairs with the first way.
#
#   make open-groups    learned parsing beside METIS and other groupings with as many groups
#                       (pipelines/ablation.mk); with DEVICES=LIST on this machine's devices
#   make open-features  every feature left out in turn, and alone
#   make open-variance  how far what each learner finds depends on its seed (pipelines/learning.mk)
#   make open-rewards   rewards 1/latency, -sqrt, -log, with a baseline and without one
#   make open-grouper   a grouper that learns beside random groups and no groups, the same placer on all
#   make open-shapes    one placement for models with open dims, or one for each shape (tests/bench/dynamic.py); with
#                       DEVICES=LIST by `place` in BUDGET=60 seconds
#     NETS="..."        of tests/bench/dynamic_nets.py (default: all eight)
#   make open-checks    all of them
#     MODELS="..."      names of tests/models or paths of .xml (default: googlenet resnet50 rnnlm nmt2;
#                       open-grouper: mobilenet_v3_large for nmt2, whose sets alone are too many)
#     SEEDS="1 2 3 4 5" of all that draws random numbers
#     EVALS=100         placements of each training
#     SPEC=paper        devices for devsim, or
#     DEVICES=LIST      devices of this machine: devrun runs placements, one training at a time
#     METHODS="..."     open-variance: learners and searches (default: default rnn hierarchical random climb)
#     NET=gpn           open-rewards: the network, or rnn, hierarchical; each begins with its own rules
#     HIDDEN=32         width of gpn
#     GROUPINGS="..."   open-groups: default: those of ablation
#     FEATURES="..."    open-features: those that are judged (default: all of dagfeat but costs)
#     GROUPS=256        open-grouper: random groups
#     LAUNCH=...        in front of each job
#
# Results: build/open/CHECK-.../CHECK.tsv and .md with the answer, curves.tsv and curves.svg; one file
# per training, and what is there is not made again.  Networks see no costs, and begin with nothing.
ifneq ($(filter open-% $(B)/open/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SPEC        ?= paper
OPEN_SEEDS   = $(if $(filter file undefined,$(origin SEEDS)),1 2 3 4 5,$(SEEDS))
OPEN_EVALS   = $(or $(EVALS),100)
OPEN_HIDDEN  = $(or $(HIDDEN),32)
OPEN_NET     = $(or $(NET),gpn)
OPEN_GROUPS  = $(or $(GROUPS),256)
OPEN_MODELS  = $(or $(MODELS),googlenet resnet50 rnnlm nmt2)
OPEN_PROGS   = $(addprefix $(B)/bin/,ir2dag dagfeat daggroup devsim devrun irfill gpnembed placepolicy \
               reinforce tabstat)
OPEN_LEARN   = features rewards grouper
OPEN_IN      = $(B)/open/$(call file_part,$(or $(DEVICES),$(SPEC)))
OPEN_SETTING = $(call file_part,$(or $(DEVICES),$(SPEC)))-$(OPEN_EVALS)
OPEN_DIR     = $(B)/open/$(1)-$(OPEN_SETTING)$($(1)_setting)
open_devs    = $(if $(DEVICES),devrun --probe --profile -D $(DEVICES),devsim --probe --spec $(SPEC))
open_job     = $(call $(if $(DEVICES),timed_job,job),$(B)/open/.lock)
open_train   = $(if $(filter gpn,$(1)),--recipe default --embed "--no-costs --hidden $(OPEN_HIDDEN)",$(LEARN_TRAIN_$(1)))
OPEN_RUN     = $(if $(DEVICES),--run "devrun --min-runs 3 --max-seconds 0.25")

# Of a check: its title, its ways, of which the first is what others are beside, its network, the models,
# the end of its directory's name; of a way: what stands in front of train, rules of its training.
features_title   = Features left out or alone
FEATURES_ALL     = $(or $(FEATURES),type shape in_degree out_degree fractal position sinusoid log_bytes \
                   log_flops constant depth_source depth_sink)
features_ways    = all all-lr0 $(FEATURES_ALL:%=without-%) $(FEATURES_ALL:%=only-%)
features_net     = gpn
features_models  = $(OPEN_MODELS)
features_setting = -h$(OPEN_HIDDEN)
features_front   = dagfeat$(if $(filter without-%,$(1)), --features all$(comma)-$(1:without-%=%))$(if \
                   $(filter only-%,$(1)), --features $(1:only-%=%))
features_rules   = $(if $(filter %-lr0,$(1)),--lr 0)
features_note    = default recipe without costs; all: every feature; all-lr0: at learning rate 0; \
  without-X: all but X; only-X: X alone

rewards_title    = Rewards and baselines
rewards_ways     = log-baseline log-normalised log sqrt-baseline sqrt-normalised sqrt \
                   inverse-baseline inverse-normalised inverse lr0
rewards_net      = $(OPEN_NET)
rewards_models   = $(OPEN_MODELS)
rewards_setting  = -$(OPEN_NET)$(if $(filter gpn,$(OPEN_NET)),-h$(OPEN_HIDDEN))
rewards_front    = dagfeat
rewards_rules    = --leaves 0 --log-reward $(if $(filter log% lr0,$(1)),1,0) \
  --sqrt-reward $(if $(filter sqrt%,$(1)),1,0) $(if $(filter %-baseline lr0,$(1)),--baseline 0.3 --normalise 0)$(if \
  $(filter %-normalised,$(1)),--baseline 0.3 --normalise 1)$(if \
  $(filter log sqrt inverse,$(1)),--baseline 0 --normalise 0) $(if $(filter lr0,$(1)),--lr 0)
rewards_note     = $(OPEN_NET), every placement drawn anew; rewards -log, -sqrt of the latency over the best \
  single device, 1/latency; baseline: a moving mean is taken off, normalised: and the rest divided \
  by its moving deviation; lr0: learning rate 0

grouper_title    = A grouper that learns beside random groups and none
grouper_ways     = learned random metis none
grouper_net      = hierarchical
grouper_models   = $(or $(MODELS),googlenet resnet50 rnnlm mobilenet_v3_large)
grouper_setting  = -x$(OPEN_GROUPS)
grouper_front    = dagfeat$(if $(filter random metis,$(1)), | daggroup $(1) --groups $(OPEN_GROUPS) --seed $(2))$(if \
                   $(filter none,$(1)), | daggroup none)
grouper_rules    =
grouper_note     = the placer of the Hierarchical Planner on all; learned: by its grouper, up to 20 groups a \
  device; random, metis: $(OPEN_GROUPS) groups that stay; none: each set alone

# open_way CHECK,NAME,WAY: the stem is the seed
define open_way
$(call OPEN_DIR,$(1))/$(2)/$(3).%.tsv: $(OPEN_IN)/$(2)/graph.mp
	$$(open_job) $$@ bash -o pipefail -c '< $$< $(call $(1)_front,$(3),$$*) | \
	  train $(call open_train,$($(1)_net)) --seed $$* $(OPEN_RUN) - --keep $(call learn_limit,$($(1)_net),$(OPEN_EVALS)) \
	  $(call $(1)_rules,$(3)) | tabstat curve --to $$@.curve --model $(2) --method $(3) --seed $$* | \
	  tabstat found --groups'

endef
# open_model MODEL,NAME: the graph with devices and costs
define open_model
$(call which_model,$(OPEN_IN)/$(2),$(1))
$(OPEN_IN)/$(2)/graph.mp: $(call model_files,$(1)) $(OPEN_IN)/$(2)/model | $(OPEN_PROGS)
	$$(call of_all,$$(open_job)) $$@ bash -o pipefail -c \
	  'ir2dag $(if $(DEVICES),$$$$(pipelines/fill.sh $(B)/models $(1)),$$<) | $(open_devs)'
$(foreach c,$(OPEN_LEARN),$(if $(filter $(1),$($(c)_models)),$(foreach w,$($(c)_ways),$(call open_way,$(c),$(2),$(w)))))
endef
OPEN_USED = $(sort $(foreach c,$(OPEN_LEARN),$($(c)_models)))
$(call one_of_each,$(OPEN_USED))
$(foreach m,$(OPEN_USED),$(eval $(call open_model,$(m),$(call model_name,$(m)))))

open_files = $(foreach m,$(call model_name,$($(1)_models)),$(foreach s,$(OPEN_SEEDS),\
  $(foreach w,$($(1)_ways),$(call OPEN_DIR,$(1))/$(m)/$(w).$(s).tsv)))
OPEN_NOTE = geometric mean over seeds and 95 % interval of Student t; longer_than: in pairs of the same seed$(if \
  $(DEVICES), and over the best single device of the same search)
# open_table CHECK,-SUFFIX of the file,what the title says more,options of tabstat pairs
open_table = $(pairs) --base $(firstword $($(1)_ways)) --ways way $(4) $(if $(DEVICES),--relative) $^ | \
  B=$(B) pipelines/tables/report $(call OPEN_DIR,$(1))/$(1)$(2) title="$($(1)_title)$(3)" \
  command="make $@ SEEDS='$(OPEN_SEEDS)' $(call given,MODELS EVALS SPEC DEVICES NET HIDDEN FEATURES GROUPS)" \
  seeds="$(OPEN_SEEDS)" note="$(OPEN_EVALS) placements; $($(1)_note); $(OPEN_NOTE)" answer=pairs $^

# open_check CHECK
define open_check
open-$(1): $(call open_files,$(1))
	@$$(call open_table,$(1))
	@$$(call open_table,$(1),-late,: mean of the last fifth of the placements,--late)
	@B=$(B) pipelines/curves --title "$($(1)_title)" $(call OPEN_DIR,$(1)) $$(addsuffix .curve,$$^)
.SECONDARY: $(call open_files,$(1))
endef
$(foreach c,$(OPEN_LEARN),$(eval $(call open_check,$(c))))

# The experiments that exist, with enough models and seeds.
open_make = +@$(MAKE) --no-print-directory $(1) MODELS="$(OPEN_MODELS)" SEEDS="$(OPEN_SEEDS)" EVALS=$(OPEN_EVALS)
open-groups:
	$(call open_make,ablation) EMBED="--hidden $(OPEN_HIDDEN)"
open-variance:
	$(call open_make,variance)

OPEN_SHAPES = $(B)/open/shapes-$(call file_part,$(or $(DEVICES),$(or $(filter-out paper,$(SPEC)),desktop-cpu$(comma)datacenter-gpu)))
open-shapes: $(OPEN_PROGS)
	@mkdir -p $(OPEN_SHAPES)
	@$(or $(HSDAG_PYTHON),python3) tests/bench/dynamic_nets.py $(OPEN_SHAPES) $(NETS)
	@PATH="$(abspath $(B))/bin:$(abspath pipelines):$$PATH" $(or $(HSDAG_PYTHON),python3) tests/bench/dynamic.py $(OPEN_SHAPES) \
	  $(or $(NETS),$$(basename -s .tsv -a $(OPEN_SHAPES)/*.tsv)) $(if $(DEVICES),--devices $(DEVICES) --budget $(or $(BUDGET),60),--evals $(or $(EVALS),10000) --spec $(or \
	  $(filter-out paper,$(SPEC)),desktop-cpu$(comma)datacenter-gpu)) > $(OPEN_SHAPES)/shapes.md.tmp
	@mv $(OPEN_SHAPES)/shapes.md.tmp $(OPEN_SHAPES)/shapes.md
	@cat $(OPEN_SHAPES)/shapes.md

open-checks: open-shapes open-groups open-features open-variance open-rewards open-grouper

.PHONY: open-checks open-shapes open-groups open-variance $(OPEN_LEARN:%=open-%)
endif
