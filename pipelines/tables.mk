# tables.mk - the tables of two papers, measured on this machine: Duan et al. (HSDAG), NeurIPS 2024, and
# Mirhoseini et al. (Hierarchical Planner), ICLR 2018.  Published figures stand in columns of their own.
#
#   make table1         graphs before and after co-location
#   make table2         latency and speedup of every method
#   make table4         differences of outputs
#   make table5         what the searches took
#   make hierarchical   placers on rnnlm, nmt2, nmt4 (hierarchical-placers), and random groups against
#                       learned ones (hierarchical-groups)
#   make tables         all of them
#     MODELS="..."      names of tests/models or paths of .xml (default: those of the papers)
#     DEVICES=LIST      default: what devrun --probe chooses.  The first of type cpu is "CPU", the first
#                       of another type "GPU"; without one the next device stands in for it
#     SEEDS="1 2 3"     of all that draws random numbers: means and intervals are over them
#     BUDGET=120        seconds of each learned placement (EPISODES=N: at most so many episodes)
#     RUNS=20           rounds of each measurement
#     EVALS=500         placements that each grouping's learner simulates
#     GROUPS=256        random groups, as many as the Hierarchical Planner has
#     METHODS="..."     rows of table 2 and 5 besides the single devices
#     LAUNCH=...        in front of each job; if that sends jobs to several machines, LOCK=FILE local to each
#     PROFILE=...       default: devrun --probe --profile; SEARCH_RUNS=... options of devrun in searches
#
# Results: build/tables/DEVICES/NAME.tsv and .md, with the commands, versions and seeds.  A job is a
# file: MODEL/METHOD.SEED.mp, what the method found, and METHOD.SEEDS-rRUNS.tsv, how long that takes, in the
# same rounds as each single device; FILE.job says how it was made.  Interrupted, the same command goes on; remove a
# file to have it made again, also one that says "failed".  Safe under make -j: only searches on the
# simulator run beside each other, what reads a clock runs alone.
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
TABLE_METHODS = $(or $(METHODS),ov-cpu ov-gpu ov-auto ov-hetero random heft m-etf metis scotch scotch-mincut mincut \
                hsdag-paper hsdag place)
HIER_METHODS  = expert scotch scotch-mincut mincut hsdag
GROUPINGS     = grouping-learned grouping-random
TABLE_DIR     = $(B)/tables/$(or $(call file_part,$(DEVICES)),auto)
TABLE_PROGS   = $(addprefix $(B)/bin/,ir2dag dagfeat daggroup devrun devsim gpnembed irfill placebase placeout \
                placepolicy recdump reinforce)
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
START_place   = dagfeat | placebase heft | placebase climb --evals 2000 --seed $(1) | placebase random -n 20 --seed $(1)
# Groupings: name = what stands behind dagfeat, of seed.
GROUP_grouping-random = | daggroup random --groups $(TABLE_GROUPS) --seed $(1)
# Placers that answer differently to each seed.
SEEDED        = random metis scotch scotch-mincut

# The name of METHOD's files: what is learned in a time depends on it.
found         = $(1)$(if $(filter $(LEARNERS),$(1)),-$(BUDGET)s$(EPISODES))$(if $(filter $(GROUPINGS),$(1)),-$(TABLE_EVALS))$(if $(filter grouping-random,$(1)),x$(TABLE_GROUPS))
seeds         = $(if $(filter $(SEEDED) $(LEARNERS) $(GROUPINGS),$(1)),$(SEEDS),$(firstword $(SEEDS)))
# Files that METHODS make for MODELS: what is found, and its measurement.
found_files   = $(foreach m,$(call model_name,$(1)),$(foreach x,$(filter-out ov-%,$(2)),$(call found_of,$(m),$(x))))
timed_file    = $(TABLE_DIR)/$(1)/$(call found,$(2)).$(subst $(space),+,$(strip $(call seeds,$(2))))-r$(RUNS).tsv
timed_files   = $(foreach m,$(call model_name,$(1)),$(foreach x,$(2),$(call timed_file,$(m),$(x))))
# What METHOD found for the model NAME, over its seeds.
found_of      = $(foreach s,$(call seeds,$(2)),$(TABLE_DIR)/$(1)/$(call found,$(2)).$(s).mp)

# ---- a model: graph, statistics, profile of the devices, outputs ----

