#!/bin/sh
# DROP: bans a source address, or a whole network, from this node and its pods.
#
#   sh ban.sh add ADDRESS
#   sh ban.sh remove ADDRESS
#   sh ban.sh list
#
# For example: sh ban.sh add 172.18.0.254 (the client), or: sh ban.sh add 10.244.1.0/24
#
# Where: table filter, which is for letting through or not, on top of two chains. INPUT sees what is
# for the node itself, FORWARD what it passes on. Many a ban forgets FORWARD: a request to a
# NodePort has got a pod as its destination in the nat table before, so it never comes to INPUT. On
# top, for kube-proxy's rules further down accept some packets, and an accepted packet meets no
# later rule.
#
# See it: curl -m 2 http://172.18.0.3:32054/ from the banned address times out; DROP gives no
# answer. The counter grows by more than one for one curl: the kernel sends an unanswered SYN again.
# Open connections stall as well. Undo: remove ADDRESS, as it was added. A connection that only
# stalled goes on.

. "$(dirname "$0")/common.sh"

case "${1-} $#" in
  'add 2')
    add filter -I INPUT -s "$2" -j DROP
    add filter -I FORWARD -s "$2" -j DROP
    ;;
  'remove 2')
    address=$2
    for chain in INPUT FORWARD; do
      set -- "$chain" -m comment --comment "$tag" -s "$address" -j DROP
      while run iptables -t filter -C "$@" 2>/dev/null; do run iptables -t filter -D "$@"; done
    done
    ;;
  'list 1') ;;
  *) usage ;;
esac
show filter INPUT FORWARD
