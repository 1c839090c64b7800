# tables.mk - the tables of two papers, measured on this machine or simulated: Duan et al. (HSDAG),
# NeurIPS 2024, and Mirhoseini et al. (Hierarchical Planner), ICLR 2018.  Published figures stand in
# columns of their own.
#
#   make table1         graphs before and after co-location
#   make table2         latency and speedup of every method
#   make table4         differences of outputs
#   make table5         what the searches took
#   make hierarchical   placers on inception_v3, resnet50, rnnlm, nmt2, nmt4 (hierarchical-placers), and
#                       random groups against learned ones on the last three (hierarchical-groups)
#   make tables         all of them
#   make machines       hierarchical-placers on simulated machines with 2, 4 and 8 accelerators, and
#                       memory limits: no NMT fits one
#   make papers         all that is simulated: tables SPEC=paper, machines, learning, variance and
#                       open-checks (pipelines/open.mk), at their own sizes
#     MODELS="..."      names of tests/models or paths of .xml (default: those of the papers)
#     DEVICES=LIST      default: what devrun --probe chooses.  The first of type cpu is "CPU", the
#                       first of another type "GPU"; without one the next device stands in for it
#     SPEC=paper        devices for devsim instead: all but table4 is simulated, learners run EVALS
#                       placements, not BUDGET seconds, and rows of OpenVINO are left out
#     MACHINE=4         instead: a processor and so many accelerators of the Hierarchical Planner's
#     MEMORY=0.6        of MACHINE: what an accelerator holds, as a share of what an NMT takes on one
#     SEEDS="1 2 3"     of all that draws random numbers: means and intervals are over them
#     BUDGET=120        seconds of each learned placement (EPISODES=N: at most so many episodes)
#     RUNS=20           rounds of each measurement
#     EVALS=500         placements that each grouping's learner simulates, and each search beside
#                       the learners; with SPEC or MACHINE each learner, too
#     GROUPS=256        random groups, as many as the Hierarchical Planner has
#     METHODS="..."     rows of table 2 and 5 and of hierarchical-placers besides the single devices
#     LAUNCH=...        in front of each job; if that sends jobs to several machines, LOCK=FILE
#                       local to each
#     PROFILE=...       default: devrun --probe --profile
#     SEARCH_RUNS=...   options of devrun in searches
#
# Results: build/tables/DEVICES/NAME.tsv and .md, with the commands, versions and seeds.  A job is a
# file: MODEL/METHOD.SEED.mp, what the method found, and METHOD.SEEDS-rRUNS.tsv, how long that
# takes, in the same rounds as each single device; FILE.job says how it was made.  Interrupted, the
# same command goes on; remove a file to have it made again, also one that says "failed";
# what is made of a model is made again when the model has changed.  Safe under make -j: only
# what is simulated runs beside each other, what reads a clock runs alone.
ifneq ($(filter table% hierarchical% machines papers $(B)/tables/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

DEVICES ?=
BUDGET  ?= 120
RUNS    ?= 20
# Options of devrun in the search; the profile.
SEARCH_RUNS  ?= --min-runs 3 --max-seconds 0.25
PROFILE      ?= devrun --probe --profile

# Only what was asked for: other experiments have a default of it.
TABLE_SPEC    = $(if $(filter command% environment%,$(origin SPEC)),$(SPEC))
SIMULATED     = $(or $(TABLE_SPEC),$(MACHINE))
TABLE_EVALS   = $(or $(EVALS),500)
TABLE_GROUPS  = $(or $(GROUPS),256)
TABLE_MODELS  = $(or $(MODELS),inception_v3 resnet50 bert_base)
HIER_MODELS   = $(or $(MODELS),inception_v3 resnet50 rnnlm nmt2 nmt4)
GROUP_MODELS  = $(or $(MODELS),rnnlm nmt2 nmt4)
EQUAL_METHODS = random-search climb anneal genetic $(call has_net,rnn hierarchical placeto) \
                hsdag-paper hsdag-blind hsdag
TABLE_METHODS = $(filter-out $(if $(SIMULATED),ov-% place),$(or $(METHODS),ov-cpu ov-gpu ov-auto \
                ov-hetero random heft m-etf metis scotch scotch-mincut mincut $(EQUAL_METHODS) place))
HIER_METHODS  = expert $(filter-out ov-% place expert,$(or $(METHODS),random heft scotch scotch-mincut \
                mincut $(EQUAL_METHODS)))
GROUPINGS     = grouping-learned grouping-random
TABLE_WHERE   = $(if $(MACHINE),hierarchical-$(MACHINE)-$(or $(MEMORY),0.6),$(if \
                $(TABLE_SPEC),sim-$(call file_part,$(TABLE_SPEC))$(addprefix -,$(call \
                file_part,$(DEVICES))),$(or $(call file_part,$(DEVICES)),auto)))
TABLE_DIR     = $(B)/tables/$(TABLE_WHERE)
TABLE_PROGS   = $(addprefix $(B)/bin/,ir2dag dagfeat daggroup devrun devsim gpnembed irfill \
                placebase placeout placepolicy recdump reinforce tabstat)
T             = pipelines/tables
LOCK          ?= $(TABLE_DIR)/.lock
table_job     = $(call job,$(LOCK))
table_timed   = $(call $(if $(SIMULATED),job,timed_job),$(LOCK))
ROUNDS        = $(if $(SIMULATED),sim,$(RUNS))
pipe          = bash -o pipefail -c

# OpenVINO's own choices, with all cores: name = device.
OV_ov-cpu     = ov:CPU
OV_ov-gpu     = ov:GPU
OV_ov-auto    = ov:AUTO
OV_ov-hetero  = ov:HETERO
# Learners: name = learner of common.mk; what makes the stream that they start from, of model,seed.
LEARNERS      = hsdag-paper hsdag-blind hsdag rnn hierarchical placeto place
LEARNER_hsdag-paper = paper
LEARNER_hsdag-blind = gpn
LEARNER_hsdag = default
LEARNER_rnn   = rnn
LEARNER_hierarchical = hierarchical
LEARNER_placeto = placeto
LEARNER_place = default
START_place   = dagfeat | placebase heft | placebase climb --evals 2000 --seed $(1) | \
                placebase random -n 20 --seed $(1)
start         = $(or $(call START_$(1),$(2)),$(LEARN_FEAT_$(LEARNER_$(1))))
# What a learner may run: EVALS simulated placements, or BUDGET seconds of measured ones.
learner_limit = $(if $(SIMULATED),$(call learn_limit,$(LEARNER_$(1)),$(TABLE_EVALS)),\
                --seconds $(BUDGET) --episodes $(or $(EPISODES),100000) $(LEARN_MEASURED_$(LEARNER_$(1))))
# Searches that have as many evaluations as learners.
SEARCHES      = climb anneal tabu genetic cross-entropy random-moves learned-moves
# Measured, as many as the budget has room for.
RANDOM_RUNS   = $(if $(SIMULATED),$(TABLE_EVALS),$(shell expr 4 \* $(BUDGET)))
# Groupings: name = what stands behind dagfeat, of seed.
GROUP_grouping-random = | daggroup random --groups $(TABLE_GROUPS) --seed $(1)
# Placers that answer differently to each seed.
SEEDED        = random random-search metis scotch scotch-mincut refine local-search restarts \
                portfolio $(SEARCHES)

# The name of METHOD's files: what is learned in a time depends on it.
found         = $(subst .,_,$(call file_part,$(1)))$(strip \
                $(if $(filter $(LEARNERS) random-search,$(1)),-$(if $(SIMULATED),$(TABLE_EVALS),$(BUDGET)s$(EPISODES))))$(strip \
                $(if $(filter grouping-% $(SEARCHES),$(1)),-$(TABLE_EVALS))$(strip \
                $(if $(filter %-random,$(1)),x$(TABLE_GROUPS))))
draws         = $(filter $(SEEDED) $(LEARNERS) $(GROUPINGS),$(1))
seeds         = $(if $(call draws,$(1)),$(SEEDS),$(firstword $(SEEDS)))
# Files that METHODS make for MODELS: what is found, and its measurement.
found_files   = $(foreach m,$(call model_name,$(1)),\
                $(foreach x,$(filter-out ov-%,$(2)),$(call found_of,$(m),$(x))))
joined        = $(subst $(space),+,$(strip $(1)))
timed_file    = $(TABLE_DIR)/$(1)/$(call found,$(2)).$(call joined,$(call seeds,$(2)))-r$(ROUNDS).tsv
timed_files   = $(foreach m,$(call model_name,$(1)),$(foreach x,$(2),$(call timed_file,$(m),$(x))))
# What METHOD found for the model NAME, over its seeds.
found_of      = $(foreach s,$(call seeds,$(2)),$(TABLE_DIR)/$(1)/$(call found,$(2)).$(s).mp)

# ---- a model: graph, statistics, profile of the devices, outputs ----

# Of the machines of the Hierarchical Planner no accelerator holds an NMT.
profile = $(if $(MACHINE),$(T)/machine $(MACHINE) $(if $(findstring nmt,$(1)),$(or $(MEMORY),0.6),0),$(if \
          $(TABLE_SPEC),devsim --probe --spec $(TABLE_SPEC),$(PROFILE)) $(if $(DEVICES),-D $(DEVICES)))
# model_jobs MODEL,NAME
of_hsdag = $(TABLE_DIR)/$(1)/$(call found,hsdag)
define model_jobs
$(call which_model,$(TABLE_DIR)/$(2),$(1))
$(TABLE_DIR)/$(2)/graph.mp: $(call model_files,$(1)) $(TABLE_DIR)/$(2)/model | $(TABLE_PROGS)
	$(call of_all,$(table_job)) $$@ $(pipe) 'xml=$$$$(pipelines/fill.sh $(B)/models $(1)) && ir2dag $$$$xml'
$(TABLE_DIR)/$(2)/stats.tsv: $(TABLE_DIR)/$(2)/graph.mp
	$(table_job) $$@ $(pipe) 'ir2dag --stats $$$$(pipelines/fill.sh $(B)/models $(1))'
$(TABLE_DIR)/$(2)/input.mp: $(TABLE_DIR)/$(2)/graph.mp
	$(call of_all,$(table_timed)) $$@ $(call profile,$(2)) $$<
$(TABLE_DIR)/$(2)/outputs.%.tsv: $(TABLE_DIR)/$(2)/input.mp $(call of_hsdag,$(2)).%.mp
	$(table_job) -r $$@ $(T)/outputs $$^
endef
$(call one_of_each,$(TABLE_MODELS) $(HIER_MODELS))
$(foreach m,$(sort $(TABLE_MODELS) $(HIER_MODELS)),\
  $(eval $(call model_jobs,$(m),$(call model_name,$(m)))))

# ---- what a method finds, and how long that takes ----

expert_command = $(pipe) '$(T)/expert $(1) $$< > $$@.json && placebase expert:$$@.json $$<'
placer_command = placebase $(2) --seed $$*$(if $(filter $(SEARCHES),$(2)), --evals $(TABLE_EVALS)) $$<
RUN_PLACEMENTS = $(if $(SIMULATED),devsim,devrun $(SEARCH_RUNS))
random_search_command = $(pipe) 'placebase random --draw biased -n $(RANDOM_RUNS) --seed $$* $$< | \
  $(RUN_PLACEMENTS) | reinforce --candidates 1'
# placer_jobs NAME,METHOD: the stem is the seed
define placer_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) -r $$@ $(call $(or $(filter expert,$(2)),$(if $(filter random-search,$(2)),random_search),placer)_command,$(1),$(2))
endef
# learner_jobs NAME,METHOD
define learner_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) -r $$@ $(pipe) '< $$< $(call start,$(2),$$*) | \
	  train $(LEARN_TRAIN_$(LEARNER_$(2))) --seed $$* --run "$(RUN_PLACEMENTS)" - \
	  $(strip $(call learner_limit,$(2)))'
