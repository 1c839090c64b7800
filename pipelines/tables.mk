# tables.mk - the tables of two papers, measured on this machine: Duan et al. (HSDAG), NeurIPS 2024,
# and Mirhoseini et al. (Hierarchical Planner), ICLR 2018.  Published figures stand in columns of
# their own.
#
#   make table1         graphs before and after co-location
#   make table2         latency and speedup of every method
#   make table4         differences of outputs
#   make table5         what the searches took
#   make hierarchical   placers on rnnlm, nmt2, nmt4 (hierarchical-placers), and random groups
#                       against learned ones (hierarchical-groups)
#   make tables         all of them
#     MODELS="..."      names of tests/models or paths of .xml (default: those of the papers)
#     DEVICES=LIST      default: what devrun --probe chooses.  The first of type cpu is "CPU", the
#                       first of another type "GPU"; without one the next device stands in for it
#     SEEDS="1 2 3"     of all that draws random numbers: means and intervals are over them
#     BUDGET=120        seconds of each learned placement (EPISODES=N: at most so many episodes)
#     RUNS=20           rounds of each measurement
#     EVALS=500         placements that each grouping's learner simulates
#     GROUPS=256        random groups, as many as the Hierarchical Planner has
#     METHODS="..."     rows of table 2 and 5 besides the single devices
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
# searches on the simulator run beside each other, what reads a clock runs alone.
ifneq ($(filter table% hierarchical% $(B)/tables/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

DEVICES ?=
BUDGET  ?= 120
RUNS    ?= 20
# Options of devrun in the search; the profile.
SEARCH_RUNS  ?= --min-runs 3 --max-seconds 0.25
PROFILE      ?= devrun --probe --profile

TABLE_EVALS   = $(or $(EVALS),500)
TABLE_GROUPS  = $(or $(GROUPS),256)
TABLE_MODELS  = $(or $(MODELS),inception_v3 resnet50 bert_base)
HIER_MODELS   = $(or $(MODELS),rnnlm nmt2 nmt4)
TABLE_METHODS = $(or $(METHODS),ov-cpu ov-gpu ov-auto ov-hetero random heft m-etf metis scotch \
                scotch-mincut mincut hsdag-paper hsdag place)
HIER_METHODS  = expert scotch scotch-mincut mincut hsdag
GROUPINGS     = grouping-learned grouping-random
TABLE_DIR     = $(B)/tables/$(or $(call file_part,$(DEVICES)),auto)
TABLE_PROGS   = $(addprefix $(B)/bin/,ir2dag dagfeat daggroup devrun devsim gpnembed irfill \
                placebase placeout placepolicy recdump reinforce tabstat)
T             = pipelines/tables
LOCK          ?= $(TABLE_DIR)/.lock
table_job     = $(call job,$(LOCK))
table_timed   = $(call timed_job,$(LOCK))
pipe          = bash -o pipefail -c

# OpenVINO's own choices, with all cores: name = device.
OV_ov-cpu     = ov:CPU
OV_ov-gpu     = ov:GPU
OV_ov-auto    = ov:AUTO
OV_ov-hetero  = ov:HETERO
# Learners: name = recipe; what makes the stream that they start from, of model,seed.
LEARNERS      = hsdag-paper hsdag place
RECIPE_hsdag-paper = paper
RECIPE_hsdag  = default
RECIPE_place  = default
START_hsdag-paper = dagfeat --paper
START_hsdag   = dagfeat
START_place   = dagfeat | placebase heft | placebase climb --evals 2000 --seed $(1) | \
                placebase random -n 20 --seed $(1)
# Groupings: name = what stands behind dagfeat, of seed.
GROUP_grouping-random = | daggroup random --groups $(TABLE_GROUPS) --seed $(1)
# Placers that answer differently to each seed.
SEEDED        = random metis scotch scotch-mincut climb refine anneal tabu genetic cross-entropy \
                local-search restarts portfolio

# The name of METHOD's files: what is learned in a time depends on it.
found         = $(subst .,_,$(call file_part,$(1)))$(strip \
                $(if $(filter $(LEARNERS),$(1)),-$(BUDGET)s$(EPISODES)))$(strip \
                $(if $(filter grouping-%,$(1)),-$(TABLE_EVALS))$(strip \
                $(if $(filter %-random,$(1)),x$(TABLE_GROUPS))))
draws         = $(filter $(SEEDED) $(LEARNERS) $(GROUPINGS),$(1))
seeds         = $(if $(call draws,$(1)),$(SEEDS),$(firstword $(SEEDS)))
# Files that METHODS make for MODELS: what is found, and its measurement.
found_files   = $(foreach m,$(call model_name,$(1)),\
                $(foreach x,$(filter-out ov-%,$(2)),$(call found_of,$(m),$(x))))
joined        = $(subst $(space),+,$(strip $(1)))
timed_file    = $(TABLE_DIR)/$(1)/$(call found,$(2)).$(call joined,$(call seeds,$(2)))-r$(RUNS).tsv
timed_files   = $(foreach m,$(call model_name,$(1)),$(foreach x,$(2),$(call timed_file,$(m),$(x))))
# What METHOD found for the model NAME, over its seeds.
found_of      = $(foreach s,$(call seeds,$(2)),$(TABLE_DIR)/$(1)/$(call found,$(2)).$(s).mp)

# ---- a model: graph, statistics, profile of the devices, outputs ----

# model_jobs MODEL,NAME
of_hsdag = $(TABLE_DIR)/$(1)/$(call found,hsdag)
define model_jobs
$(call which_model,$(TABLE_DIR)/$(2),$(1))
$(TABLE_DIR)/$(2)/graph.mp: $(call model_files,$(1)) $(TABLE_DIR)/$(2)/model | $(TABLE_PROGS)
	$(table_job) $$@ $(pipe) 'xml=$$$$(pipelines/fill.sh $(B)/models $(1)) && ir2dag $$$$xml'
$(TABLE_DIR)/$(2)/stats.tsv: $(TABLE_DIR)/$(2)/graph.mp
	$(table_job) $$@ $(pipe) 'ir2dag --stats $$$$(pipelines/fill.sh $(B)/models $(1))'
$(TABLE_DIR)/$(2)/input.mp: $(TABLE_DIR)/$(2)/graph.mp
	$(table_timed) $$@ $(PROFILE) $(if $(DEVICES),-D $(DEVICES)) $$<
$(TABLE_DIR)/$(2)/outputs.%.tsv: $(TABLE_DIR)/$(2)/input.mp $(call of_hsdag,$(2)).%.mp
	$(table_job) -r $$@ $(T)/outputs $$^
endef
$(call one_of_each,$(TABLE_MODELS) $(HIER_MODELS))
$(foreach m,$(sort $(TABLE_MODELS) $(HIER_MODELS)),\
  $(eval $(call model_jobs,$(m),$(call model_name,$(m)))))

# ---- what a method finds, and how long that takes ----

expert_command = $(pipe) '$(T)/expert $(1) $$< > $$@.json && placebase expert:$$@.json $$<'
placer_command = placebase $(2) --seed $$* $$<
# placer_jobs NAME,METHOD: the stem is the seed
define placer_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) -r $$@ $(call $(if $(filter expert,$(2)),expert,placer)_command,$(1),$(2))
endef
# learner_jobs NAME,METHOD
define learner_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) -r $$@ $(pipe) '< $$< $(call START_$(2),$$*) | \
	  train --recipe $(RECIPE_$(2)) --seed $$* --run "devrun $(SEARCH_RUNS)" - \
	  --seconds $(BUDGET) --episodes $(or $(EPISODES),100000)'
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
	  $(T)/measure $(RUNS) $$< $(if $(OV_$(2)),--beside $(OV_$(2))) $$(filter-out $$<,$$^)
