# install.mk - what `make install` brings, and where; `make uninstall` takes the same away.
#
#   make install PREFIX=/usr/local DESTDIR=      what a debugger wants to know stays behind; STRIPPED= brings it, too
#   make man        man pages from --help-all into $(B)/man; they are installed, too
BINDIR  ?= $(PREFIX)/bin
DATADIR  = $(PREFIX)/share/hsdag
DOCDIR  ?= $(PREFIX)/share/doc/hsdag
MANDIR  ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
LIBDIR  ?= $(PREFIX)/lib
INCDIR  ?= $(PREFIX)/include
INSTALL ?= install
STRIPPED ?= -s

include pipelines/plain.mk
ifneq ($(filter install uninstall install-run uninstall-run,$(MAKECMDGOALS)),)
$(call refuse_special,PREFIX DESTDIR BINDIR DATADIR DOCDIR MANDIR COMPDIR LIBDIR INCDIR)
endif

EXAMPLES = $(wildcard share/examples/models/*.xml share/examples/models/*.bin.xz)

# Scripts that people call: hsdag-NAME.  The others lie beside them in $(DATADIR)/pipelines.
COMMANDS = place train calibrate experiment $(notdir $(wildcard pipelines/apply))
NAMES    = $(notdir $(PROGS)) $(COMMANDS:%=hsdag-%)
MANS     = $(NAMES:%=$(B)/man/%.1)
# What the experiments read: models, made-up problems, the scripts that run them.
DATA     = $(shell find pipelines tests/models tests/instances -type f -not -name '*.pyc') \
           $(wildcard tests/bench/*.py tests/support/*.py tests/support/*.sh)
DOCS     = README.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE $(shell find docs -name '*.md' -o -name '*.svg') $(shell find lib -name README.md)

$(B)/man/%.1: $(B)/bin/% share/help2man.awk share/manpage
	@mkdir -p $(@D)
	$(Q)B=$(B) share/manpage $< $* > $@.tmp && mv $@.tmp $@
$(B)/man/hsdag-%.1: pipelines/% share/help2man.awk share/manpage | $(PROGS)
	@mkdir -p $(@D)
	$(Q)B=$(B) share/manpage $< hsdag-$* > $@.tmp && mv $@.tmp $@
man: $(MANS)

# A path may hold blanks.
install: all man install-run
	for d in "$(BINDIR)" "$(DATADIR)/examples" "$(MANDIR)/man1" "$(COMPDIR)"; do install -d "$(DESTDIR)$$d" || exit; done
	$(INSTALL) $(STRIPPED) $(PROGS) "$(DESTDIR)$(BINDIR)"
	install -m 644 share/pretrained.mp "$(DESTDIR)$(DATADIR)"
	install -m 644 $(EXAMPLES) "$(DESTDIR)$(DATADIR)/examples"
	tar cf - --owner=0 --group=0 $(DATA) | tar xf - --no-same-owner -C "$(DESTDIR)$(DATADIR)"
	for c in $(COMMANDS); do \
	  ln -sfr "$(DESTDIR)$(DATADIR)/pipelines/$$c" "$(DESTDIR)$(BINDIR)/hsdag-$$c" || exit; done
	for d in $(DOCS); do install -D -m 644 $$d "$(DESTDIR)$(DOCDIR)/$$d" || exit; done
	install -m 644 $(MANS) "$(DESTDIR)$(MANDIR)/man1"
	install -m 644 share/completion.bash "$(DESTDIR)$(COMPDIR)/hsdag-place"
	for c in $(filter-out hsdag-place,$(NAMES)); do ln -sf hsdag-place "$(DESTDIR)$(COMPDIR)/$$c" || exit; done

uninstall: uninstall-run
	for n in $(NAMES); do \
	  rm -f "$(DESTDIR)$(BINDIR)/$$n" "$(DESTDIR)$(MANDIR)/man1/$$n.1" "$(DESTDIR)$(COMPDIR)/$$n" || exit; done
	rm -rf "$(DESTDIR)$(DATADIR)" "$(DESTDIR)$(DOCDIR)"

# libhsdag-run alone: library, header, pkg-config file, man page, examples.
install-run: librun
	for d in "$(LIBDIR)/pkgconfig" "$(INCDIR)/hsdag" "$(MANDIR)/man3" "$(DOCDIR)/examples"; do install -d "$(DESTDIR)$$d" || exit; done
	$(INSTALL) $(STRIPPED) -m 644 $(RUN_SO) "$(DESTDIR)$(LIBDIR)"
	install -m 644 $(RUN_A) "$(DESTDIR)$(LIBDIR)"
	$(if $(STRIPPED),$(OBJCOPY) --strip-debug "$(DESTDIR)$(LIBDIR)/$(notdir $(RUN_A))")
	ln -sf $(notdir $(RUN_SO)) "$(DESTDIR)$(LIBDIR)/libhsdag-run.so"
	install -m 644 $(RUN_PC) "$(DESTDIR)$(LIBDIR)/pkgconfig"
	install -m 644 lib/run/hsdag_run.h "$(DESTDIR)$(INCDIR)/hsdag/run.h"
	install -m 644 share/hsdag_run.3 "$(DESTDIR)$(MANDIR)/man3"
	install -m 644 share/examples/run.c share/examples/hsdag_run.py "$(DESTDIR)$(DOCDIR)/examples"

uninstall-run:
	rm -f "$(DESTDIR)$(LIBDIR)/"libhsdag-run.so "$(DESTDIR)$(LIBDIR)/"libhsdag-run.so.$(RUN_ABI) "$(DESTDIR)$(LIBDIR)/libhsdag-run.a" \
	  "$(DESTDIR)$(LIBDIR)/pkgconfig/hsdag-run.pc" "$(DESTDIR)$(MANDIR)/man3/hsdag_run.3"
	rm -rf "$(DESTDIR)$(INCDIR)/hsdag" "$(DESTDIR)$(DOCDIR)/examples"

.PHONY: man install uninstall install-run uninstall-run
