# hsdag - device placement for neural networks, as Unix filters.
#   make            build everything into build/bin
#   make demo       install what is missing, build, show three placements (BUDGET: seconds for them)
#   make test       install what is missing, build, run all tests; T=placebase runs one
#   make bench      timings of every stage against their anchors
#   make parity     whole models against OpenVINO, on all devices; MODELS="name path.xml"
#   make bench-exec devrun beside OpenVINO in pairs; MODELS="name path.xml"
#   make bench-models forty models beside OpenVINO in f32, one core and all (pipelines/models.mk)
#   make bench-fastest models beside the fastest of OpenVINO, onnxruntime and LiteRT (pipelines/models.mk)
#   make bench-rates requests a second beside OpenVINO's benchmark_app (pipelines/models.mk)
#   make bench-ops  every operator beside OpenVINO in pairs, at sizes of models; OPS="Roll TopK"
#   make bench-hunt random chains of operators beside OpenVINO; slow ones go to tests/bench/op_found.jsonl; HUNT="--seconds 60"
#   make bench-saga HEFT, CPOP, evaluations beside SAGA, a simulator in Python; SAGA_PYTHON has it
#   make learning   does the learner learn? on the simulator (pipelines/learning.mk); variance
#   make open-checks what the papers leave open: groups, features, rewards, shapes, variance (pipelines/open.mk)
#   make updates    update rules beside each other (pipelines/updates.mk)
#   make ablation   learned parsing beside METIS and other groupings (pipelines/ablation.mk)
#   make tables     tables of two papers, measured here: table1 table2 table4 table5 hierarchical;
#                   SPEC=paper simulated; machines; papers: all that is simulated
#   make learned    learned placement beside searches, on problems that no training has seen
#   make pretrain   learn again what learned placement begins with: share/pretrained.mp, 20 minutes (RESUME=1: go on)
#   make quality    placebase's methods on task graphs of the literature (pipelines/quality.mk)
#   make runtimes   where other runtimes put operations beside the portfolio, at 60 % of the memory (pipelines/runtimes.mk)
#   make regret     what is lost between a search and its answer, on machines that are played (pipelines/regret.mk)
#   make verdicts   what reports of races claim, on machines that are played; TRIALS=5000
#   make cores      what place hands over on this machine's devices, beside HEFT alone (pipelines/cores.mk)
#   make cores-unseen  the same of networks that are made for it, with the goals
#   make torch-check torch2dag beside what PyTorch says of the same networks; packages of its own, from PyPI
#   make golden     what programs write, beside another build's; OLD=../old/build/bin (tests/golden)
#   make asan       build and test with AddressSanitizer and UBSan
#   make fuzz       longer runs of the fuzzers
#   make fuzz-coverage the same by coverage, with clang: readers, programs, executor (tests/fuzz/coverage)
#   make install    PREFIX=/usr/local DESTDIR=; make uninstall; make man (share/install.mk)
#   make dist       a release archive, which builds without git
#   make wheel      the programs for pip, with a package for Python (share/wheel.mk)
#   OPENCL=0        builds without OpenCL and its headers; ONEDNN=0 without oneDNN

# Mistyped, a target would run with its own, silently.
quote = '$(subst ','\'',$(1))'
GIVEN := $(filter-out $(CHECKED_VARIABLES),$(foreach v,$(.VARIABLES),$(if $(filter command line,$(origin $(v))),$(v))))
ifneq ($(GIVEN),)
GOALS := $(foreach g,$(MAKECMDGOALS),$(call quote,$(g)))
$(foreach v,$(filter-out $(shell pipelines/variables $(GOALS)),$(GIVEN)),$(error there is no variable '$(v)' of \
  $(or $(MAKECMDGOALS),all)$(shell pipelines/variables $(GOALS) | name=$(call quote,$(v)) awk -f pipelines/near.awk)))
export CHECKED_VARIABLES := $(CHECKED_VARIABLES) $(GIVEN)     # other goals, of makes that this one starts, have them as well
endif