endef
kind = $(or $(if $(filter $(LEARNERS),$(1)),learner),$(if $(filter $(GROUPINGS),$(1)),grouping),\
       $(if $(OV_$(1)),,placer))_jobs
$(foreach m,$(call model_name,$(sort $(TABLE_MODELS) $(HIER_MODELS))),\
  $(foreach x,$(sort hsdag $(TABLE_METHODS) $(HIER_METHODS) $(GROUPINGS)),\
  $(eval $(call $(call kind,$(x)),$(m),$(x)))$(eval $(call timed_jobs,$(m),$(x)))))

# ---- tables ----

LATENCY_NOTE = speedup: 100 (t_CPU - t) / t_CPU, median over pairs of the same round; \
  times_as_fast: t_CPU / t; latency: t_CPU over all jobs, times t / t_CPU in pairs. Over seeds: \
  geometric means, 95 % intervals of Student's t. CPU only is one device, rows of OpenVINO have \
  all cores. Rows are what a method found, whatever it is worth; the remark tells single devices

# Of each table: title, variables that it depends on, remarks, where published figures are from.
table1_title     = Graphs before and after co-location
table1_vars      = MODELS
table1_note      = degree is |E| / |V|
table1_published = Duan et al. 2024, table 1, their export of the models

table2_title     = Latency and speedup over the CPU alone
table2_vars      = MODELS DEVICES METHODS SEEDS BUDGET EPISODES RUNS SEARCH_RUNS PROFILE
table2_note      = $(LATENCY_NOTE)
table2_published = Duan et al. 2024, table 2: i9-12900K and Flex 170, OpenVINO 2023.3; not \
  measured here

table4_title     = Differences of outputs
table4_vars      = MODELS DEVICES SEEDS BUDGET EPISODES SEARCH_RUNS
table4_note      = same seeded inputs; hsdag is the best placement of the search of the first \
  seed; cosine over all outputs; largest difference over largest magnitude
table4_published = Duan et al. 2024, table 4; not measured here

table5_title     = What the searches took
table5_vars      = MODELS DEVICES METHODS SEEDS BUDGET EPISODES SEARCH_RUNS PROFILE
table5_note      = wall-clock seconds of each search alone on the machine, geometric means; \
  learners stop after BUDGET, not counting what they start from; placers start from the profile; \
  cpu_s: of all threads
table5_published = Duan et al. 2024, table 5; not measured here

hierarchical-placers_title     = Placers on recurrent models
hierarchical-placers_vars      = MODELS DEVICES SEEDS BUDGET EPISODES RUNS SEARCH_RUNS PROFILE
hierarchical-placers_note      = $(LATENCY_NOTE)
hierarchical-placers_published = Mirhoseini et al. 2018, table 1: TensorFlow, Haswell CPU, K40 \
  GPUs, training steps of larger models; not measured here

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
  command="make $@ $(call given,$($@_vars))" \
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

hierarchical-groups: $(call timed_files,$(HIER_MODELS),$(GROUPINGS))
	@$(call statistics,groupings) $(call table_rows,groupings) - | $(report) $(call found_files,$(HIER_MODELS),$(GROUPINGS))

hierarchical: hierarchical-placers hierarchical-groups
tables: table1 table2 table4 table5 hierarchical

.PHONY: tables table1 table2 table4 table5 hierarchical hierarchical-placers hierarchical-groups
endif
