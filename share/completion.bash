# Completion of hsdag's programs: options and verbs from --help, choices of some options, else files.
# The verbs that a --help shows.
_hsdag_verbs() { sed -n '/^Usage: [^ ]* VERB/,/ VERB --help /s/^  \([a-z]*\)  .*/\1/p'; }

_hsdag() {
	local program=$1 word=$2 before=$3 verb='' known
	[ "$COMP_CWORD" -lt 2 ] || [[ ${COMP_WORDS[1]} == -* ]] || verb=${COMP_WORDS[1]}
	COMPREPLY=()
	case $before in
	--format | -f)
		known=$("$program" --help 2> /dev/null | sed -n '/Formats:/,$s/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$known" -- "$word")
		return
		;;
	--net)
		mapfile -t COMPREPLY < <(compgen -W "$(gpnembed --net list 2> /dev/null | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p')" -- "$word")
		return
		;;
	esac
	known=$("$program" --help 2> /dev/null)
	case $verb in
	?*)
		if _hsdag_verbs <<< "$known" | grep -qxF -- "$verb"; then
			known=$("$program" "$verb" --help 2> /dev/null)
			verb=given
		fi
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(grep -o -- '^ *\(-[a-zA-Z], \)\?--[a-z][a-z0-9-]*' <<< "$known" | grep -o -- '--.*')" -- "$word")
		return
	fi
	if [ "$verb" != given ] && [ "$COMP_CWORD" -eq 1 ]; then
		case ${program##*/} in
		placebase) known=$("$program" --list 2> /dev/null | sed 's/[ \t].*//') ;;
		hsdag-experiment) known=$("$program" --list 2> /dev/null) ;;
		*) known=$(_hsdag_verbs <<< "$known") ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$known" -- "$word")
	fi
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _hsdag dagfeat daggroup devrun devsim gpnembed ir2dag irfill json2dag placebase placeout \
	placepolicy pretrain recdump reinforce runstat tabstat topk hsdag-place hsdag-train hsdag-calibrate \
	hsdag-experiment hsdag-apply