# model_jobs MODEL,NAME
define model_jobs
$(TABLE_DIR)/$(2)/graph.mp: | $(TABLE_PROGS)
	$(table_job) $$@ $(pipe) 'xml=$$$$(pipelines/fill.sh $(B)/models $(1)) && ir2dag $$$$xml'
$(TABLE_DIR)/$(2)/stats.tsv: $(TABLE_DIR)/$(2)/graph.mp
	$(table_job) $$@ $(pipe) 'ir2dag --stats $$$$(pipelines/fill.sh $(B)/models $(1))'
$(TABLE_DIR)/$(2)/input.mp: $(TABLE_DIR)/$(2)/graph.mp
	$(table_timed) $$@ $(PROFILE) $(if $(DEVICES),-D $(DEVICES)) $$<
$(TABLE_DIR)/$(2)/outputs.%.tsv: $(TABLE_DIR)/$(2)/input.mp $(TABLE_DIR)/$(2)/$(call found,hsdag).%.mp
	$(table_job) -r $$@ $(T)/outputs $$^
endef
$(foreach m,$(sort $(TABLE_MODELS) $(HIER_MODELS)),$(eval $(call model_jobs,$(m),$(call model_name,$(m)))))

# ---- what a method finds, and how long that takes ----

# placer_jobs NAME,METHOD: the stem is the seed
define placer_jobs
$(TABLE_DIR)/$(1)/$(2).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) -r $$@ $(if $(filter expert,$(2)),$(pipe) '$(T)/expert $(1) $$< > $$@.json && placebase expert:$$@.json $$<',placebase $(2) --seed $$* $$<)
endef
# learner_jobs NAME,METHOD
define learner_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_timed) $$@ $(pipe) '< $$< $(call START_$(2),$$*) | train --recipe $(RECIPE_$(2)) --seed $$* \
	  --run "devrun $(SEARCH_RUNS)" - --seconds $(BUDGET) --episodes $(or $(EPISODES),100000)'
endef
# grouping_jobs NAME,METHOD: learned on the simulator, by what the profile measured
define grouping_jobs
$(TABLE_DIR)/$(1)/$(call found,$(2)).%.mp: $(TABLE_DIR)/$(1)/input.mp
	$(table_job) $$@ $(pipe) 'dagfeat < $$< $(call GROUP_$(2),$$*) | train --seed $$* --run devsim - \
	  --candidates 1 --steps 4 --episodes $(shell expr $(TABLE_EVALS) / 4)'
endef
# timed_jobs NAME,METHOD: what it found with all seeds, in the same rounds
define timed_jobs
$(call timed_file,$(1),$(2)): $(TABLE_DIR)/$(1)/input.mp $(if $(OV_$(2)),$(TABLE_DIR)/$(1)/graph.mp,$(call found_of,$(1),$(2)))
	$(table_timed) $(if $(OV_$(2)),-r) $$@ $(T)/measure $(RUNS) $$< $(if $(OV_$(2)),--beside $(OV_$(2))) $$(filter-out $$<,$$^)
endef
kind = $(if $(filter $(LEARNERS),$(1)),learner,$(if $(filter $(GROUPINGS),$(1)),grouping,$(if $(OV_$(1)),,placer)))_jobs
$(foreach m,$(call model_name,$(sort $(TABLE_MODELS) $(HIER_MODELS))),\
  $(foreach x,$(sort hsdag $(TABLE_METHODS) $(HIER_METHODS) $(GROUPINGS)),\
  $(eval $(call $(call kind,$(x)),$(m),$(x)))$(eval $(call timed_jobs,$(m),$(x)))))

# ---- tables ----

role_note = devices="$$($(T)/role-note $(filter %.tsv %.mp,$^))"
latency_notes = $(role_note) \
  note="latency: median of the rounds. speedup: 100 (t_CPU - t) / t_CPU in pairs of the same round; times_as_fast: t_CPU / t. Over seeds: geometric means, 95 % intervals of Student's t. Rows are what a method found, whatever it is worth; the remark tells single devices"
# report NAME,TITLE,VARIABLES,FILES: rows are on standard input
report = B=$(B) $(T)/report $(TABLE_DIR)/$(1) title="$(2)" \
  command="make $(strip $(1) $(foreach v,$(3),$(if $($(v)),$(v)='$($(v))')))" seeds="$(if $(filter SEEDS,$(3)),$(SEEDS))"