endef
# grouping_jobs NAME,METHOD: learned on the simulator, by what the profile measured
define grouping_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_job) -r $$@ $(pipe) 'dagfeat < $$< $(call GROUP_$(2),$$*) | \
	  train --seed $$* --run devsim --embed --no-costs - --candidates 1 --steps 4 \
	  --episodes $(shell expr $(TABLE_EVALS) / 4)'
endef
# timed_jobs NAME,METHOD: what it found with all seeds, in the same rounds
define timed_jobs
$(call timed_file,$(1),$(2)): $(TABLE_DIR)/$(1)/input.mp \
  $(if $(OV_$(2)),$(TABLE_DIR)/$(1)/graph.mp,$(call found_of,$(1),$(2)))
	$(table_timed) $(if $(OV_$(2)),-r) $$@ \
	  $(T)/measure $(ROUNDS) $$< $(if $(OV_$(2)),--beside $(OV_$(2))) $$(filter-out $$<,$$^)
endef
kind = $(or $(if $(filter $(LEARNERS),$(1)),learner),$(if $(filter $(GROUPINGS),$(1)),grouping),\
       $(if $(OV_$(1)),,placer))_jobs
$(foreach m,$(call model_name,$(sort $(TABLE_MODELS) $(HIER_MODELS))),\
  $(foreach x,$(sort hsdag $(TABLE_METHODS) $(HIER_METHODS) $(GROUPINGS)),\
  $(eval $(call $(call kind,$(x)),$(m),$(x)))$(eval $(call timed_jobs,$(m),$(x)))))

