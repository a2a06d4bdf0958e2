# Completion of hitchtrace for bash.

# options:begin
_hitchtrace_run_flags='-o --output --dir --level --time --keep --keep-around --max-file --start-frame --paused --no-paused --outlier-us --large-block-kib --buffer --window-ms --hitch-ms --hitch-mad --target --log --children --no-children --stack-depth --faults --sample-code --no-sample-code --verify-stacks --no-verify-stacks --hook-dlsym --no-hook-dlsym --hook-present --no-hook-present --hook-mmap --no-hook-mmap --hook-sleep --no-hook-sleep --keep-deepbind --no-keep-deepbind --verbose --no-verbose --disable --no-disable'
_hitchtrace_run_values() {
  case $1 in
    -o|--output) COMPREPLY=($(compgen -f -- "$2")) ;;
    --dir) COMPREPLY=($(compgen -d -- "$2")) ;;
    --level) COMPREPLY=($(compgen -W 'count time trace' -- "$2")) ;;
    --time) COMPREPLY=($(compgen -W 'none alloc all' -- "$2")) ;;
    --keep) COMPREPLY=($(compgen -W 'frames all hitches' -- "$2")) ;;
    --keep-around) : ;;
    --max-file) : ;;
    --start-frame) : ;;
    --outlier-us) : ;;
    --large-block-kib) : ;;
    --buffer) : ;;
    --window-ms) : ;;
    --hitch-ms) : ;;
    --hitch-mad) : ;;
    --target) : ;;
    --log) COMPREPLY=($(compgen -f -- "$2")) ;;
    --stack-depth) : ;;
    --faults) COMPREPLY=($(compgen -W 'auto perf pagemap count none' -- "$2")) ;;
    *) return 1 ;;
  esac
}
# options:end

_hitchtrace_traces() {
  local names
  compopt -o filenames 2>/dev/null
  mapfile -t names < <(compgen -d -- "$1"; compgen -f -X '!*.hitch' -- "$1")
  COMPREPLY=("${names[@]}")
}

# What stands behind run's options is a command of its own; prints where it begins, or nothing.
_hitchtrace_game_at() {
  local i=2
  while [ "$i" -lt "$COMP_CWORD" ]; do
    case ${COMP_WORDS[i]} in
      --) echo $((i + 1)); return ;;
      -*)
        if [ "${COMP_WORDS[i + 1]-}" = '=' ]; then
          i=$((i + 2))
        elif _hitchtrace_run_values "${COMP_WORDS[i]}" ''; then
          i=$((i + 1))
        fi ;;
      *) echo "$i"; return ;;
    esac
    i=$((i + 1))
  done
}

_hitchtrace_run() {
  local current=$1 previous=$2 game
  game=$(_hitchtrace_game_at)
  COMPREPLY=()
  if [ -n "$game" ]; then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$game"
    elif [ "$COMP_CWORD" -eq "$game" ]; then
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
    else
      compopt -o default 2>/dev/null
    fi
    return
  fi
  _hitchtrace_run_values "$previous" "$current" && return
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$_hitchtrace_run_flags --attach-anyway --help --" -- "$current") ;;
    *) compopt -o filenames 2>/dev/null
       mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
  esac
}

_hitchtrace() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} flags=
  COMPREPLY=()
  # "--level=tr" arrives as three words.
  if [ "$current" = '=' ]; then
    current=
  elif [ "$previous" = '=' ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'run report dump recover version --help --version' -- "$current")
    return
  fi
  case ${COMP_WORDS[1]} in
    run)
      _hitchtrace_run "$current" "$previous"
      return ;;
    report)
      case $previous in
        --color|--colour)
          mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
          return ;;
        --symbols)
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -f -- "$current")
          return ;;
        --group)
          mapfile -t COMPREPLY < <(compgen -W 'entry function file module caller stack' -- "$current")
          return ;;
        --budget|--hitch-ms|--hitch-mad|--top|--skip|--width) return ;;
      esac
      flags='--json --summary --budget --hitch-ms --hitch-mad --top --group --skip --symbols --no-lifetimes --debuginfod --color --width --help' ;;
    dump) flags='--json --events --help' ;;
    recover)
      case $previous in
        -o|--output)
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -f -- "$current")
          return ;;
      esac
      flags='-o --output --help' ;;
    *) return ;;
  esac
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current") ;;
    *) _hitchtrace_traces "$current" ;;
  esac
}

complete -F _hitchtrace hitchtrace
