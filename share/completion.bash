# Completion of hsdag's programs: options, verbs and choices from --help-all, devices that are here, formats, methods, networks;
# else files.
# The verbs that a --help-all shows.
_hsdag_verbs() { sed -n '/^Usage: [^ ]* VERB/,/ VERB --help /s/^  \([a-z]*\)  .*/\1/p'; }

# The choices of an option: "...: auto, always, never (default: auto)".
_hsdag_choices() {
	awk -v option="$1" '
		/^ +(-[a-zA-Z], )?--[a-z]/ { inside = $1 == option || $1 == option "," || $2 == option }
		/^[^ ]/ || /^$/ { inside = 0 }
		inside { sub(/^ +/, ""); text = text " " $0 }
		END {
			if (match(text, /: [a-z0-9_-]+(, [a-z0-9_-]+)+( \(default: [a-z0-9_-]+\))?$/)) {
				text = substr(text, RSTART + 2)
				sub(/ \(.*/, "", text)
				gsub(/,/, "", text)
				print text
			}
		}'
}

# _hsdag_reply WORD CHOICE...: what begins with WORD, of which bash replaces what is behind its last colon; a list with commas
# is completed at its end.  No file names.
_hsdag_reply() {
	local word=$1 listed='' i
	shift
	[[ $word != *,* ]] || listed=${word%,*},
	mapfile -t COMPREPLY < <(compgen -P "$listed" -W "$*" -- "${word##*,}")
	compopt +o filenames 2> /dev/null
	if [[ $word == *:* && ${COMP_WORDBREAKS-:} == *:* ]]; then
		for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"${word%"${word##*:}"}"}; done
	fi
}

_hsdag_files() { mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$1"); }

_hsdag() {
	local program=$1 line=${COMP_LINE:-${COMP_WORDS[*]}} word before verb='' known words
	[ -z "${COMP_LINE:-}" ] || line=${line:0:COMP_POINT}
	word=${line##*[[:space:]]}
	read -r -a words <<< "${line%"$word"}"
	before=${words[${#words[@]} - 1]}
	if [[ $word == --*=* ]]; then
		before=${word%%=*}
		word=${word#*=}
	fi
	COMPREPLY=()
	[ ${#words[@]} -lt 2 ] || [[ ${words[1]} == -* ]] || verb=${words[1]}
	known=$("$program" --help-all 2> /dev/null)
	if [ -n "$verb" ] && _hsdag_verbs <<< "$known" | grep -qxF -- "$verb"; then
		known=$("$program" "$verb" --help-all 2> /dev/null)
		verb=given
	fi
	case $before in
	-D | --devices)
		compopt -o nospace 2> /dev/null     # a comma may follow
		_hsdag_reply "$word" "$(devrun list 2> /dev/null | sed 's/ .*//')"
		return
		;;
	--format | -f) _hsdag_reply "$word" "$(sed -n '/Formats:/,$s/^  \([a-z][a-z-]*\)\( .*\)\{0,1\}$/\1/p' <<< "$known")"; return ;;
	--net) _hsdag_reply "$word" "$(gpnembed --net list 2> /dev/null | sed -n 's/^  \([a-z0-9_]*\) .*/\1/p')"; return ;;
	--objective) _hsdag_reply "$word" latency throughput energy memory; return ;;
	--spec) _hsdag_reply "$word" "$(devsim --help-all 2> /dev/null | sed -n '/^Costs, links/,/^$/s/^  \([a-z-]*\) .*/\1/p')"; _hsdag_files "$word"; return ;;
	--from)
		_hsdag_reply "$word" best heft none
		_hsdag_files "$word"
		return
		;;
	-*)
		_hsdag_reply "$word" "$(_hsdag_choices "$before" <<< "$known")"
		[ ${#COMPREPLY[@]} -eq 0 ] || return
		;;
	esac
	if [[ $word == -* ]]; then
		_hsdag_reply "$word" "$(grep -o -- '^ *\(-[a-zA-Z], \)\?--[a-z][a-z0-9-]*' <<< "$known" | grep -o -- '--.*')"
		return
	fi
	if [ "$verb" != given ] && [ ${#words[@]} -eq 1 ]; then
		case ${program##*/} in
		placebase) known=$("$program" --list 2> /dev/null | sed 's/[ \t:?].*//') ;;
		hsdag-experiment) known=$("$program" --list 2> /dev/null) ;;
		*) known=$(_hsdag_verbs <<< "$known") ;;
		esac
		_hsdag_reply "$word" "$known"
	fi
	[ ${#COMPREPLY[@]} -gt 0 ] || compopt -o filenames 2> /dev/null
	_hsdag_files "$word"
}
complete -o filenames -F _hsdag dagfeat daggroup dagpin dagsplit devrun devsim gpnembed ir2dag irfill irjoin json2dag placebase placeout \
	placepolicy pretrain recdump reinforce runstat tabstat topk hsdag-place hsdag-train hsdag-calibrate \
	hsdag-experiment hsdag-apply