# ---- tables ----

LATENCY_NOTE = $(if $(SIMULATED),simulated$(comma) $(TABLE_EVALS) placements of each learner and search; \
  )speedup: 100 (t_CPU - t) / t_CPU, median over pairs of the same round; \
  times_as_fast: t_CPU / t; latency: t_CPU over all jobs, times t / t_CPU in pairs. Over seeds: \
  geometric means, 95 % intervals of Student's t. CPU only is one device, rows of OpenVINO have \
  all cores. Rows are what a method found, whatever it is worth; the remark tells single devices

# Of each table: title, variables that it depends on, remarks, where published figures are from.
table1_title     = Graphs before and after co-location
table1_vars      = MODELS
table1_note      = degree is |E| / |V|
table1_published = Duan et al. 2024, table 1, their export of the models

table2_title     = Latency and speedup over the CPU alone
table2_vars      = MODELS DEVICES METHODS SEEDS EVALS BUDGET EPISODES RUNS SEARCH_RUNS PROFILE
table2_note      = $(LATENCY_NOTE)
table2_published = Duan et al. 2024, table 2: i9-12900K and Flex 170, OpenVINO 2023.3; not \
  measured here

table4_title     = Differences of outputs
table4_vars      = MODELS DEVICES SEEDS BUDGET EPISODES SEARCH_RUNS
table4_note      = same seeded inputs; hsdag is the best placement of the search of the first \
  seed; cosine over all outputs; largest difference over largest magnitude
