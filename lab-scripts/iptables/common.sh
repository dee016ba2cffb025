# Sourced by the scripts beside it; does nothing by itself. Every rule that a script makes carries
# the comment "chainwalk: NAME" with the script's name, and the script removes no other rules than
# those.

set -e
name=$(basename "$0" .sh)
tag="chainwalk: $name"

# The comment at the head of the script.
help() { sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"; }

usage() {
  { echo 'usage:'; help | grep "^  sh $name.sh "; echo "  sh $name.sh --help"; } >&2
  exit 2
}

# run COMMAND…: prints the command as one would type it, then runs it.
run() {
  printf '+'
  for word; do
    case $word in
      *' '* | '') printf ' "%s"' "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  echo
  "$@"
}

# add TABLE -A|-I CHAIN RULE…: appends or inserts the rule, unless -C (check) finds it there.
add() {
  table=$1 place=$2 chain=$3
  shift 3
  set -- "$chain" -m comment --comment "$tag" "$@"
  if run iptables -t "$table" -C "$@" 2>/dev/null; then
    echo '  (is there already)'
  else
    run iptables -t "$table" "$place" "$@"
  fi
}

# remove_all TABLE: deletes every rule with this script's comment from the table, whatever its arguments were.
remove_all() {
  rules=$(iptables -t "$1" -S)
  printf '%s\n' "$rules" | grep -F -e "--comment \"$tag\"" | while read -r _ rule; do
    echo "+ iptables -t $1 -D $rule"
    printf '%s\n' "-D $rule" | xargs iptables -t "$1" # xargs takes the quotes off as a shell would
  done
}

# show TABLE CHAIN…: the rules of this script that stand in the chains now, with their counters.
show() {
  table=$1
  shift
  for chain; do
    echo "+ iptables -t $table -vnL $chain --line-numbers | grep -e pkts -e \"$tag\""
    iptables -t "$table" -vnL "$chain" --line-numbers | grep -F -e pkts -e "/* $tag */"
  done
}

case ${1-} in -h | --help) help && exit ;; esac