table1: $(foreach m,$(call model_name,$(TABLE_MODELS)),$(TABLE_DIR)/$(m)/stats.tsv)
	@awk -f $(T)/graphs.awk $(T)/published.tsv $^ | $(call report,table1,Graphs before and after co-location,MODELS) \
	  note="degree is |E| / |V|. published columns: Duan et al. 2024, table 1, their export of the models" $^

TABLE2_FILES = $(call timed_files,$(TABLE_MODELS),$(TABLE_METHODS))
table2: $(TABLE2_FILES)
	@awk -v published_s=hsdag_s -v published_speedup=hsdag_speedup -f $(T)/stats.awk -f $(T)/latency.awk $(T)/published.tsv \
	  $(T)/labels.tsv $^ | $(call report,table2,Latency and speedup over the CPU alone,MODELS DEVICES METHODS SEEDS BUDGET EPISODES RUNS) \
	  $(latency_notes) published="Duan et al. 2024, table 2: i9-12900K and Flex 170, OpenVINO 2023.3; not measured here" \
	  $^ $(call found_files,$(TABLE_MODELS),$(TABLE_METHODS))

TABLE4_FILES = $(foreach m,$(call model_name,$(TABLE_MODELS)),$(TABLE_DIR)/$(m)/outputs.$(firstword $(SEEDS)).tsv)
table4: $(TABLE4_FILES)
	@awk -f $(T)/outputs.awk $(T)/published.tsv $^ | $(call report,table4,Differences of outputs,MODELS DEVICES SEEDS BUDGET EPISODES) $(role_note) \
	  note="same seeded inputs; hsdag is the best placement of the search of the first seed; cosine over all outputs; largest difference over largest magnitude" \
	  published="Duan et al. 2024, table 4; not measured here" $^

TABLE5_FILES = $(call found_files,$(TABLE_MODELS),$(TABLE_METHODS))
TABLE5_INPUTS = $(foreach m,$(call model_name,$(TABLE_MODELS)),$(TABLE_DIR)/$(m)/input.mp)
table5: $(TABLE5_INPUTS) $(TABLE5_FILES)
	@B=$(B) $(T)/evaluated $(filter-out %/input.mp,$^) > $(TABLE_DIR)/evaluated.tsv
	@awk -f $(T)/stats.awk -f $(T)/search.awk $(T)/published.tsv $(T)/labels.tsv $(TABLE_DIR)/evaluated.tsv $(addsuffix .job,$^) | \
	  $(call report,table5,What the searches took,MODELS DEVICES METHODS SEEDS BUDGET EPISODES) $(role_note) \
	  note="wall-clock seconds of each search alone on the machine, geometric means; learners stop after BUDGET, not counting what they start from; placers start from the profile; cpu_s: of all threads" \
	  published="Duan et al. 2024, table 5; not measured here" $^

HIER_FILES    = $(call timed_files,$(HIER_MODELS),$(HIER_METHODS))
GROUP_FILES   = $(call timed_files,$(HIER_MODELS),$(GROUPINGS))
hierarchical-placers: $(HIER_FILES)
	@awk -v published_s=hierarchical_s -f $(T)/stats.awk -f $(T)/latency.awk $(T)/published.tsv $(T)/labels.tsv $^ | \
	  $(call report,hierarchical-placers,Placers on recurrent models,MODELS DEVICES SEEDS BUDGET EPISODES RUNS) $(latency_notes) \
	  published="Mirhoseini et al. 2018, table 1: TensorFlow, Haswell CPU, K40 GPUs, training steps of larger models; not measured here" \
	  $^ $(call found_files,$(HIER_MODELS),$(HIER_METHODS))

hierarchical-groups: $(GROUP_FILES)
	@awk -f $(T)/stats.awk -f $(T)/groupings.awk $(T)/labels.tsv $^ | \
	  $(call report,hierarchical-groups,Random groups against learned ones,MODELS DEVICES SEEDS EVALS GROUPS RUNS) $(role_note) \
	  note="the same policy on both, $(TABLE_EVALS) placements simulated with the profile's costs; what it found is measured" \
	  published="Mirhoseini et al. 2018: random groups are 36 to 63 % slower than learned ones on NMT; not measured here" \
	  $^ $(call found_files,$(HIER_MODELS),$(GROUPINGS))

hierarchical: hierarchical-placers hierarchical-groups
tables: table1 table2 table4 table5 hierarchical

.PHONY: tables table1 table2 table4 table5 hierarchical hierarchical-placers hierarchical-groups
endif