table4_published = Duan et al. 2024, table 4; not measured here

table5_title     = What the searches took
table5_vars      = MODELS DEVICES METHODS SEEDS EVALS BUDGET EPISODES SEARCH_RUNS PROFILE
table5_note      = wall-clock seconds of each search alone on the machine, geometric means; \
  learners stop after BUDGET, not counting what they start from; placers start from the profile; \
  cpu_s: of all threads
table5_published = Duan et al. 2024, table 5; not measured here

hierarchical-placers_title     = Placers of the Hierarchical Planner's paper$(if $(MACHINE), on a processor and \
  $(MACHINE) accelerators)
hierarchical-placers_vars      = MODELS DEVICES METHODS SEEDS EVALS BUDGET EPISODES RUNS SEARCH_RUNS PROFILE
hierarchical-placers_note      = $(LATENCY_NOTE)$(if $(MACHINE),. An accelerator has the figures of a K40; of an \
  NMT it holds $(or $(MEMORY),0.6) of what the model takes on one)
hierarchical-placers_published = Mirhoseini et al. 2018, table 1: TensorFlow, Haswell CPU, K40 \
  GPUs (2 for Inception-V3, RNNLM and NMT-2, 4 for NMT-4, 8 for NMT-8), training steps of larger \
  models; not measured here

hierarchical-groups_title     = Random groups against learned ones
hierarchical-groups_vars      = MODELS DEVICES SEEDS EVALS GROUPS RUNS PROFILE
hierarchical-groups_note      = the same policy on both, $(TABLE_EVALS) placements simulated with \
  the profile's costs; what it found is measured