B       ?= build
ifeq ($(origin CC),default)
CC       = gcc
endif
OPT     ?= -O3 -fno-math-errno -fno-trapping-math
PREFIX  ?= /usr/local
WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wwrite-strings -Wvla -Wundef -Wformat=2 $(WERROR)
# Where CI=1 is in the environment warnings are errors, and what a debugger wants to know about variables is
# left out: the code is the same, and made in three quarters of the time.
WERROR  ?= $(if $(CI),-Werror)
DEBUG   ?= $(if $(CI),-g1,-g)
OPENCL  ?= 1
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
# 1 where the headers of oneDNN 2 or 3 are.
ifeq ($(origin ONEDNN),undefined)
DNNL    := $(lastword $(shell echo DNNL_VERSION_MAJOR | $(CC) $(CPPFLAGS) \
           -include oneapi/dnnl/dnnl_version.h -E -P -x c - 2>/dev/null))
ONEDNN  := $(if $(filter 2 3,$(DNNL)),1,0)
LEFT_OUT = $(if $(filter 2 3,$(DNNL)),,oneDNN, as $(if $(DNNL),version $(DNNL) is here and 2 or 3 is wanted,its headers are not \
           here): products in bf16 and int8 are computed in f32, convolutions take longer)
endif
JOBS     = $(shell nproc)
Q        = $(if $(V),,@)
# Some processors decode a branch that crosses 32 bytes again and again.
ALIGN   := $(shell $(CC) -Wa,-mbranches-within-32B-boundaries -x c -c -o /dev/null - </dev/null \
           2>/dev/null && echo -Wa,-mbranches-within-32B-boundaries)
XML2    := $(shell $(PKG_CONFIG) --cflags libxml-2.0 2>/dev/null)
BLAS    := $(shell $(PKG_CONFIG) --cflags openblas 2>/dev/null)
# The library of msgpack-c has two names, by its version.
MSGPACK := $(shell $(PKG_CONFIG) --libs msgpack-c 2>/dev/null || $(PKG_CONFIG) --libs msgpack 2>/dev/null || echo -lmsgpackc)
# As on x86, for all.
CHAR    := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),,-fsigned-char)
# CPPFLAGS, CFLAGS and LDFLAGS of the caller come after the project's own.
MY_CPPFLAGS = -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=120 $(if $(filter 0,$(OPENCL)),-DWITHOUT_OPENCL) \
           $(if $(filter 0,$(ONEDNN)),-DWITHOUT_ONEDNN) \
           -Ilib $(XML2) $(BLAS) $(CPPFLAGS)
# Sanitized code names data of the sanitizer, which a shared library (libhsdag-run) reaches with -fPIC alone.
MY_CFLAGS = -std=c11 $(CHAR) $(DEBUG) $(OPT) $(ALIGN) $(WARN) $(SAN) $(if $(SAN),-fPIC) $(CFLAGS)
MY_LDFLAGS = $(SAN) -Wl,--as-needed $(LDFLAGS)

LDLIBS   = -lxml2 -ljansson $(MSGPACK) $(if $(filter 0,$(OPENCL)),,-lOpenCL) -lxxhash -lmetis \
           -lscotch -llzma -lz -lzstd -lpthread -ldl -lm

