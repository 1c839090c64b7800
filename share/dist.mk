# dist.mk - a release: $(B)/hsdag-VERSION.tar.xz, all files of the last commit, which build, install and make packages without git.
RELEASE = hsdag-$(RUN_VERSION)

dist:
	@git rev-parse --git-dir > /dev/null 2>&1 || { echo "make dist: no git here: this is a release already, or a copy of one" >&2; exit 1; }
	@git diff --quiet HEAD || echo "make dist: what is not committed is left out" >&2
	@mkdir -p $(B)
	$(Q)git archive --prefix=$(RELEASE)/ HEAD > $(B)/$(RELEASE).tar
	$(Q)xz -9 -f -T1 $(B)/$(RELEASE).tar
	@echo "$(B)/$(RELEASE).tar.xz"

.PHONY: dist
