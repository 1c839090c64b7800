# experiments.mak - the experiments without the build, for an installed tree (pipelines/experiment): B has bin/, the
# programs, and gets the results.
DEPS  = :
JOBS  = 1
BUILD = :
all: ;
include $(wildcard pipelines/*.mk)