PROGS   := $(patsubst cmd/%.c,$(B)/bin/%,$(wildcard cmd/*.c))
NO_TESTS = $(if $(filter 0,$(OPENCL)),tests/unit/test_cl.c tests/unit/test_cl_device.c tests/bench/bench_cl.c)
UNITS   := $(patsubst tests/unit/%.c,$(B)/tests/%,$(filter-out $(NO_TESTS),$(wildcard tests/unit/*.c)))
BENCHES := $(patsubst tests/bench/%.c,$(B)/tests/%,$(filter-out $(NO_TESTS),$(wildcard tests/bench/*.c)))
LIB      = $(B)/libhsdag.a
NOT_BUILT = $(if $(filter 0,$(OPENCL)),lib/device/opencl/%) $(if $(filter 0,$(ONEDNN)),lib/kernel/onednn/% lib/kernel/nhwc/nhwc_conv% lib/device/cpu/nhwc/% lib/device/cpu/fuse/cpu_codes_matmul%)
SOURCES := $(filter-out $(NOT_BUILT),$(shell find lib -name '*.c' -o -name '*.cl' -o -name '*.html' -o -name '*.css' -o -name '*.js'))
OBJS    := $(patsubst lib/%,$(B)/obj/%.o,$(patsubst %.c,%,$(SOURCES)))

all: $(PROGS)
	@$(if $(LEFT_OUT),echo "built without $(strip $(LEFT_OUT))")

$(LIB): $(OBJS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/obj/%.o: lib/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(MY_CPPFLAGS) $(MY_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/place/learned/pretrained.o: share/pretrained.mp

# Intrinsics take longer to read than most files with several levels of instructions to compile: gcc reads them once.
WITH_LEVELS := $(patsubst lib/%.c,$(B)/obj/%.o,$(shell grep -rlE '"kernel/isa_(level|dispatch)[.]h"' lib --include='*.c'))
$(WITH_LEVELS): $(B)/obj/levels.h.gch
$(WITH_LEVELS): private MY_CPPFLAGS += -include $(B)/obj/levels.h
$(B)/obj/levels.h.gch: lib/kernel/isa_level.h
	@mkdir -p $(@D)
	@echo '#include "kernel/isa_level.h"' > $(B)/obj/levels.h
	$(Q)$(CC) $(MY_CPPFLAGS) $(MY_CFLAGS) -x c-header -o $@ $(B)/obj/levels.h

# An OpenCL source, or a file of a page, becomes a C string: char NAME_cl[], char NAME_html[].
define C_STRING
@mkdir -p $(@D)
$(Q)(printf 'extern const char $(subst .,_,$(notdir $<))[];\nconst char $(subst .,_,$(notdir $<))[] =\n'; \
 sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $<; echo ';') > $(@:.o=.c)
$(Q)$(CC) -c -o $@ $(@:.o=.c)
endef
$(B)/obj/%.cl.o: lib/%.cl
	$(C_STRING)
$(B)/obj/%.html.o: lib/%.html
	$(C_STRING)
$(B)/obj/%.css.o: lib/%.css
	$(C_STRING)
$(B)/obj/%.js.o: lib/%.js
	$(C_STRING)

LINK = $(CC) $(MY_CPPFLAGS) -Itests/support $(MY_CFLAGS) -MMD -MP -MF $(B)/obj/$(@F).d $(MY_LDFLAGS) -o $@ $< \
       $(LIB) $(LDLIBS)

$(B)/bin/%: cmd/%.c $(LIB)
	@mkdir -p $(@D) $(B)/obj
	@echo "  LINK  $@"
	$(Q)$(LINK)

.SECONDEXPANSION:
$(B)/tests/%: $$(wildcard tests/unit/$$*.c tests/bench/$$*.c tests/fuzz/$$*.c) $(LIB)
	@mkdir -p $(@D) $(B)/obj
	@echo "  LINK  $@"
	$(Q)$(LINK)

# What these test is in the library; they themselves need not be fast.
$(UNITS): private MY_CFLAGS += -O1
units: $(UNITS)

# Every program in one, beside the executor, for fuzzing: main of cmd/NAME.c is main_NAME.
COVERED = $(patsubst cmd/%.c,$(B)/cover/%.o,$(filter-out cmd/pretrain.c,$(wildcard cmd/*.c)))
$(B)/cover/%.o: cmd/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(MY_CPPFLAGS) $(MY_CFLAGS) -MMD -MP -Wno-missing-prototypes -Dmain=main_$* -c -o $@ $<
$(B)/cover/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(MY_CPPFLAGS) -Itests/support $(MY_CFLAGS) -MMD -MP -c -o $@ $<
# Drawn networks (net_draw.c) are told nothing by comparisons that code makes, which take a third of the time: see fuzz_net.c.
COMPARED = const_cmp1 const_cmp2 const_cmp4 const_cmp8 cmp1 cmp2 cmp4 cmp8
$(B)/tests/fuzz_cover: PARTS = $(COVERED)
$(B)/tests/fuzz_cover: WRAP = -Wl,--wrap=fclose
$(B)/tests/fuzz_cover: $(COVERED)
$(B)/tests/fuzz_net: PARTS = $(B)/cover/net_draw.o
$(B)/tests/fuzz_net: WRAP = $(if $(FUZZER),$(COMPARED:%=-Wl,--wrap=__sanitizer_cov_trace_%))
$(B)/tests/fuzz_net: $(B)/cover/net_draw.o
$(B)/tests/fuzz_cover $(B)/tests/fuzz_net: $(B)/tests/%: tests/fuzz/%.c $(B)/cover/cover_files.o $(LIB)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(MY_CPPFLAGS) -Itests/support $(MY_CFLAGS) -MMD -MP -MF $(B)/obj/$(@F).d $(MY_LDFLAGS) $(WRAP) \
	  $(FUZZER) -o $@ $< $(PARTS) $(B)/cover/cover_files.o $(LIB) $(LDLIBS)

# A program with one more device class, from outside lib: these files come before the archive.
SLOW = lib/record/devrec.c lib/device/device_class.c tests/support/slow_device.c
$(B)/slow/%: cmd/%.c $(SLOW) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MY_CPPFLAGS) '-DDEVICE_CLASSES_MORE(X)=X(slow, "slow", "slow:")' $(MY_CFLAGS) $(MY_LDFLAGS) \
	  -o $@ $< $(SLOW) $(LIB) $(LDLIBS)

# A program whose cpu devices know no oneDNN, whatever the library was built with.
$(B)/bare/%: cmd/%.c lib/device/cpu/device_cpu.c $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MY_CPPFLAGS) -DWITHOUT_ONEDNN $(MY_CFLAGS) $(MY_LDFLAGS) -o $@ $< \
	  lib/device/cpu/device_cpu.c $(LIB) $(LDLIBS)

# The targets a person types install what is missing first; DEPS=: turns that off.
DEPS ?= B=$(B) pipelines/deps.sh
BUILD = $(MAKE) --no-print-directory -j$(JOBS)
demo:
	@$(DEPS)
	@+pipelines/building $(B)/build.log $(BUILD) all
	@B=$(B) pipelines/demo

# The tests' Python is installed while the programs are compiled: to unpack OpenVINO keeps one core busy.
test:
	@$(DEPS)
	@+$(BUILD) venv all units
	@tests/run.sh $(B) $(T)

venv:
	@$(DEPS) $(B)/venv

ASAN = -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZED = B=$(B)/asan OPT=-O1 SAN="$(ASAN)"
asan:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all units $(SANITIZED)
	@SAN="$(ASAN)" HSDAG_PYTHON=$(abspath $(B))/venv/bin/python tests/run.sh $(B)/asan $(T)

bench:
	@$(DEPS)
	@+$(BUILD) all $(BENCHES)
	@B=$(B) pipelines/bench

parity:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@B=$(B) pipelines/parity

bench-exec:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all $(BENCHES)
	@B=$(B) pipelines/bench-exec

bench-ops:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@OPENBLAS_NUM_THREADS=1 $(or $(HSDAG_PYTHON),$(B)/venv/bin/python) tests/bench/ops.py --bin $(B)/bin $(OPS)

bench-hunt:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@OPENBLAS_NUM_THREADS=1 $(or $(HSDAG_PYTHON),$(B)/venv/bin/python) tests/bench/hunt.py --bin $(B)/bin --log $(B)/hunt.jsonl $(HUNT)

# python -m venv saga; saga/bin/pip install anrg-saga; make bench-saga SAGA_PYTHON=saga/bin/python
SAGA_PYTHON ?= python3
bench-saga:
	@$(DEPS)
	@+$(BUILD) all
	@PATH="$(abspath $(B))/bin:$$PATH" $(SAGA_PYTHON) tests/bench/against_saga.py $(SAGA)

# What learned placement begins with; the library has a copy of the file inside.
pretrain: $(B)/bin/pretrain
	$(B)/bin/pretrain --checkpoint $(B)/pretrain.ck $(if $(RESUME),--resume) -o share/pretrained.mp
	rm -f $(B)/pretrain.ck

clean:
	rm -rf $(B)

.PHONY: all units pretrain demo test venv asan bench parity bench-exec bench-ops bench-hunt bench-saga clean
.SECONDARY:
include share/librun.mk
include share/install.mk share/dist.mk share/wheel.mk
-include $(wildcard pipelines/*.mk) tests/checks.mk
# What depends on which headers; DEPENDENCIES=: where nothing is compiled, make need not read it.
ifeq ($(origin DEPENDENCIES),undefined)
DEPENDENCIES := $(shell find $(B) -name '*.d' -not -path '*/venv/*' 2>/dev/null)
endif
-include $(DEPENDENCIES)
