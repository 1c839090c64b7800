# plain.mk - values of variables from outside that are more than words: a recipe would run them, or lose a part of them.
# What includes it may have been read before it.
#
#   $(call refuse_special,NAMES)    an error where one of these variables, given to make or in the environment, has a
#                                   character that make or a shell takes for more than itself
#   $(call refuse_special_in,NAME,TEXT)   the same of TEXT, which is NAME's value less what may be there
ifndef PLAIN_MK
PLAIN_MK = 1
define newline


endef
SPECIAL_CHARACTERS := $$ \# ; & | < > ( ) [ ] { } ' " ` \ * ? ! ^ %
has_special = $(strip $(foreach c,$(SPECIAL_CHARACTERS),$(findstring $(c),$(1))) $(if $(findstring $(newline),$(1)),newline))
refuse_special_in = $(if $(filter command environment,$(origin $(1))),$(if $(call has_special,$(2)),$(error \
  $(1) is '$(value $(1))': characters that make or a shell takes for more than words: $(call has_special,$(2)))))
refuse_special = $(foreach v,$(1),$(call refuse_special_in,$(v),$(value $(v))))
endif
