# shellcheck shell=bash disable=SC2034   # whoever sources it uses config_ours, config_theirs
# config.sh - options from files that are named on the command line (--config FILE), and from no other file.  To be sourced; the
# caller has the functions usage, whose options may stand in a file, die and meant (programs.sh).
#
#   config_take COMMAND ARGUMENT...   config_ours: the options of all files that ARGUMENTs name, as they would stand on the
#                                     command line, but for those that stand there; config_theirs: those of COMMAND
#                                     ('': there is none), which has --help-all
#   config_told MESSAGE               where it is about an option of a file ("--NAME: ..."), that file and line before it
#
# A file has an option a line: its long name, blanks, its value, which is the rest of the line.  What follows # at the begin of a line
# or behind a blank is a comment.

declare -A config_at=()     # options that files give: FILE:LINE
config_ours=() config_theirs=()

# config_options VARIABLE LETTERS: of a help on standard input, names with 1 where they have a value; letters with names.
config_options() {
	local -n options=$1 letters=$2
	local line
	while IFS= read -r line; do
		[[ $line =~ ^\ {1,6}(-([a-zA-Z]),\ )?--([a-z][a-z0-9-]*)(\ [A-Z])? ]] || continue
		options[${BASH_REMATCH[3]}]=${BASH_REMATCH[4]:+1}
		[ -z "${BASH_REMATCH[2]}" ] || letters[${BASH_REMATCH[2]}]=${BASH_REMATCH[3]}
	done
}

config_take() {
	local command=$1 name files=()
	local -A ours=() theirs=() ours_letters=() theirs_letters=() given=()
	shift
	config_options ours ours_letters < <(usage)
	while [ $# -gt 0 ]; do
		case $1 in
		--*)
			name=${1#--}
			given[${name%%=*}]=yes
			[[ $1 != --config=* ]] || files+=("${1#*=}")
			if [[ $1 != *=* ]] && [ -n "${ours[$name]:-}" ] && [ $# -ge 2 ]; then
				shift
				[ "$name" != config ] || files+=("$1")
			fi
			;;
		-[a-zA-Z]*)
			name=${ours_letters[${1:1:1}]:-}
			[ -z "$name" ] || given[$name]=yes
			[ -z "$name" ] || [ -z "${ours[$name]}" ] || [ ${#1} -gt 2 ] || [ $# -lt 2 ] || shift
			;;
		*) [ -z "$command" ] || break ;;     # what follows is COMMAND's
		esac
		shift
	done
	[ ${#files[@]} -gt 0 ] || return 0
	[ -z "$command" ] || config_options theirs theirs_letters < <("$command" --help-all)
	for name in config help help-all version list example; do unset "ours[$name]" "theirs[$name]"; done
	for name in "${files[@]}"; do config_read "$name"; done
}

config_read() {
	local file=$1 n=0 line name value where message
	[ -r "$file" ] && [ ! -d "$file" ] || die "--config: cannot read '$file'$([ ! -d "$file" ] || echo ': it is a directory')" 1
	while IFS= read -r line || [ -n "$line" ]; do
		n=$((n + 1)) where="$file:$((n))"
		read -r line <<< "${line%$'\r'}"     # without blanks around it
		line=${line%%[[:blank:]]#*}
		[[ $line != '#'* ]] || line=
		read -r name value <<< "$line"
		[ -n "$name" ] || continue
		name=${name#--}
		name=${name//[^[:print:]]/?}
		if [[ -v "ours[$name]" ]]; then
			config_check "$where" "$name" "$value" "${ours[$name]}"
			[ -z "${given[$name]:-}" ] || continue
			config_ours+=("--$name" ${value:+"$value"})
			config_at[$name]=$where
		elif [[ -v "theirs[$name]" ]]; then
			config_check "$where" "$name" "$value" "${theirs[$name]}"
			message=$("$command" "--$name" ${value:+"$value"} --help 2>&1 > /dev/null) || die "$where: ${message#*: error: }"
			config_theirs+=("--$name" ${value:+"$value"})
		else
			die "$where: there is no option '$name'$(meant "$name" "${!ours[@]}" "${!theirs[@]}")"
		fi
	done < "$file"
}

# config_check WHERE NAME VALUE TAKES: is there a value where there is to be one?
config_check() {
	if [ -n "$4" ] && [ -z "$3" ]; then
		die "$1: '$2' has no value"
	elif [ -z "$4" ] && [ -n "$3" ]; then
		die "$1: '$2' takes no value"
	fi
}

config_told() {
	local name=
	[[ ! $1 =~ ^--([a-z-]+): ]] || name=${BASH_REMATCH[1]}
	echo "${name:+${config_at[$name]:+${config_at[$name]}: }}$1"
}