hierarchical-groups_published = Mirhoseini et al. 2018: random groups are 36 to 63 % slower than \
  learned ones on NMT; not measured here

# statistics VERB: tabstat's lines of the files $^, to what follows
statistics = lines=$$($(B)/bin/tabstat $(1) $(or $(2),$^)) && printf '%s\n' "$$lines" |
# table_rows SCRIPT: its rows, of the files that follow
table_rows = awk $(addprefix -f $(T)/,files.awk $(1).awk) \
  $(T)/published.tsv $(T)/labels.tsv
# The table $@ from rows on standard input, which come from jobs' files: $^ and those that follow.
report = B=$(B) $(T)/report $(TABLE_DIR)/$@ title="$($@_title)" \
  command="make $@ $(call given,$(if $(SIMULATED),SPEC MACHINE MEMORY $(filter-out BUDGET EPISODES RUNS SEARCH_RUNS PROFILE,$($@_vars)),$($@_vars)))" \
  seeds="$(if $(filter SEEDS,$($@_vars)),$(SEEDS))" \
  devices="$(if $(filter DEVICES,$($@_vars)),$$($(T)/role-note $(filter %.tsv %.mp,$^)))" \
  note="$($@_note)" published="$($@_published)" $^

table1: $(foreach m,$(call model_name,$(TABLE_MODELS)),$(TABLE_DIR)/$(m)/stats.tsv)
	@$(call table_rows,graphs) $^ | $(report)

table2: $(call timed_files,$(TABLE_MODELS),$(TABLE_METHODS))
	@$(call statistics,latency) $(call table_rows,latency) published_s=hsdag_s \
	  published_speedup=hsdag_speedup - | \
	  $(report) $(call found_files,$(TABLE_MODELS),$(TABLE_METHODS))

outputs_file = $(TABLE_DIR)/$(1)/outputs.$(firstword $(SEEDS)).tsv
table4: $(foreach m,$(call model_name,$(TABLE_MODELS)),$(call outputs_file,$(m)))
	@$(call table_rows,outputs) $^ | $(report)

table5: $(foreach m,$(call model_name,$(TABLE_MODELS)),$(TABLE_DIR)/$(m)/input.mp)
table5: $(call found_files,$(TABLE_MODELS),$(TABLE_METHODS))
	@B=$(B) $(T)/evaluated $(filter-out %/input.mp,$^) > $(TABLE_DIR)/evaluated.tsv
	@$(call statistics,searches,$(TABLE_DIR)/evaluated.tsv $(addsuffix .job,$^)) \
	  $(call table_rows,search) - | $(report)

hierarchical-placers: $(call timed_files,$(HIER_MODELS),$(HIER_METHODS))
	@$(call statistics,latency) $(call table_rows,latency) published_s=hierarchical_s - | \
	  $(report) $(call found_files,$(HIER_MODELS),$(HIER_METHODS))

hierarchical-groups: $(call timed_files,$(GROUP_MODELS),$(GROUPINGS))
	@$(call statistics,groupings) $(call table_rows,groupings) - | $(report) $(call found_files,$(GROUP_MODELS),$(GROUPINGS))

hierarchical: hierarchical-placers hierarchical-groups
tables: table1 table2 $(if $(SIMULATED),,table4) table5 hierarchical

# The paper's numbers of accelerators; an nmt8 is not among tests/models, MODELS=nmt8.xml brings it.
machine_table = +@$(MAKE) --no-print-directory hierarchical-placers MACHINE=$(1) MODELS="$(or $(MODELS),$(2))"
machines:
	$(call machine_table,2,inception_v3 resnet50 rnnlm nmt2)
	$(call machine_table,4,nmt4)
	$(call machine_table,8,nmt4)

papers:
	+@$(MAKE) --no-print-directory tables SPEC=$(or $(TABLE_SPEC),paper)
	+@$(MAKE) --no-print-directory machines
	+@$(MAKE) --no-print-directory learning variance open-checks

.PHONY: tables table1 table2 table4 table5 hierarchical hierarchical-placers hierarchical-groups machines papers
endif
